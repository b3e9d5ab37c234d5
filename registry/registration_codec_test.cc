#include "registry/registration_codec.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "registry/metastore.h"

namespace caretaker::registry {
namespace {

// A registration as the origin writes it.
constexpr char kOrigin[] =
    R"({"location":"tables/orders","engine":"lance","current_version":41,"incarnation_id":"01J9ZB","schema_ipc":[255,0,16]})";

class RegistrationCodecTest : public ::testing::Test {
 protected:
  absl::Status Decode(absl::string_view value) {
    value_.Assign(value);
    return codec_.Decode(value_, &registration_);
  }

  std::string Publish(uint64_t version) {
    std::string encoded;
    const absl::Status status = codec_.EncodeVersion(value_.view(), registration_, version, &encoded);
    return status.ok() ? encoded : std::string(status.message());
  }

  void ExpectCorrupt(const std::string& value) {
    EXPECT_EQ(Decode(value).code(), absl::StatusCode::kDataLoss) << Decode(value) << " for " << value.substr(0, 200);
  }
  void ExpectDecodes(const std::string& value) {
    EXPECT_TRUE(Decode(value).ok()) << Decode(value) << " for " << value.substr(0, 200);
  }

  JsonRegistrationCodec codec_;
  PaddedValue value_;
  TableRegistration registration_;
};

// The three scalars that every registration has, with `extra` after them.
std::string WithExtra(const std::string& extra) {
  return absl::StrCat(R"({"location":"l","engine":"e","current_version":7)", extra, "}");
}

TEST_F(RegistrationCodecTest, ReadsWhatTheOriginWrites) {
  ASSERT_TRUE(Decode(kOrigin).ok()) << Decode(kOrigin);
  EXPECT_EQ(registration_.location, "tables/orders");
  EXPECT_EQ(registration_.engine, "lance");
  EXPECT_EQ(registration_.current_version, 41u);
  ASSERT_TRUE(registration_.incarnation_id.has_value());
  EXPECT_EQ(*registration_.incarnation_id, "01J9ZB");
}

TEST_F(RegistrationCodecTest, OptionalFieldsMayBeAbsent) {
  ASSERT_TRUE(Decode(WithExtra("")).ok());
  EXPECT_FALSE(registration_.incarnation_id.has_value());
  ASSERT_TRUE(Decode(WithExtra(R"(,"incarnation_id":null)")).ok());
  EXPECT_FALSE(registration_.incarnation_id.has_value());
  ASSERT_TRUE(Decode(WithExtra(R"(,"incarnation_id":"")")).ok());
  EXPECT_EQ(registration_.incarnation_id.value_or("absent"), "");
}

TEST_F(RegistrationCodecTest, PublishingChangesOnlyTheDigits) {
  const std::string spaced =
      " {\n \"schema_ipc\" : [1, 2 ,3],\t\"x\":{\"current_version\":1},\"current_version\"  :\r\n 99 ,\n"
      "\"engine\":\"\\u0065\", \"location\":\"a\\/b\\n\" } \n";
  ASSERT_TRUE(Decode(spaced).ok()) << Decode(spaced);
  EXPECT_EQ(registration_.engine, "e");
  EXPECT_EQ(registration_.location, "a/b\n");
  EXPECT_EQ(Publish(100), absl::StrReplaceAll(spaced, {{" 99 ", " 100 "}}));
  EXPECT_EQ(Publish(7), absl::StrReplaceAll(spaced, {{" 99 ", " 7 "}}));
}

TEST_F(RegistrationCodecTest, EveryU64SurvivesARoundTrip) {
  for (const std::string digits : {"0", "1", "9", "10", "4294967296", "9223372036854775807", "9223372036854775808",
                                   "9999999999999999999", "18446744073709551615"}) {
    ASSERT_TRUE(Decode(absl::StrReplaceAll(kOrigin, {{"41", digits}})).ok()) << digits;
    EXPECT_EQ(absl::StrCat(registration_.current_version), digits);
    EXPECT_EQ(Publish(registration_.current_version), value_.view());
    EXPECT_EQ(Publish(41), kOrigin);
  }
  ASSERT_TRUE(Decode(absl::StrReplaceAll(kOrigin, {{"41", "9"}})).ok());
  EXPECT_EQ(Publish(10), absl::StrReplaceAll(kOrigin, {{"41", "10"}}));
}

TEST_F(RegistrationCodecTest, FieldsMayComeInAnyOrder) {
  const std::vector<std::string> fields = {R"("location":"l")", R"("engine":"e")", R"("current_version":7)",
                                           R"("incarnation_id":"i")", R"("schema_ipc":[1])"};
  std::vector<size_t> order = {0, 1, 2, 3, 4};
  int orders = 0;
  do {
    std::string value = "{";
    for (const size_t i : order) absl::StrAppend(&value, value.size() > 1 ? "," : "", fields[i]);
    value += "}";
    ASSERT_TRUE(Decode(value).ok()) << value;
    EXPECT_EQ(registration_.current_version, 7u);
    EXPECT_EQ(Publish(8), absl::StrReplaceAll(value, {{":7", ":8"}}));
    ++orders;
  } while (std::next_permutation(order.begin(), order.end()));
  EXPECT_EQ(orders, 120);
}

TEST_F(RegistrationCodecTest, NamesAreComparedUnescaped) {
  const std::string escaped = R"({"\u006cocation":"l","en\u0067ine":"e","current\u005fversion":7})";
  ExpectDecodes(escaped);
  EXPECT_EQ(registration_.location, "l");
  ExpectCorrupt(R"({"location":"l","engine":"e","current_version":7,"\u006cocation":"l"})");
  // Escapes that can not be undone belong to a name that is none of ours.
  ExpectDecodes(WithExtra(R"(,"\q":1,"\ud800":2)"));
}

TEST_F(RegistrationCodecTest, WhatIsSkippedIsNotJudged) {
  for (const std::string extra : {R"(,"n":123456789012345678901234567890)",
                                  R"(,"n":1e999999)",
                                  R"(,"n":-00.1.2)",
                                  R"(,"n":nonsense)",
                                  R"(,"n":tru)",
                                  R"(,"s":"\q\ud800")",
                                  R"(,"a":[1})",
                                  R"(,"a":{"b":[}})",
                                  R"(,"a":{"location":1,"location":2})",
                                  R"(,"schema_ipc":null)",
                                  R"(,"schema_ipc":"text")",
                                  R"(,"schema_ipc":[300,-1,"x"])",
                                  R"(,"x":1,"x":2)",
                                  R"(,"":0)",
                                  R"(,"s":"}")",
                                  R"(,"s":"\\")",
                                  R"(,"s":"\"}")",
                                  R"(,"a":[])",
                                  R"(,"a":{})",
                                  R"(,"s":"a:b")"}) {
    ExpectDecodes(WithExtra(extra));
    EXPECT_EQ(Publish(8), absl::StrReplaceAll(value_.view(), {{"version\":7", "version\":8"}}));
  }
  ExpectDecodes(WithExtra(absl::StrCat(R"(,"deep":)", std::string(5000, '['), std::string(5000, ']'))));
}

