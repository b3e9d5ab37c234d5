// RocksDB's own log, the file LOG in the database's folder.
//
// RocksDB has a logger, and Debian builds it with an assertion that ends the process when the disk is full; it keeps a
// thousand old files of any size, too. This one drops a line that it can not write, and has a bound.
//
// Thread-safety: any thread.
#ifndef CARETAKER_TESTING_HOST_INFO_LOG_H_
#define CARETAKER_TESTING_HOST_INFO_LOG_H_

#include <cstdarg>
#include <cstdint>
#include <mutex>
#include <string>

#include "rocksdb/env.h"

namespace caretaker::reference_host {

class InfoLog : public rocksdb::Logger {
 public:
  // A log that is longer becomes the old one. Two files are kept, so twice this is what they take.
  static constexpr uint64_t kSizeMax = uint64_t{16} << 20;
  // A line is cut after so many bytes.
  static constexpr size_t kLineSizeMax = 8192;

  // Begins `folder`/LOG; one that is there becomes LOG.old, in place of the one before. Where that can not be, lines
  // are dropped.
  explicit InfoLog(const std::string& folder, uint64_t size_max = kSizeMax);
  ~InfoLog() override;

  void Logv(const char* format, va_list arguments) override;
  using rocksdb::Logger::Logv;

 private:
  void Begin();
  void End();

  const std::string path_;
  const uint64_t size_max_;
  std::mutex mutex_;
  int fd_ = -1;        // Guarded by mutex_; -1: lines are dropped.
  uint64_t size_ = 0;  // Guarded by mutex_.
};

}  // namespace caretaker::reference_host

#endif  // CARETAKER_TESTING_HOST_INFO_LOG_H_
