#include "testing/host/options.h"

#include <gtest/gtest.h>

#include <vector>

namespace caretaker::reference_host {
namespace {

std::string Find(std::vector<const char*> words) {
  words.insert(words.begin(), "maintenance_host");
  return FindPlugin(static_cast<int>(words.size()), words.data());
}

Options Valid() {
  Options options;
  options.plugin = "libcaretaker.so";
  options.db = "db";
  options.seed_rows = 200;
  options.garbage_threshold_percent = 50;
  options.garbage_walk_entries_max = 20000;
  return options;
}

TEST(OptionsTest, ThePluginIsFoundAmongFlagsThatNobodyKnowsYet) {
  EXPECT_EQ(Find({"--maintenance_interval_secs=1", "--plugin=a.so", "--db=x"}), "a.so");
  EXPECT_EQ(Find({"-plugin=a.so"}), "a.so");
  EXPECT_EQ(Find({"--plugin", "a.so"}), "a.so");
  EXPECT_EQ(Find({"--plugin=a.so", "--plugin=b.so"}), "b.so") << "as gflags takes the last one";
}

TEST(OptionsTest, WhatIsNoPluginFlagIsNotTaken) {
  EXPECT_EQ(Find({}), "");
  EXPECT_EQ(Find({"--plugin"}), "");
  EXPECT_EQ(Find({"plugin=a.so"}), "");
  EXPECT_EQ(Find({"---plugin=a.so"}), "");
  EXPECT_EQ(Find({"--plugins=a.so"}), "");
  EXPECT_EQ(Find({"--", "--plugin=a.so"}), "");
}

TEST(OptionsTest, ValuesInTheirRangesAreTaken) {
  EXPECT_TRUE(Validate(Valid()).ok()) << Validate(Valid());
  Options options = Valid();
  options.garbage_threshold_percent = 100;
  options.garbage_walk_entries_max = 1;
  options.seed_tables = 100'000;
  options.seed_rows = 10;
  EXPECT_TRUE(Validate(options).ok()) << Validate(options);
}

struct BadOption {
  const char* message;
  void (*spoil)(Options*);
};

class BadOptionTest : public ::testing::TestWithParam<BadOption> {};

TEST_P(BadOptionTest, IsRefusedWithItsRange) {
  Options options = Valid();
  GetParam().spoil(&options);
  const absl::Status valid = Validate(options);
  EXPECT_EQ(valid.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(std::string(valid.message()), GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    Flags, BadOptionTest,
    ::testing::Values(
        BadOption{"--plugin: is not given, a path is needed; give --plugin=PATH", [](Options* o) { o->plugin = ""; }},
        BadOption{"--db: is not given, a path is needed; give --db=PATH", [](Options* o) { o->db = ""; }},
        BadOption{"--seed_tables: 100001 is out of range, allowed 0..100000; give another value",
                  [](Options* o) { o->seed_tables = 100'001; }},
        BadOption{"--seed_rows: 9 is out of range, allowed 10..100000; give another value",
                  [](Options* o) { o->seed_rows = 9; }},
        BadOption{"--garbage_threshold_percent: 0 is out of range, allowed 1..100; give another value",
                  [](Options* o) { o->garbage_threshold_percent = 0; }},
        BadOption{"--garbage_threshold_percent: 101 is out of range, allowed 1..100; give another value",
                  [](Options* o) { o->garbage_threshold_percent = 101; }},
        BadOption{"--garbage_walk_entries_max: 0 is out of range, allowed 1..100000000; give another value",
                  [](Options* o) { o->garbage_walk_entries_max = 0; }}));

}  // namespace
}  // namespace caretaker::reference_host
