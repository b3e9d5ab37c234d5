// docs/operations.md explains every word of the event and of the report, and no other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidjson/document.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "maintenance/maintenance_limits.h"
#include "maintenance/outcome.h"
#include "maintenance/tick_result.h"
#include "plugin/report.h"

namespace caretaker::plugin {
namespace {

using maintenance::EndedBy;
using maintenance::EventText;
using maintenance::kOutcomeCount;
using maintenance::Outcome;
using maintenance::TickResult;

// A failed tick with a sample: every word that an event can have.
TickResult Everything() {
  TickResult tick;
  tick.tick_number = 1;
  tick.status = absl::UnavailableError("no store");
  tick.stalled_at = "the table tbl/n/t";
  tick.samples.push_back({Outcome::kCorrupt, "tbl/n/t: no JSON"});
  return tick;
}

void AddMembers(const rapidjson::Value& value, std::set<std::string>* names) {
  if (value.IsArray()) {
    for (const rapidjson::Value& element : value.GetArray()) AddMembers(element, names);
  }
  if (!value.IsObject()) return;
  for (const auto& member : value.GetObject()) {
    const std::string name = member.name.GetString();
    // Those of the settings are explained by docs/flags.md.
    if (!absl::StartsWith(name, "maintenance_")) names->insert(name);
    AddMembers(member.value, names);
  }
}

std::set<std::string> NamesOfTheCode() {
  std::set<std::string> names;
  for (const absl::string_view word : absl::StrSplit(EventText(Everything()), ' ')) {
    const std::vector<std::string> parts = absl::StrSplit(word, absl::MaxSplits('=', 1));
    if (parts.size() == 2) names.insert(parts[0]);
  }
  for (size_t i = 0; i < kOutcomeCount; ++i) {
    names.insert(std::string(maintenance::OutcomeName(static_cast<Outcome>(i))));
  }
  for (int i = 0; i <= static_cast<int>(EndedBy::kNothingToDo); ++i) {
    names.insert(std::string(maintenance::EndedByName(static_cast<EndedBy>(i))));
  }
  InstanceStatus status;
  status.backed_off.push_back({"tbl/n/t", Outcome::kCorrupt, "no JSON", 1, 2});
  status.last_ticks = {Everything()};
  status.recent.push_back({"tbl/n/t", Outcome::kCorrupt, 1, 0});
  rapidjson::Document report;
  report.Parse(ReportJson("tbl/", *maintenance::MaintenanceLimits::TryNew({}), status, true).c_str());
  EXPECT_FALSE(report.HasParseError());
  AddMembers(report, &names);
  return names;
}

// What stands in back quotes in the first cell of a row of a table.
std::set<std::string> NamesOfTheRows(const std::string& page) {
  std::set<std::string> names;
  for (const absl::string_view line : absl::StrSplit(page, '\n')) {
    if (!absl::StartsWith(line, "| `")) continue;
    const std::vector<std::string> cells = absl::StrSplit(line, '|');
    const std::vector<std::string> quoted = absl::StrSplit(cells[1], '`');
    for (size_t i = 1; i < quoted.size(); i += 2) names.insert(quoted[i]);
  }
  return names;
}

TEST(OperationsPageTest, ExplainsEveryWordOfEventAndReport) {
  std::ifstream file(std::getenv("OPERATIONS_PAGE"));
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  const std::set<std::string> names = NamesOfTheCode();
  EXPECT_GT(names.size(), 40u);
  for (const std::string& name : names) {
    EXPECT_TRUE(absl::StrContains(page, absl::StrCat("`", name, "`"))) << name << ": is not explained";
  }
  for (const std::string& name : NamesOfTheRows(page)) {
    EXPECT_EQ(names.count(name), 1u) << name << ": is in no event and no report";
  }
}

}  // namespace
}  // namespace caretaker::plugin
