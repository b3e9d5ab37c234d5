#include "plugin/host/whole_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

namespace caretaker::host {
namespace {

using ::testing::HasSubstr;

std::string Plugin() {
  std::ifstream file(std::getenv("MAINTENANCE_PLUGIN"), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string FileOf(const std::string& bytes) {
  const std::string path = ::testing::TempDir() + "/file.so";
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

TEST(WholeFileTest, AWholePluginIsWhole) {
  ASSERT_GT(Plugin().size(), 100'000u);
  EXPECT_EQ(CheckWholeFile(FileOf(Plugin())), absl::OkStatus());
}

TEST(WholeFileTest, EveryCutAfterTheHeaderIsFound) {
  const std::string plugin = Plugin();
  for (size_t size = 64; size < plugin.size(); size += size < 2000 ? 1 : 10'000) {
    const absl::Status status = CheckWholeFile(FileOf(plugin.substr(0, size)));
    ASSERT_EQ(status.code(), absl::StatusCode::kDataLoss) << size;
    EXPECT_THAT(std::string(status.message()), HasSubstr(std::to_string(size) + " bytes seen"));
  }
  EXPECT_FALSE(CheckWholeFile(FileOf(plugin.substr(0, plugin.size() - 1))).ok());
}

// The linker has words for these.
TEST(WholeFileTest, WhatIsNoSharedObjectIsNotJudged) {
  for (const std::string& bytes : {std::string(), std::string("#!/bin/sh\n"), std::string(64, '\0'),
                                   std::string("\x7f"
                                               "ELF") +
                                       std::string(59, '\xff')}) {
    EXPECT_EQ(CheckWholeFile(FileOf(bytes)), absl::OkStatus()) << bytes.size();
  }
  EXPECT_EQ(CheckWholeFile(::testing::TempDir()), absl::OkStatus());
  EXPECT_EQ(CheckWholeFile(::testing::TempDir() + "/none"), absl::OkStatus());
}

}  // namespace
}  // namespace caretaker::host
