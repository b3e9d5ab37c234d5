#include "plugin/event_log.h"

#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <ostream>

// glog's class LogMessage, in the version of Debian 12 and its neighbours: constructor, stream and destructor. Weak:
// null where the process has no glog, or one with other names. (A reference is returned as a pointer is.)
extern "C" {
__attribute__((weak, visibility("default"))) void CaretakerGlogBegin(
    void* message, const char* file, int line, int severity) asm("_ZN6google10LogMessageC1EPKcii");
__attribute__((weak, visibility("default"))) std::ostream* CaretakerGlogStream(void* message) asm(
    "_ZN6google10LogMessage6streamEv");
__attribute__((weak, visibility("default"))) void CaretakerGlogEnd(void* message) asm("_ZN6google10LogMessageD1Ev");
}

namespace caretaker::plugin {
namespace {

// glog's numbers are those of Severity.
static_assert(static_cast<int>(maintenance::Severity::kInfo) == 0);
static_assert(static_cast<int>(maintenance::Severity::kError) == 2);

// A LogMessage has some 120 bytes in glog 0.6; the room is for its neighbours.
struct alignas(std::max_align_t) GlogMessage {
  GlogMessage(const char* file, int line, int severity) { CaretakerGlogBegin(bytes, file, line, severity); }
  GlogMessage(const GlogMessage&) = delete;
  GlogMessage& operator=(const GlogMessage&) = delete;
  ~GlogMessage() { CaretakerGlogEnd(bytes); }

  char bytes[1024];
};

bool HasGlog() {
  return CaretakerGlogBegin != nullptr && CaretakerGlogStream != nullptr && CaretakerGlogEnd != nullptr;
}

void WriteToStderr(maintenance::Severity severity, absl::string_view text) {
  constexpr std::array<absl::string_view, 3> kNames = {"INFO: ", "WARNING: ", "ERROR: "};
  const absl::string_view name = kNames[static_cast<size_t>(severity)];
  constexpr absl::string_view kEnd = "\n";
  std::array<iovec, 3> parts;
  size_t count = 0;
  for (const absl::string_view part : {name, text, kEnd})
    parts[count++] = {const_cast<char*>(part.data()), part.size()};
  // One call, so that the line stays whole beside other threads' lines.
  [[maybe_unused]] const ssize_t written = writev(STDERR_FILENO, parts.data(), static_cast<int>(parts.size()));
}

}  // namespace

void LogEvent(maintenance::Severity severity, absl::string_view text) noexcept {
  try {
    if (HasGlog()) {
      GlogMessage message("maintenance", 0, static_cast<int>(severity));
      CaretakerGlogStream(message.bytes)->write(text.data(), static_cast<std::streamsize>(text.size()));
      return;
    }
  } catch (...) {
    // Told on stderr, then.
  }
  WriteToStderr(severity, text);
}

}  // namespace caretaker::plugin
