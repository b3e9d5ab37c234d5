// The reference host on a real terminal: the bar, and Ctrl-C.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "testing/host/sample.h"

namespace caretaker::reference_host {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string g_host, g_plugin, g_file_fault;

// What takes a bar away.
constexpr char kErase[] = "\r\033[K";
constexpr char kCtrlC[] = "\003";

// The host as a user at a terminal has it.
class Terminal {
 public:
  Terminal(const std::string& db, unsigned short columns, const std::vector<std::string>& flags,
           const std::vector<std::string>& variables = {"TERM=xterm"}) {
    winsize size{};
    size.ws_row = 24;
    size.ws_col = columns;
    child_ = forkpty(&fd_, nullptr, nullptr, &size);
    EXPECT_GE(child_, 0);
    if (child_ != 0) return;
    std::vector<std::string> words = {g_host, "--plugin=" + g_plugin, "--db=" + db};
    words.insert(words.end(), flags.begin(), flags.end());
    std::vector<std::string> environment = variables;
    std::vector<char*> argv, envp;
    for (std::string& word : words) argv.push_back(word.data());
    for (std::string& variable : environment) envp.push_back(variable.data());
    argv.push_back(nullptr);
    envp.push_back(nullptr);
    execve(g_host.c_str(), argv.data(), envp.data());
    _exit(127);
  }
  ~Terminal() { close(fd_); }

  // Reads until `words` were shown; false when the host ends before.
  bool Shows(const std::string& words) {
    while (shown_.find(words, looked_at_) == std::string::npos) {
      if (!ReadSome()) return false;
    }
    looked_at_ = shown_.find(words, looked_at_) + words.size();
    return true;
  }

  void Type(const std::string& keys) {
    EXPECT_EQ(write(fd_, keys.data(), keys.size()), static_cast<ssize_t>(keys.size()));
  }

  // Waits for the host's end, and returns its status as of wait(2).
  int End() {
    while (ReadSome()) {
    }
    int status = 0;
    EXPECT_EQ(waitpid(child_, &status, 0), child_);
    return status;
  }

  const std::string& shown() const { return shown_; }

 private:
  bool ReadSome() {
    std::array<char, 4096> bytes;
    const ssize_t size = read(fd_, bytes.data(), bytes.size());
    if (size > 0) shown_.append(bytes.data(), static_cast<size_t>(size));
    return size > 0;
  }

  int fd_ = -1;
  pid_t child_ = -1;
  std::string shown_;
  size_t looked_at_ = 0;
};

class TerminalTest : public ::testing::Test {
 protected:
  TerminalTest() : db_(::testing::TempDir() + "/" + ::testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::filesystem::remove_all(db_);
    EXPECT_TRUE(MakeSample(db_, {40, 200, nullptr}).ok());
  }

  const std::string db_;
};

TEST_F(TerminalTest, ShowsABarAndTheSummary) {
  Terminal terminal(db_, 100, {"--cycles=1", "--maintenance_table_page_size=20", "--maintenance_interval_secs=1"});
  EXPECT_EQ(terminal.End(), 0);
  EXPECT_THAT(terminal.shown(), AllOf(HasSubstr("cycle 1 ["), HasSubstr("50 %  20 of ~40 tables  "), HasSubstr("/s  "),
                                      HasSubstr(" left"), HasSubstr("] 100 %  40 of 40 tables  ")));
  EXPECT_THAT(terminal.shown(), Not(HasSubstr("tick 1 cycle 1")));
  // The bar is gone when the summary comes.
  EXPECT_THAT(terminal.shown(), HasSubstr(std::string(kErase) + "visits by outcome:\r\n"));
}

TEST_F(TerminalTest, NoBarIsWiderThanTheTerminal) {
  Terminal terminal(db_, 50, {"--cycles=1"});
  EXPECT_EQ(terminal.End(), 0);
  int bars = 0;
  for (const absl::string_view bar : absl::StrSplit(terminal.shown(), kErase)) {
    if (!absl::StartsWith(bar, "cycle ")) continue;
    EXPECT_LT(bar.size(), 50u) << bar;
    ++bars;
  }
  EXPECT_GT(bars, 0);
}

TEST_F(TerminalTest, QuietAndATerminalWithoutACursorHaveNoBar) {
  Terminal quiet(db_, 80, {"--cycles=1", "--quiet"});
  EXPECT_EQ(quiet.End(), 0);
  EXPECT_EQ(quiet.shown().find("visits by outcome:\r\n"), 0u) << quiet.shown();
  Terminal dumb(db_, 80, {"--cycles=1"}, {"TERM=dumb"});
  EXPECT_EQ(dumb.End(), 0);
  EXPECT_THAT(dumb.shown(), AllOf(HasSubstr("tick 1 cycle 1 scanned 40 "), Not(HasSubstr("["))));
}

TEST_F(TerminalTest, TroubleStandsOnALineOfItsOwn) {
  Terminal terminal(db_, 100, {"--cycles=1", "--maintenance_table_page_size=1", "--maintenance_interval_secs=86400"});
  ASSERT_TRUE(terminal.Shows(" 1 of ~40 tables"));
  terminal.Type(kCtrlC);
  EXPECT_EQ(terminal.End(), 0);
  EXPECT_THAT(terminal.shown(), HasSubstr(std::string(kErase) + "maintenance_host: stops at the next table; "));
  EXPECT_THAT(terminal.shown(), HasSubstr(" 0 whole cycles\r\n"));
}

TEST_F(TerminalTest, TheSecondCtrlCEndsAHostThatHangs) {
  // The first table file is the registry's, flushed by the opening; the second one is a compaction's.
  Terminal terminal(db_, 100, {"--cycles=1"},
                    {"TERM=xterm", "FILE_FAULT=hang write .sst 2", "LD_PRELOAD=" + g_file_fault});
  ASSERT_TRUE(terminal.Shows("file_fault: hangs"));
  terminal.Type(kCtrlC);
  ASSERT_TRUE(terminal.Shows("still stopping after 1000 ms: a compaction is in its first flush"));
  terminal.Type(kCtrlC);
  const int status = terminal.End();
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 128 + SIGINT);
  EXPECT_THAT(terminal.shown(), Not(HasSubstr("visits by outcome")));
  // What it leaves is good.
  Terminal next(db_, 100, {"--cycles=1"});
  EXPECT_EQ(next.End(), 0);
  EXPECT_THAT(next.shown(), HasSubstr(" 1 whole cycles\r\n"));
}

}  // namespace
}  // namespace caretaker::reference_host

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  if (argc != 4) {
    std::fprintf(stderr, "terminal_test: %d arguments, 3 expected; give HOST PLUGIN FILE_FAULT\n", argc - 1);
    return 2;
  }
  using namespace caretaker::reference_host;
  g_host = std::filesystem::absolute(argv[1]);
  g_plugin = std::filesystem::absolute(argv[2]);
  g_file_fault = std::filesystem::absolute(argv[3]);
  return RUN_ALL_TESTS();
}
