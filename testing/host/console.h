// What the host says: lines on stdout, trouble on stderr, and on a terminal a bar that is the last line of it.
//
// Thread-safety: any thread.
#ifndef CARETAKER_TESTING_HOST_CONSOLE_H_
#define CARETAKER_TESTING_HOST_CONSOLE_H_

#include <chrono>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace caretaker::reference_host {

class Console {
 public:
  enum class Style {
    kLines,  // One line per tick.
    kBar,    // One bar for the cycle instead.
    kQuiet,  // Neither.
  };

  // The style for this process: quiet where that is wanted, a bar where stdout is a terminal that can move its cursor.
  static Style StyleFor(bool quiet);

  explicit Console(Style style);
  // Leaves no bar behind.
  ~Console();
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;

  Style style() const { return style_; }

  // A result, on stdout.
  void Print(absl::string_view text);
  // What goes on meanwhile, on stdout, unless quiet.
  void Note(absl::string_view line);
  // Trouble, on stderr: "maintenance_host: WORDS".
  void Complain(absl::string_view words);

  // Draws the bar that `text` makes for the terminal's width, in place of the one before. Nothing without a bar; and
  // unless `now`, nothing when the last one is younger than kBarAge.
  void DrawBar(const std::function<std::string(size_t columns)>& text, bool now);
  // Takes the bar away.
  void EndBar();

  // Unavailable: not all that was printed could be written.
  absl::Status Flush();

  static constexpr std::chrono::milliseconds kBarAge{100};

 private:
  void Erase();
  void Redraw();

  const Style style_;
  std::mutex mutex_;
  // Guarded by mutex_.
  std::string bar_;
  std::chrono::steady_clock::time_point drawn_;
};

}  // namespace caretaker::reference_host

#endif  // CARETAKER_TESTING_HOST_CONSOLE_H_
