// The file that keeps the cursor over a restart of the host.
#ifndef CARETAKER_TESTING_HOST_CURSOR_FILE_H_
#define CARETAKER_TESTING_HOST_CURSOR_FILE_H_

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace caretaker::reference_host {

// Thread-safety: one thread at a time, and one process: two would take turns in overwriting each other's.
class CursorFile {
 public:
  // A file that is larger holds no cursor.
  static constexpr size_t kSizeMax = size_t{1} << 20;

  explicit CursorFile(std::string path) : path_(std::move(path)) {}

  // What was written last; empty where there is no file yet. Unavailable: it can not be read. InvalidArgument: it is
  // larger than kSizeMax. Messages name the path.
  absl::StatusOr<std::string> Read() const;

  // Replaces the file whole or not at all, also when the machine stops in between: writes a new one beside it, waits
  // for the disk, and renames it. Unavailable, with the path: the old one is as it was.
  absl::Status Write(const std::string& cursor) const;

 private:
  const std::string path_;
};

}  // namespace caretaker::reference_host

#endif  // CARETAKER_TESTING_HOST_CURSOR_FILE_H_
