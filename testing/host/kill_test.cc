// The reference host is killed in the middle of a cycle, and started again.
//
// Moments are file operations, so that each run is killed where its name says: as RocksDB works here, the k-th table to
// be compacted is the k-th table file written and synchronised, then the k-th line of the manifest after those of the
// opening, then the k-th record of the log: its publication.
//
// Checked after the kill, and after the next start: the database opens and its checksums hold; every registration is
// what it was but for a version that went up; every row that was live is there with its value, and no other; as many
// publications are there as the moment allows. The next start completes its cycle.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "registry/registration_codec.h"
#include "rocksdb/db.h"
#include "testing/host/database.h"
#include "testing/host/sample.h"

namespace caretaker::reference_host {
namespace {

constexpr uint64_t kTables = 40;
constexpr uint64_t kTablesWithGarbage = 30;
// What RocksDB 7.8 writes into the manifest of a database of two families while it opens it.
constexpr int kManifestWritesOfOpening = 7;
constexpr int kManifestSyncsOfOpening = 1;

std::string g_host, g_plugin, g_file_fault;

using Contents = std::map<std::string, std::string>;

struct State {
  Contents registrations;
  Contents rows;
};

void Read(const Database& database, rocksdb::ColumnFamilyHandle* family, Contents* contents) {
  const std::unique_ptr<rocksdb::Iterator> it(database.db()->NewIterator(rocksdb::ReadOptions(), family));
  for (it->SeekToFirst(); it->Valid(); it->Next()) (*contents)[it->key().ToString()] = it->value().ToString();
  ASSERT_TRUE(it->status().ok()) << it->status().ToString();
}

void ReadState(const std::string& path, State* state) {
  const auto database = Database::Open(path);
  ASSERT_TRUE(database.ok()) << database.status();
  const rocksdb::Status sound = (*database)->db()->VerifyChecksum();
  ASSERT_TRUE(sound.ok()) << sound.ToString();
  Read(**database, (*database)->registry(), &state->registrations);
  Read(**database, (*database)->data(), &state->rows);
}

uint64_t VersionOf(const std::string& value) {
  registry::JsonRegistrationCodec codec;
  registry::PaddedValue padded;
  padded.Assign(value);
  registry::TableRegistration registration;
  const absl::Status decoded = codec.Decode(padded, &registration);
  EXPECT_TRUE(decoded.ok()) << decoded << ": " << value;
  return registration.current_version;
}

std::string WithVersion(const std::string& value, uint64_t version) {
  registry::JsonRegistrationCodec codec;
  registry::PaddedValue padded;
  padded.Assign(value);
  registry::TableRegistration registration;
  std::string encoded;
  EXPECT_TRUE(codec.Decode(padded, &registration).ok());
  EXPECT_TRUE(codec.EncodeVersion(value, registration, version, &encoded).ok());
  return encoded;
}

// How many versions went up from `before` to `after`, where nothing else may have changed.
uint64_t Published(const State& before, const State& after) {
  EXPECT_EQ(after.rows, before.rows);
  EXPECT_EQ(after.registrations.size(), before.registrations.size());
  uint64_t published = 0;
  for (const auto& [key, value] : before.registrations) {
    const auto now = after.registrations.find(key);
    if (now == after.registrations.end()) {
      ADD_FAILURE() << key << ": is lost";
      continue;
    }
    const uint64_t steps = VersionOf(now->second) - VersionOf(value);
    EXPECT_LE(steps, 1u) << key << ": " << value << " became " << now->second;
    EXPECT_EQ(now->second, WithVersion(value, VersionOf(value) + steps)) << key;
    published += steps;
  }
  return published;
}

// Runs one cycle of the host on `path`, under `fault` unless it is empty. Returns the status of wait(2); what the host
// said is in `output`.
int RunHost(const std::string& path, const std::string& fault, std::string* output) {
  const std::string said = path + ".out";
  std::vector<std::string> words = {g_host, "--plugin=" + g_plugin, "--db=" + path, "--cycles=1"};
  std::vector<std::string> variables = {"PATH=/usr/bin:/bin"};
  if (!fault.empty()) variables.insert(variables.end(), {"FILE_FAULT=" + fault, "LD_PRELOAD=" + g_file_fault});
  std::vector<char*> argv, environment;
  for (std::string& word : words) argv.push_back(word.data());
  for (std::string& variable : variables) environment.push_back(variable.data());
  argv.push_back(nullptr);
  environment.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 1, said.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&files, 1, 2);
  pid_t child = 0;
  const int spawned = posix_spawn(&child, g_host.c_str(), &files, nullptr, argv.data(), environment.data());
  posix_spawn_file_actions_destroy(&files);
  EXPECT_EQ(spawned, 0);
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  std::ifstream file(said);
  output->assign(std::istreambuf_iterator<char>(file), {});
  return status;
}

struct Moment {
  const char* name;
  const char* action;
  const char* operation;
  const char* suffix;
  int offset;                   // Such operations before the first table's.
  uint64_t publication_counts;  // 1: that of the table itself is there.
};

constexpr Moment kMoments[] = {
    // In the engine.
    {"BeforeRowsAreWritten", "kill_before", "write", ".sst", 0, 0},
    {"HalfOfTheRowsWritten", "kill_half", "write", ".sst", 0, 0},
    {"RowsWritten", "kill_after", "sync", ".sst", 0, 0},
    {"BeforeTheCompactionIsInstalled", "kill_before", "write", "MANIFEST", kManifestWritesOfOpening, 0},
    {"TheCompactionHalfInstalled", "kill_half", "write", "MANIFEST", kManifestWritesOfOpening, 0},
    {"TheCompactionInstalled", "kill_after", "sync", "MANIFEST", kManifestSyncsOfOpening, 0},
    // Between engine and publication.
    {"BeforeThePublication", "kill_before", "write", ".log", 0, 0},
    // In the publication. What was written survives the process, also when it was not synchronised.
    {"HalfOfThePublicationWritten", "kill_half", "write", ".log", 0, 0},
    {"ThePublicationWritten", "kill_before", "sync", ".log", 0, 1},
    {"ThePublicationSynchronised", "kill_after", "sync", ".log", 0, 1},
};

// GoogleTest prints it where a case fails.
void PrintTo(const Moment& moment, std::ostream* out) { *out << moment.name; }

class KillTest : public ::testing::TestWithParam<std::tuple<Moment, int>> {
 protected:
  static void SetUpTestSuite() {
    sample_ = ::testing::TempDir() + "/sample";
    std::filesystem::remove_all(sample_);
    ASSERT_TRUE(MakeSample(sample_, {kTables, 200, nullptr}).ok());
    before_ = new State;
    ReadState(sample_, before_);
    ASSERT_EQ(before_->registrations.size(), kTables);
    ASSERT_EQ(before_->rows.size(), 10 * 200 + kTablesWithGarbage * 20);
  }
  static void TearDownTestSuite() { delete before_; }

