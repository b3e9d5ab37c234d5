#include "testing/host/cursor_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "absl/strings/str_cat.h"

namespace caretaker::reference_host {
namespace {

class OpenFile {
 public:
  OpenFile(const std::string& path, int flags) : fd_(open(path.c_str(), flags | O_CLOEXEC, 0644)) {}
  ~OpenFile() {
    if (fd_ >= 0) close(fd_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  int fd() const { return fd_; }

 private:
  const int fd_;
};

absl::Status Failed(const std::string& path, const char* what) {
  return absl::UnavailableError(absl::StrCat("cursor file ", path, ": can not be ", what, ": ", std::strerror(errno)));
}

bool WriteAll(int fd, const std::string& bytes) {
  for (size_t written = 0; written < bytes.size();) {
    const ssize_t more = write(fd, bytes.data() + written, bytes.size() - written);
    if (more < 0 && errno == EINTR) continue;
    if (more <= 0) return false;
    written += static_cast<size_t>(more);
  }
  return true;
}

}  // namespace

absl::StatusOr<std::string> CursorFile::Read() const {
  const OpenFile file(path_, O_RDONLY);
  if (file.fd() < 0 && errno == ENOENT) return std::string();
  struct stat about;
  if (file.fd() < 0 || fstat(file.fd(), &about) != 0) return Failed(path_, "read");
  if (about.st_size > static_cast<off_t>(kSizeMax)) {
    return absl::InvalidArgumentError(absl::StrCat("cursor file ", path_, ": holds no cursor, ", about.st_size,
                                                   " bytes seen, allowed ", kSizeMax, "; give another path"));
  }
  std::string cursor(static_cast<size_t>(about.st_size), '\0');
  for (size_t done = 0; done < cursor.size();) {
    const ssize_t more = read(file.fd(), cursor.data() + done, cursor.size() - done);
    if (more < 0 && errno == EINTR) continue;
    if (more < 0) return Failed(path_, "read");
    if (more == 0) cursor.resize(done);
    done += static_cast<size_t>(more);
  }
  return cursor;
}

absl::Status CursorFile::Write(const std::string& cursor) const {
  const std::string temporary = path_ + ".new";
  {
    const OpenFile file(temporary, O_WRONLY | O_CREAT | O_TRUNC);
    if (file.fd() < 0 || !WriteAll(file.fd(), cursor) || fsync(file.fd()) != 0) {
      absl::Status failed = Failed(path_, "written");
      unlink(temporary.c_str());
      return failed;
    }
  }
  if (std::rename(temporary.c_str(), path_.c_str()) != 0) {
    absl::Status failed = Failed(path_, "written");
    unlink(temporary.c_str());
    return failed;
  }
  // The rename itself, too.
  const std::string folder = std::filesystem::path(path_).parent_path();
  const OpenFile directory(folder.empty() ? "." : folder, O_RDONLY | O_DIRECTORY);
  return directory.fd() >= 0 && fsync(directory.fd()) == 0 ? absl::OkStatus() : Failed(path_, "written");
}

}  // namespace caretaker::reference_host
