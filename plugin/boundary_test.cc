#include "plugin/boundary.h"

#include <gtest/gtest.h>

#include <climits>
#include <cstddef>
#include <cstring>
#include <string>

#include "absl/status/status.h"

namespace caretaker::boundary {
namespace {

struct Pair {
  size_t struct_size;
  uint64_t first;
  uint64_t second;
};

TEST(BoundaryTest, AllCanonicalCodesGoBothWays) {
  for (int32_t code = 0; code <= 16; ++code) {
    maintenance_error error = EmptyError();
    WriteError(absl::Status(static_cast<absl::StatusCode>(code), code == 0 ? "" : "why"), &error);
    EXPECT_EQ(error.code, code);
    const absl::Status status = ToStatus(code, &error);
    EXPECT_EQ(ToCode(status), code);
    EXPECT_EQ(status.message(), code == 0 ? "" : "why");
  }
}

TEST(BoundaryTest, OtherCodesAreUnknownAndNamed) {
  for (const int32_t code : {-1, 17, 255, INT32_MIN, INT32_MAX}) {
    const absl::Status status = ToStatus(code, nullptr);
    EXPECT_EQ(status.code(), absl::StatusCode::kUnknown);
    EXPECT_NE(status.message().find(std::to_string(code)), absl::string_view::npos);
  }
}

TEST(BoundaryTest, LongMessagesAreCutBetweenCharacters) {
  constexpr size_t kRoom = MAINTENANCE_ERROR_MESSAGE_SIZE_MAX - 1;
  for (size_t ascii = kRoom - 4; ascii <= kRoom; ++ascii) {
    maintenance_error error = EmptyError();
    WriteError(absl::InternalError(std::string(ascii, 'a') + "\xf0\x9f\x8c\x8d\xf0\x9f\x8c\x8d"), &error);
    EXPECT_EQ(error.message_size, ascii + 4 <= kRoom ? ascii + 4 : ascii);
    EXPECT_EQ(std::strlen(error.message), error.message_size);
  }
}

TEST(BoundaryTest, NothingIsWrittenPastTheOtherSidesSize) {
  maintenance_error error;
  std::memset(&error, 'x', sizeof(error));
  error.struct_size = offsetof(maintenance_error, message) + 4;
  WriteError(absl::InternalError("abcdef"), &error);
  EXPECT_EQ(std::string(error.message, 5), std::string("abc\0x", 5));
  std::memset(&error, 'x', sizeof(error));
  error.struct_size = offsetof(maintenance_error, message);
  WriteError(absl::InternalError("abc"), &error);
  EXPECT_EQ(error.message[0], 'x');
  WriteError(absl::InternalError("abc"), nullptr);
}

TEST(BoundaryTest, AMessageIsNotReadPastItsStruct) {
  maintenance_error error = EmptyError();
  std::memset(error.message, 'm', sizeof(error.message));
  error.message_size = UINT32_MAX;
  EXPECT_EQ(ToStatus(13, &error).message().size(), sizeof(error.message));
  error.struct_size = offsetof(maintenance_error, message) + 2;
  EXPECT_EQ(ToStatus(13, &error).message(), "mm");
}

TEST(BoundaryTest, WhatWasNotWrittenIsNotRead) {
  maintenance_error error = EmptyError();
  std::memset(error.message + 1, 's', sizeof(error.message) - 1);
  error.message_size = 100;  // Said, but no byte of it was written.
  EXPECT_EQ(ToStatus(13, &error).message(), "");
}

TEST(BoundaryTest, StructsOfBothSizesAreRead) {
  auto larger = Sized<Pair>();
  larger.second = 2;
  larger.struct_size = sizeof(larger) + 8;
  Pair read;
  ASSERT_TRUE(ReadStruct(&larger, 16, &read));
  EXPECT_EQ(read.struct_size, sizeof(read));
  EXPECT_EQ(read.second, 2u);
  larger.struct_size = 16;
  ASSERT_TRUE(ReadStruct(&larger, 16, &read));
  EXPECT_EQ(read.second, 0u) << "what the other side does not have is zero";
  larger.struct_size = 15;
  EXPECT_FALSE(ReadStruct(&larger, 16, &read));
  EXPECT_FALSE(ReadStruct(static_cast<Pair*>(nullptr), 16, &read));
}

}  // namespace
}  // namespace caretaker::boundary
