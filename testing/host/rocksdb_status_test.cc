#include "testing/host/rocksdb_status.h"

#include <gtest/gtest.h>

namespace caretaker::reference_host {
namespace {

absl::StatusCode Code(const rocksdb::Status& status) { return FromRocksDb(status, "file 7").code(); }

TEST(RocksDbStatusTest, TroubleOfTheMachineIsNotTheTables) {
  EXPECT_EQ(Code(rocksdb::Status::IOError("read")), absl::StatusCode::kUnavailable);
  EXPECT_EQ(Code(rocksdb::Status::Busy()), absl::StatusCode::kUnavailable);
  EXPECT_EQ(Code(rocksdb::Status::ShutdownInProgress()), absl::StatusCode::kUnavailable);
  EXPECT_EQ(Code(rocksdb::Status::Incomplete()), absl::StatusCode::kUnavailable);
}

TEST(RocksDbStatusTest, NoSpaceAndNoMemoryAreExhaustion) {
  EXPECT_EQ(Code(rocksdb::Status::NoSpace()), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(Code(rocksdb::Status::MemoryLimit()), absl::StatusCode::kResourceExhausted);
}

TEST(RocksDbStatusTest, DamageAndMisuseAreToldApart) {
  EXPECT_EQ(Code(rocksdb::Status::OK()), absl::StatusCode::kOk);
  EXPECT_EQ(Code(rocksdb::Status::Corruption("block")), absl::StatusCode::kDataLoss);
  EXPECT_EQ(Code(rocksdb::Status::InvalidArgument("range")), absl::StatusCode::kInternal);
}

TEST(RocksDbStatusTest, MessagesNameTheSubjectInOnePrintableLine) {
  EXPECT_EQ(FromRocksDb(rocksdb::Status::IOError("bad\nfile"), "file 7").message(), "file 7: IO error: bad\\x0afile");
}

}  // namespace
}  // namespace caretaker::reference_host
