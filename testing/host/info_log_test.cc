#include "testing/host/info_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace caretaker::reference_host {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

class InfoLogTest : public ::testing::Test {
 protected:
  InfoLogTest() : folder_(::testing::TempDir() + ::testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::filesystem::create_directory(folder_);
  }

  std::string Text(const std::string& name) const {
    std::ifstream file(folder_ + "/" + name);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  const std::string folder_;
};

TEST_F(InfoLogTest, EachMessageIsALine) {
  InfoLog log(folder_);
  rocksdb::Info(&log, "first %d", 1);
  rocksdb::Error(&log, "second\n");
  EXPECT_THAT(Text("LOG"), HasSubstr(" first 1\n"));
  EXPECT_THAT(Text("LOG"), EndsWith("second\n"));
}

TEST_F(InfoLogTest, OneOlderLogIsKept) {
  for (const char* const name : {"a", "b", "c"}) {
    InfoLog log(folder_);
    rocksdb::Info(&log, "%s", name);
  }
  EXPECT_THAT(Text("LOG"), EndsWith(" c\n"));
  EXPECT_THAT(Text("LOG.old"), EndsWith(" b\n"));
}

TEST_F(InfoLogTest, ItsSizeHasABound) {
  constexpr uint64_t kSizeMax = 1000;
  InfoLog log(folder_, kSizeMax);
  for (int i = 0; i < 100; ++i) {
    rocksdb::Info(&log, "message %d", i);
    EXPECT_LE(std::filesystem::file_size(folder_ + "/LOG"), kSizeMax);
  }
  EXPECT_THAT(Text("LOG"), EndsWith(" message 99\n"));
  EXPECT_LE(Text("LOG.old").size(), kSizeMax);
  EXPECT_GT(Text("LOG.old").size(), kSizeMax - 50);
}

TEST_F(InfoLogTest, ALongMessageIsCut) {
  InfoLog log(folder_);
  const std::string longest(2 * InfoLog::kLineSizeMax, 'x');
  rocksdb::Info(&log, "%s", longest.c_str());
  rocksdb::Info(&log, "next");
  EXPECT_THAT(Text("LOG"), HasSubstr("xx\n"));
  EXPECT_THAT(Text("LOG"), EndsWith(" next\n"));
  EXPECT_LT(Text("LOG").size(), InfoLog::kLineSizeMax + 50);
}

TEST_F(InfoLogTest, WhereItCanNotWriteItDropsLines) {
  InfoLog log(folder_ + "/none");
  rocksdb::Info(&log, "dropped");
}

}  // namespace
}  // namespace caretaker::reference_host