  static std::string sample_;
  static State* before_;
};

std::string KillTest::sample_;
State* KillTest::before_ = nullptr;

TEST_P(KillTest, TheNextStartFindsASoundDatabaseAndCompletesACycle) {
  const auto& [moment, table] = GetParam();
  const std::string path = sample_ + "_" + moment.name + std::to_string(table);
  std::filesystem::copy(sample_, path, std::filesystem::copy_options::recursive);
  std::string output;
  const int status =
      RunHost(path, absl::StrCat(moment.action, " ", moment.operation, " ", moment.suffix, " ", moment.offset + table),
              &output);
  ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << "the moment was not met: " << output;

  // Looked at in a copy, so that the next start itself finds what the kill left.
  const std::string copy = path + "_copy";
  std::filesystem::copy(path, copy, std::filesystem::copy_options::recursive);
  State killed;
  ASSERT_NO_FATAL_FAILURE(ReadState(copy, &killed));
  EXPECT_EQ(Published(*before_, killed), table - 1 + moment.publication_counts);

  ASSERT_EQ(RunHost(path, "", &output), 0) << output;
  EXPECT_TRUE(absl::StrContains(output, " 1 whole cycles\n")) << output;
  EXPECT_TRUE(absl::StrContains(output, absl::StrCat(" scanned ", kTables, " "))) << output;
  EXPECT_TRUE(absl::StrContains(output, " backlog 0 ended_by page_done ")) << output;
  State after;
  ASSERT_NO_FATAL_FAILURE(ReadState(path, &after));
  Published(killed, after);
  // Nothing is left to do, and every table that was compacted is published but for the one that the kill fell into.
  EXPECT_GE(Published(*before_, after), kTablesWithGarbage - 1);
  ASSERT_EQ(RunHost(path, "", &output), 0) << output;
  EXPECT_TRUE(absl::StrContains(output, absl::StrCat(" unchanged ", kTables, " "))) << output;
  std::filesystem::remove_all(path);
  std::filesystem::remove_all(copy);
}

INSTANTIATE_TEST_SUITE_P(Moments, KillTest,
                         ::testing::Combine(::testing::ValuesIn(kMoments),
                                            ::testing::Values(1, 15, static_cast<int>(kTablesWithGarbage))),
                         [](const ::testing::TestParamInfo<KillTest::ParamType>& test) {
                           return absl::StrCat(std::get<0>(test.param).name, "OfTable", std::get<1>(test.param));
                         });

// The one moment at which nobody has looked at the database yet: the start after a kill is killed as well.
TEST_F(KillTest, AKillWhileStartingAfterAKillLosesNothing) {
  const std::string path = sample_ + "_twice";
  std::filesystem::copy(sample_, path, std::filesystem::copy_options::recursive);
  std::string output;
  for (const std::string fault : {"kill_half write .log 15", "kill_half write MANIFEST 4",
                                  "kill_before sync MANIFEST 1", "kill_half write .sst 1"}) {
    const int status = RunHost(path, fault, &output);
    ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << fault << ": was not met: " << output;
  }
  ASSERT_EQ(RunHost(path, "", &output), 0) << output;
  State after;
  ASSERT_NO_FATAL_FAILURE(ReadState(path, &after));
  EXPECT_GE(Published(*before_, after), kTablesWithGarbage - 1);
}

}  // namespace
}  // namespace caretaker::reference_host

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  if (argc != 4) {
    std::fprintf(stderr, "kill_test: %d arguments, 3 expected; give HOST PLUGIN FILE_FAULT\n", argc - 1);
    return 2;
  }
  using namespace caretaker::reference_host;
  g_host = std::filesystem::absolute(argv[1]);
  g_plugin = std::filesystem::absolute(argv[2]);
  g_file_fault = std::filesystem::absolute(argv[3]);
  return RUN_ALL_TESTS();
}