TEST_F(RegistrationCodecTest, RawControlCharactersMatterOnlyInWhatWeRead) {
  ExpectDecodes(WithExtra(",\"note\":\"two\nlines\x01\""));
  EXPECT_EQ(registration_.current_version, 7u);
  EXPECT_EQ(Publish(8), absl::StrReplaceAll(value_.view(), {{":7", ":8"}}));
  ExpectDecodes(WithExtra(",\"loc\x01tion\":\"x\",\"loc\ntion\":1"));
  ExpectCorrupt("{\"location\":\"a\nb\",\"engine\":\"e\",\"current_version\":7}");
  ExpectCorrupt("{\"location\":\"a\",\"engine\":\"e\x1f\",\"current_version\":7}");
  // Beside a control character elsewhere, good fields stay good.
  ExpectDecodes("{\"note\":\"\t\",\"location\":\"a b\",\"engine\":\"e\",\"current_version\": 7}");
  EXPECT_EQ(registration_.location, "a b");
}

TEST_F(RegistrationCodecTest, MissingOrWrongScalarsAreCorrupt) {
  ExpectCorrupt(R"({})");
  ExpectCorrupt(R"({"engine":"e","current_version":7})");
  ExpectCorrupt(R"({"location":"l","current_version":7})");
  ExpectCorrupt(R"({"location":"l","engine":"e"})");
  for (const std::string wrong : {"null", "1", "true", "[\"l\"]", "{}", "\"\\q\"", "\"\\ud800\""}) {
    ExpectCorrupt(absl::StrCat(R"({"location":)", wrong, R"(,"engine":"e","current_version":7})"));
    ExpectCorrupt(absl::StrCat(R"({"location":"l","engine":)", wrong, R"(,"current_version":7})"));
    if (wrong != "null") ExpectCorrupt(WithExtra(absl::StrCat(R"(,"incarnation_id":)", wrong)));
  }
  for (const std::string wrong :
       {"-1", "-0", "1.0", "1e2", "01", "00", "18446744073709551616", "99999999999999999999", "184467440737095516150",
        "\"7\"", "null", "true", "[7]", "7x", "+7", "0x7", "", "7 7"}) {
    ExpectCorrupt(absl::StrCat(R"({"location":"l","engine":"e","current_version":)", wrong, "}"));
  }
  ExpectCorrupt(WithExtra(R"(,"incarnation_id":nullx)"));
}

TEST_F(RegistrationCodecTest, KnownNamesTwiceAreCorrupt) {
  for (const std::string twice :
       {R"(,"location":"l")", R"(,"engine":"e")", R"(,"current_version":7)",
        R"(,"incarnation_id":null,"incarnation_id":null)", R"(,"schema_ipc":[],"schema_ipc":[])"}) {
    ExpectCorrupt(WithExtra(twice));
  }
}

