#include "testing/host/info_log.h"

#include <fcntl.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>

namespace caretaker::reference_host {
namespace {

// The time as RocksDB's own logger writes it; returns its size.
size_t PrintTime(char* text, size_t size) {
  timeval now;
  gettimeofday(&now, nullptr);
  std::tm local;
  localtime_r(&now.tv_sec, &local);
  const size_t date = std::strftime(text, size, "%Y/%m/%d-%H:%M:%S", &local);
  return date + static_cast<size_t>(std::snprintf(text + date, size - date, ".%06ld ", static_cast<long>(now.tv_usec)));
}

}  // namespace

InfoLog::InfoLog(const std::string& folder, uint64_t size_max) : path_(folder + "/LOG"), size_max_(size_max) {
  Begin();
}

InfoLog::~InfoLog() { End(); }

void InfoLog::Begin() {
  std::rename(path_.c_str(), (path_ + ".old").c_str());
  fd_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  size_ = 0;
}

void InfoLog::End() {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
}

void InfoLog::Logv(const char* format, va_list arguments) {
  std::array<char, kLineSizeMax> line;
  size_t size = PrintTime(line.data(), line.size());
  const int words = std::vsnprintf(line.data() + size, line.size() - size, format, arguments);
  size = std::min(size + static_cast<size_t>(std::max(0, words)), line.size() - 1);
  if (line[size - 1] != '\n') line[size++] = '\n';
  const std::lock_guard<std::mutex> lock(mutex_);
  if (fd_ < 0) return;
  if (size_ > 0 && size_ + size > size_max_) {
    End();
    Begin();
  }
  const ssize_t written = write(fd_, line.data(), size);
  size_ += written > 0 ? static_cast<uint64_t>(written) : 0;
}

}  // namespace caretaker::reference_host
