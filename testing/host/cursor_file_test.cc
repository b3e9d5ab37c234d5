#include "testing/host/cursor_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace caretaker::reference_host {
namespace {

using ::testing::HasSubstr;

class CursorFileTest : public ::testing::Test {
 protected:
  CursorFileTest()
      : folder_(::testing::TempDir() + "/" + ::testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::filesystem::create_directory(folder_);
  }

  const std::string folder_;
};

TEST_F(CursorFileTest, WhatIsWrittenIsRead) {
  const CursorFile file(folder_ + "/cursor");
  EXPECT_EQ(*file.Read(), "") << "there is none yet";
  for (const std::string& cursor :
       {std::string("first"), std::string("\0\xff\n", 3), std::string(200'000, 'c'), std::string()}) {
    ASSERT_TRUE(file.Write(cursor).ok());
    EXPECT_EQ(*file.Read(), cursor);
  }
  size_t files = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder_)) ++files;
  EXPECT_EQ(files, 1u) << "nothing is left beside it";
}

TEST_F(CursorFileTest, WhereItCanNotBeWrittenTheOldOneStays) {
  const CursorFile file(folder_ + "/cursor");
  ASSERT_TRUE(file.Write("old").ok());
  std::filesystem::create_directory(folder_ + "/cursor.new");
  const absl::Status written = file.Write("new");
  EXPECT_EQ(written.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(written.message()), HasSubstr("cursor file " + folder_ + "/cursor: can not be written: "));
  EXPECT_EQ(*file.Read(), "old");
  EXPECT_EQ(CursorFile(folder_ + "/none/cursor").Write("x").code(), absl::StatusCode::kUnavailable);
}

TEST_F(CursorFileTest, AFileThatHoldsNoneIsRefused) {
  const std::string path = folder_ + "/cursor";
  std::ofstream(path) << std::string(CursorFile::kSizeMax + 1, 'x');
  EXPECT_EQ(CursorFile(path).Read().status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(CursorFile(folder_).Read().status().code(), absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace caretaker::reference_host