TEST_F(RegistrationCodecTest, TheObjectEndsExactlyAtTheEnd) {
  const std::string good = kOrigin;
  for (size_t size = 0; size < good.size(); ++size) ExpectCorrupt(good.substr(0, size));
  for (const std::string after : {"}", "x", "{}", ",", "\"\"", "]", " 1"}) ExpectCorrupt(good + after);
  ExpectCorrupt(good + std::string(1, '\0'));
  ExpectCorrupt("x" + good);
  ExpectCorrupt("[" + good + "]");
  ExpectCorrupt("\xef\xbb\xbf" + good);
  for (const std::string value :
       {"null", "1", "\"text\"", "[]", " ", "{\"a\"}", "{\"a\":}", "{:1}", "{,}", "{\"a\" 1}"}) {
    ExpectCorrupt(value);
  }
  ExpectCorrupt(WithExtra(","));
  ExpectCorrupt(WithExtra(R"(,"a":)"));
  ExpectCorrupt(WithExtra(R"(,"a":"b":1)"));
  // What can not begin a value, where one is missing.
  for (const std::string rest : {"]}", "}}", ",]}", ":]}"}) {
    ExpectCorrupt(absl::StrCat(R"({"location":"l","engine":"e","current_version":7,"z":)", rest));
    ExpectCorrupt(absl::StrCat(R"({"location":"l","engine":"e","current_version":7,"z":"a":)", rest));
  }
  ExpectCorrupt(WithExtra(R"(,"a":1 "b":2)"));
  ExpectCorrupt(WithExtra(R"(,"a":[1)"));
  ExpectDecodes("\t\r\n " + good + " \n\t\r");
}

TEST_F(RegistrationCodecTest, InvalidUtf8IsCorruptEverywhere) {
  for (const std::string bytes : {"\xff", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xc3"}) {
    ExpectCorrupt(absl::StrCat(R"({"location":")", bytes, R"(","engine":"e","current_version":7})"));
    ExpectCorrupt(WithExtra(absl::StrCat(R"(,"skipped":")", bytes, "\"")));
    ExpectCorrupt(WithExtra(absl::StrCat(",\"skipped\":\"\n", bytes, "\"")));
  }
  // Outside strings, and behind a backslash.
  for (const std::string skipped : {"a\xff", "\xff", "[\xc3(]", "\"\\\xff\"", "{\"x\":[\x80]}"}) {
    ExpectCorrupt(WithExtra(absl::StrCat(",\"skipped\":", skipped)));
  }
  ExpectDecodes(WithExtra(",\"skipped\":\"\xc3\xa4\xf0\x9f\x8c\x8d\""));
}

TEST_F(RegistrationCodecTest, FieldsHaveALimit) {
  const std::string longest(kFieldSizeMax, 'x');
  for (const char* field : {"location", "engine", "incarnation_id"}) {
    std::string value = R"({"location":"L","engine":"E","current_version":7,"incarnation_id":"I"})";
    const std::string letter = absl::StrCat("\"", std::string(1, static_cast<char>(std::toupper(field[0]))), "\"");
    ExpectDecodes(absl::StrReplaceAll(value, {{letter, absl::StrCat("\"", longest, "\"")}}));
    ExpectCorrupt(absl::StrReplaceAll(value, {{letter, absl::StrCat("\"", longest, "x\"")}}));
  }
  // The limit is on what the string says, not on how it is written.
  std::string escaped;
  for (size_t i = 0; i < kFieldSizeMax; ++i) absl::StrAppend(&escaped, "\\u0061");
  ExpectDecodes(absl::StrCat(R"({"location":")", escaped, R"(","engine":"e","current_version":7})"));
}

TEST_F(RegistrationCodecTest, LargestValuesAreReadAndNotOutgrown) {
  const std::string head = R"({"location":"l","engine":"e","current_version":9,"x":")";
  const std::string largest = absl::StrCat(head, std::string(kValueSizeMax - head.size() - 2, 'x'), "\"}");
  ASSERT_EQ(largest.size(), kValueSizeMax);
  ASSERT_TRUE(Decode(largest).ok());
  std::string encoded;
  EXPECT_TRUE(codec_.EncodeVersion(value_.view(), registration_, 8, &encoded).ok());
  EXPECT_EQ(codec_.EncodeVersion(value_.view(), registration_, 10, &encoded).code(), absl::StatusCode::kOutOfRange);
  ASSERT_TRUE(Decode(kOrigin).ok());
  EXPECT_EQ(registration_.location, "tables/orders");
}

TEST_F(RegistrationCodecTest, LongSchemasAreSkippedAndKept) {
  std::string schema;
  for (int i = 0; i < 20000; ++i) absl::StrAppend(&schema, i == 0 ? "" : ",", i % 256);
  for (const bool first : {false, true}) {
    const std::string scalars = R"("location":"l","engine":"e","current_version":9)";
    const std::string array = absl::StrCat(R"("schema_ipc":[)", schema, "]");
    const std::string value =
        first ? absl::StrCat("{", array, ",", scalars, "}") : absl::StrCat("{", scalars, ",", array, "}");
    ASSERT_TRUE(Decode(value).ok());
    EXPECT_EQ(Publish(10), absl::StrReplaceAll(value, {{"version\":9", "version\":10"}}));
  }
}

}  // namespace
}  // namespace caretaker::registry
