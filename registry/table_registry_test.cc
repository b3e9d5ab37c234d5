#include "registry/table_registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "registry/contract_violation.h"
#include "registry/metastore.h"
#include "registry/registration_codec.h"
#include "registry/table_ref.h"
#include "testing/fakes/in_memory_metastore.h"

namespace caretaker::registry {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Registration(uint64_t version) {
  return absl::StrCat(R"({"location":"l","engine":"e","current_version":)", version, "}");
}

std::vector<std::string> Keys(const TableRegistrationPage& page) {
  std::vector<std::string> keys;
  for (size_t i = 0; i < page.size(); ++i) keys.emplace_back(page.key(i));
  return keys;
}

class TableRegistryTest : public ::testing::Test {
 protected:
  testing::InMemoryMetaStore store_;
  JsonRegistrationCodec codec_;
  TableRegistry registry_{&store_, &codec_, kTablePrefix};
  TableRegistrationPage page_;
  StoredRegistration stored_;
  const MetaStoreCall call_{};
};

TEST_F(TableRegistryTest, ScanTablePagesAreBoundedAndResumable) {
  for (const char* name : {"a", "b", "c", "d", "e"}) store_.Put(absl::StrCat("tbl/n/", name), Registration(1));
  store_.Put("drop/n/a", "");
  store_.Put("tbm/n/a", "");

  ASSERT_TRUE(registry_.ScanTablesPage(call_, "", 2, &page_).ok());
  EXPECT_THAT(Keys(page_), ElementsAre("tbl/n/a", "tbl/n/b"));
  ASSERT_FALSE(page_.end_of_prefix());
  std::string continuation(page_.continuation());

  ASSERT_TRUE(registry_.ScanTablesPage(call_, continuation, 2, &page_).ok());
  EXPECT_THAT(Keys(page_), ElementsAre("tbl/n/c", "tbl/n/d"));
  ASSERT_FALSE(page_.end_of_prefix());
  continuation = std::string(page_.continuation());

  ASSERT_TRUE(registry_.ScanTablesPage(call_, continuation, 2, &page_).ok());
  EXPECT_THAT(Keys(page_), ElementsAre("tbl/n/e"));
  EXPECT_TRUE(page_.end_of_prefix());
}

TEST_F(TableRegistryTest, LimitsOutsideTheRangeAreRefused) {
  EXPECT_EQ(registry_.ScanTablesPage(call_, "", 0, &page_).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(registry_.ScanTablesPage(call_, "", kPageSizeMax + 1, &page_).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(registry_.ScanTablesPage(call_, "", kPageSizeMax, &page_).ok());
}

TEST_F(TableRegistryTest, OneUndecodableEntryIsAnEntryThatSaysSo) {
  const std::string long_key = "tbl/n/" + std::string(kKeySizeMax, 'k');
  store_.Put("tbl/n/a", Registration(1));
  store_.Put("tbl/nameless", "x");
  store_.Put("tbl/n/huge", std::string(kValueSizeMax + 1, 'x'));
  store_.Put(long_key, Registration(1));
  ASSERT_TRUE(registry_.ScanTablesPage(call_, "", 10, &page_).ok());
  ASSERT_EQ(page_.size(), 4u);
  for (size_t i = 0; i < page_.size(); ++i) {
    const bool good = page_.key(i) == "tbl/n/a";
    EXPECT_EQ(page_.table(i).ok(), good) << page_.key(i);
    if (!good) {
      EXPECT_EQ(page_.table(i).status().code(), absl::StatusCode::kDataLoss);
    }
    EXPECT_LE(page_.key(i).size(), kKeySizeMax);
  }
}

TEST_F(TableRegistryTest, FingerprintsFollowTheValue) {
  store_.Put("tbl/n/a", Registration(1));
  store_.Put("tbl/n/b", Registration(1));
  store_.Put("tbl/n/c", Registration(2));
  ASSERT_TRUE(registry_.ScanTablesPage(call_, "", 10, &page_).ok());
  EXPECT_EQ(page_.value_fingerprint(0), page_.value_fingerprint(1));
  EXPECT_NE(page_.value_fingerprint(0), page_.value_fingerprint(2));
  EXPECT_EQ(page_.value_fingerprint(2), Fingerprint(Registration(2)));
  // Stable over processes and releases; the value is what `xxhsum -H3` prints.
  EXPECT_EQ(Fingerprint("caretaker"), 0xa1512353a17c2c78u);
}

TEST_F(TableRegistryTest, GetTellsAbsentFromCorrupt) {
  EXPECT_EQ(registry_.Get(call_, "tbl/n/a", &stored_).code(), absl::StatusCode::kNotFound);
  store_.Put("tbl/n/a", "not json");
  ASSERT_TRUE(registry_.Get(call_, "tbl/n/a", &stored_).ok());
  EXPECT_EQ(stored_.decoded.code(), absl::StatusCode::kDataLoss);
  store_.Put("tbl/n/a", std::string(kValueSizeMax + 1, ' '));
  ASSERT_TRUE(registry_.Get(call_, "tbl/n/a", &stored_).ok());
  EXPECT_THAT(std::string(stored_.decoded.message()), HasSubstr("1048577 bytes, allowed 1048576"));
  store_.Put("tbl/n/a", Registration(5));
  ASSERT_TRUE(registry_.Get(call_, "tbl/n/a", &stored_).ok());
  ASSERT_TRUE(stored_.decoded.ok());
  EXPECT_EQ(stored_.registration.current_version, 5u);
}

TEST_F(TableRegistryTest, PublicationsAreAgainstTheBytesThatWereRead) {
  store_.Put("tbl/n/a", Registration(9));
  ASSERT_TRUE(registry_.Get(call_, "tbl/n/a", &stored_).ok());
  Publication publication = Publication::kUnknown;
  ASSERT_TRUE(registry_.PublishVersion(call_, "tbl/n/a", stored_, 10, &publication).ok());
  EXPECT_EQ(publication, Publication::kPublished);
  EXPECT_EQ(store_.Read("tbl/n/a"), Registration(10));
  // What was read is not what is there any more.
  ASSERT_TRUE(registry_.PublishVersion(call_, "tbl/n/a", stored_, 11, &publication).ok());
  EXPECT_EQ(publication, Publication::kConflict);
  EXPECT_EQ(store_.Read("tbl/n/a"), Registration(10));
}

TEST_F(TableRegistryTest, ReadBackTellsWhatBecameOfAPublication) {
  store_.Put("tbl/n/a", Registration(9));
  ASSERT_TRUE(registry_.Get(call_, "tbl/n/a", &stored_).ok());
  Publication publication = Publication::kUnknown;
  ASSERT_TRUE(registry_.PublishVersion(call_, "tbl/n/a", stored_, 10, &publication).ok());
  const auto confirm = [&] {
    EXPECT_TRUE(registry_.ConfirmPublication(call_, "tbl/n/a", stored_, &publication).ok());
    return publication;
  };
  EXPECT_EQ(confirm(), Publication::kPublished);
  store_.Put("tbl/n/a", Registration(9));
  EXPECT_EQ(confirm(), Publication::kUnknown);
  store_.Put("tbl/n/a", Registration(11));
  EXPECT_EQ(confirm(), Publication::kConflict);
  store_.Erase("tbl/n/a");
  EXPECT_EQ(confirm(), Publication::kConflict);
}

// A metastore that breaks a rule of scan_page.
class ScriptedScan : public testing::InMemoryMetaStore {
 public:
  absl::Status ScanPage(const MetaStoreCall&, absl::string_view, absl::string_view, uint32_t, PageSink& sink) override {
    script(sink);
    return answer;
  }
  std::function<void(PageSink&)> script;
  absl::Status answer;
};

TEST_F(TableRegistryTest, PagesThatBreakARuleAreViolations) {
  struct Case {
    const char* what;
    std::function<void(PageSink&)> script;
  };
  const auto entry = [](PageSink& sink, absl::string_view key) { return sink.Entry(key, "v"); };
  const std::vector<Case> cases = {
      {"neither continued nor ended", [&](PageSink& sink) { entry(sink, "tbl/n/a"); }},
      {"ended twice", [](PageSink& sink) { sink.EndOfPrefix(), sink.EndOfPrefix(); }},
      {"ended twice", [](PageSink& sink) { sink.ContinueAfter("x"), sink.EndOfPrefix(); }},
      {"after the end", [&](PageSink& sink) { sink.EndOfPrefix(), entry(sink, "tbl/n/a"); }},
      {"outside the prefix", [&](PageSink& sink) { entry(sink, "tbm/n/a"), sink.EndOfPrefix(); }},
      {"came twice", [&](PageSink& sink) { entry(sink, "tbl/n/a"), entry(sink, "tbl/n/a"), sink.EndOfPrefix(); }},
      {"a continuation of 0 bytes", [](PageSink& sink) { sink.ContinueAfter(""); }},
      {"a continuation of 4097 bytes", [](PageSink& sink) { sink.ContinueAfter(std::string(4097, 'c')); }},
      {"more entries than asked for, allowed 2",
       [&](PageSink& sink) {
         for (const char* key : {"tbl/n/a", "tbl/n/b", "tbl/n/c"}) entry(sink, key);
         sink.EndOfPrefix();
       }},
  };
  ScriptedScan store;
  TableRegistry registry(&store, &codec_, kTablePrefix);
  for (const Case& one : cases) {
    for (const absl::Status& answer : {absl::OkStatus(), absl::UnavailableError("refused")}) {
      store.script = one.script;
      store.answer = answer;
      const absl::Status scanned = registry.ScanTablesPage(call_, "", 2, &page_);
      // Whether a page that failed was ended is nobody's business.
      if (!answer.ok() && one.what == cases[0].what) {
        EXPECT_EQ(scanned, answer);
        continue;
      }
      EXPECT_TRUE(IsContractViolation(scanned)) << one.what << ": " << scanned;
      EXPECT_THAT(std::string(scanned.message()), HasSubstr(one.what));
      EXPECT_THAT(std::string(scanned.message()), HasSubstr("scan_page: "));
    }
  }
}

// Of a key over the limit only its beginning is kept, which says nothing about being the same.
TEST_F(TableRegistryTest, LongKeysThatBeginAlikeAreNotOneKey) {
  ScriptedScan store;
  TableRegistry registry(&store, &codec_, kTablePrefix);
  store.script = [](PageSink& sink) {
    const std::string begin = "tbl/n/" + std::string(kKeySizeMax, 'x');
    sink.Entry(begin + "1", "v");
    sink.Entry(begin + "2", "v");
    sink.EndOfPrefix();
  };
  const absl::Status scanned = registry.ScanTablesPage(call_, "", 10, &page_);
  ASSERT_TRUE(scanned.ok()) << scanned;
  EXPECT_EQ(page_.size(), 2u);
}

TEST_F(TableRegistryTest, AReadHasOneValue) {
  class TwoValues : public testing::InMemoryMetaStore {
   public:
    absl::Status Get(const MetaStoreCall& call, absl::string_view key, ValueSink& sink) override {
      const absl::Status first = testing::InMemoryMetaStore::Get(call, key, sink);
      (void)sink.Value("another");
      return first;
    }
  } store;
  store.Put("tbl/n/a", Registration(1));
  TableRegistry registry(&store, &codec_, kTablePrefix);
  StoredRegistration stored;
  const absl::Status read = registry.Get(call_, "tbl/n/a", &stored);
  EXPECT_TRUE(IsContractViolation(read)) << read;
  EXPECT_THAT(std::string(read.message()), HasSubstr("the sink was called 2 times, expected 1"));
}

TEST_F(TableRegistryTest, TheLastEntryOfAPageIsSaidToBeTheLast) {
  ScriptedScan store;
  TableRegistry registry(&store, &codec_, kTablePrefix);
  std::vector<PageEntryAnswer> answers;
  store.script = [&](PageSink& sink) {
    for (const char* key : {"tbl/n/a", "tbl/n/b"}) answers.push_back(sink.Entry(key, "v"));
    sink.ContinueAfter(std::string(kContinuationSizeMax, '\0'));
  };
  ASSERT_TRUE(registry.ScanTablesPage(call_, "", 2, &page_).ok());
  EXPECT_THAT(answers, ElementsAre(PageEntryAnswer::kTaken, PageEntryAnswer::kTakenAndStop));
  EXPECT_EQ(page_.continuation(), std::string(kContinuationSizeMax, '\0'));
}

TEST_F(TableRegistryTest, NamespacePrefixesSeeTheirOwnTablesOnly) {
  for (const char* key : {"tbl/a/1", "tbl/b/1", "tbl/b/2", "tbl/bb/1"}) store_.Put(key, Registration(1));
  TableRegistry registry(&store_, &codec_, "tbl/b/");
  ASSERT_TRUE(registry.ScanTablesPage(call_, "", 10, &page_).ok());
  EXPECT_THAT(Keys(page_), ElementsAre("tbl/b/1", "tbl/b/2"));
}

}  // namespace
}  // namespace caretaker::registry
