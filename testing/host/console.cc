#include "testing/host/console.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace caretaker::reference_host {
namespace {

constexpr size_t kColumnsWhereUnknown = 80;

size_t Columns() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kColumnsWhereUnknown;
  // The last column is left free: some terminals begin a new line when it is written.
  return size.ws_col - 1u;
}

void Write(std::FILE* file, absl::string_view head, absl::string_view text) {
  std::fprintf(file, "%.*s%.*s\n", static_cast<int>(head.size()), head.data(), static_cast<int>(text.size()),
               text.data());
}

}  // namespace

Console::Style Console::StyleFor(bool quiet) {
  if (quiet) return Style::kQuiet;
  const char* const terminal = std::getenv("TERM");
  const bool has_cursor = terminal != nullptr && *terminal != '\0' && std::strcmp(terminal, "dumb") != 0;
  return isatty(STDOUT_FILENO) != 0 && has_cursor ? Style::kBar : Style::kLines;
}

Console::Console(Style style) : style_(style) {
  // Whoever reads the lines through a pipe gets each as it is printed.
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
}

Console::~Console() { EndBar(); }

void Console::Print(absl::string_view text) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Erase();
  Write(stdout, "", text);
  Redraw();
}

void Console::Note(absl::string_view line) {
  if (style_ != Style::kQuiet) Print(line);
}

void Console::Complain(absl::string_view words) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Erase();
  Write(stderr, "maintenance_host: ", words);
  Redraw();
}

void Console::DrawBar(const std::function<std::string(size_t)>& text, bool now) {
  if (style_ != Style::kBar) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto time = std::chrono::steady_clock::now();
  if (!now && time - drawn_ < kBarAge) return;
  drawn_ = time;
  Erase();
  bar_ = text(Columns());
  Redraw();
}

void Console::EndBar() {
  const std::lock_guard<std::mutex> lock(mutex_);
  Erase();
  bar_.clear();
}

// REQUIRES: mutex_ is held, for both.
void Console::Erase() {
  if (bar_.empty()) return;
  std::fputs("\r\033[K", stdout);
  std::fflush(stdout);
}

void Console::Redraw() {
  if (bar_.empty()) return;
  std::fputs(bar_.c_str(), stdout);
  std::fflush(stdout);
}

absl::Status Console::Flush() {
  const std::lock_guard<std::mutex> lock(mutex_);
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat("stdout: can not be written, so lines are missing",
                                             errno == 0 ? "" : absl::StrCat(": ", std::strerror(errno)),
                                             "; give it a place with room"));
}

}  // namespace caretaker::reference_host
