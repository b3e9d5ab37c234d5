#include "registry/table_ref.h"

#include <gtest/gtest.h>

#include <string>

#include "registry/metastore.h"

namespace caretaker::registry {
namespace {

TEST(TableRefTest, KeySplitsAtTheFirstSlash) {
  const std::string key = "tbl/sales/2024/orders";
  const auto table = ParseTableKey(key);
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_EQ(table->table_namespace, "sales");
  EXPECT_EQ(table->table_name, "2024/orders");
  EXPECT_EQ(TableKey(*table), key);
  EXPECT_EQ(DropMarkerKey(*table), "drop/sales/2024/orders");
}

TEST(TableRefTest, AnyOtherByteIsAllowed) {
  const std::string key("tbl/\0\xff\"/\n\xc3", 11);
  const auto table = ParseTableKey(key);
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_EQ(TableKey(*table), key);
}

TEST(TableRefTest, KeysThatNameNoTableAreDataLoss) {
  const std::string longest = "tbl/n/" + std::string(kKeySizeMax - 6, 'x');
  EXPECT_TRUE(ParseTableKey(longest).ok());
  for (const std::string& key :
       {std::string(), std::string("tbl/"), std::string("tbl/a"), std::string("tbl/a/"), std::string("tbl//b"),
        std::string("tbl//"), std::string("drop/a/b"), std::string("TBL/a/b"), longest + "x"}) {
    EXPECT_EQ(ParseTableKey(key).status().code(), absl::StatusCode::kDataLoss) << key;
  }
}

TEST(TableRefTest, PrefixIsTheWholeRegistryOrOneNamespace) {
  for (const std::string& prefix :
       {std::string("tbl/"), std::string("tbl/a/"), "tbl/" + std::string(1018, 'n') + "/"}) {
    EXPECT_TRUE(ValidateTablePrefix(prefix).ok()) << prefix;
  }
  for (const std::string& prefix :
       {std::string(), std::string("tbl"), std::string("tbl//"), std::string("tbl/a"), std::string("tbl/a/b"),
        std::string("tbl/a/b/"), std::string("drop/"), "tbl/" + std::string(1019, 'n') + "/"}) {
    EXPECT_EQ(ValidateTablePrefix(prefix).code(), absl::StatusCode::kInvalidArgument) << prefix;
  }
}

TEST(TableRefTest, PrintableEscapesAndCuts) {
  EXPECT_EQ(Printable("plain key"), "plain key");
  EXPECT_EQ(Printable(absl::string_view("a\n\"\\\0\xff", 6)), "a\\x0a\\x22\\x5c\\x00\\xff");
  EXPECT_EQ(Printable("abcdef", 3), "abc...(6 bytes)");
}

}  // namespace
}  // namespace caretaker::registry
