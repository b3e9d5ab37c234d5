#include "maintenance/cursor_codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "registry/metastore.h"
#include "registry/table_registration_page.h"

namespace caretaker::maintenance {
namespace {

using ::testing::HasSubstr;

std::string Encode(const CursorState& state) {
  std::string encoded;
  EncodeCursor("tbl/", state, &encoded);
  return encoded;
}

std::string Refusal(absl::string_view encoded, absl::string_view prefix = "tbl/") {
  const auto state = DecodeCursor(prefix, encoded);
  EXPECT_EQ(state.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(state.status().message());
}

TEST(CursorCodecTest, AnyContinuationComesBackByteForByte) {
  for (const std::string& continuation : {std::string(), std::string("tbl/a/b"), std::string("\0\"\xff\xc0\n", 5),
                                          std::string(registry::kContinuationSizeMax, '\xfe')}) {
    const auto state = DecodeCursor("tbl/", Encode({continuation, {1, UINT64_MAX, 0}}));
    ASSERT_TRUE(state.ok()) << state.status();
    EXPECT_EQ(state->continuation, continuation);
    EXPECT_THAT(state->finished, ::testing::ElementsAre(1, UINT64_MAX, 0));
  }
}

TEST(CursorCodecTest, TheLargestCursorIsWithinItsLimit) {
  const std::string largest = Encode({std::string(registry::kContinuationSizeMax, 'c'),
                                      std::vector<uint64_t>(CursorFinishedMax(registry::kPageSizeMax), 7)});
  EXPECT_LE(largest.size(), CursorSizeMax(registry::kPageSizeMax));
  EXPECT_TRUE(DecodeCursor("tbl/", largest).ok());
  EXPECT_THAT(Refusal(Encode({std::string(registry::kContinuationSizeMax + 1, 'c'), {}})), HasSubstr("its parts"));
  EXPECT_THAT(Refusal(Encode({"", std::vector<uint64_t>(CursorFinishedMax(registry::kPageSizeMax) + 1, 7)})),
              HasSubstr("its parts"));
}

TEST(CursorCodecTest, EveryChangedByteIsSeen) {
  const std::string good = Encode({"tbl/a/b", {1, 2}});
  for (size_t i = 0; i < good.size(); ++i) {
    for (const char flip : {'\x01', '\x80'}) {
      std::string bad = good;
      bad[i] = static_cast<char>(bad[i] ^ flip);
      Refusal(bad);
    }
    Refusal(good.substr(0, i));
  }
  Refusal(good + "x");
}

TEST(CursorCodecTest, ForeignCursorsAreRefusedWithAReason) {
  EXPECT_THAT(Refusal(""), HasSubstr("too short, 0 bytes, allowed 32 or more"));
  EXPECT_THAT(Refusal(std::string(64, 'x')), HasSubstr("not one of this plugin's"));
  EXPECT_THAT(Refusal(Encode({"tbl/a/b", {}}), "tbl/a/"), HasSubstr("made for another prefix"));
}

TEST(CursorCodecTest, TheFormatIsFixed) {
  const std::string encoded = Encode({"c", {0x0102030405060708}});
  EXPECT_EQ(encoded.substr(0, 8), "CTKRCUR1");
  EXPECT_EQ(encoded.substr(16), std::string("\x01\0\0\0\x01\0\0\0c\x08\x07\x06\x05\x04\x03\x02\x01", 17) +
                                    encoded.substr(encoded.size() - 8));
}

}  // namespace
}  // namespace caretaker::maintenance
