#include "maintenance/table_sweep.h"

#include <cassert>
#include <new>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "maintenance/tick_budget.h"
#include "registry/contract_violation.h"
#include "registry/table_ref.h"

namespace caretaker::maintenance {

using registry::ContractViolation;
using registry::IsContractViolation;
using registry::Publication;
using registry::TableRef;

namespace {

// Gives a table lock back on every path.
class HeldLock {
 public:
  HeldLock(TableLocks* locks, uint64_t handle) : locks_(locks), handle_(handle) {}
  HeldLock(const HeldLock&) = delete;
  HeldLock& operator=(const HeldLock&) = delete;
  // Reached with the lock only while an exception passes: what unlock has to say then is lost, as memory may be short.
  ~HeldLock() {
    try {
      if (locks_ != nullptr) Release().IgnoreError();
    } catch (...) {
    }
  }

  absl::Status Release() {
    TableLocks* const locks = locks_;
    locks_ = nullptr;
    return locks->Unlock(handle_);
  }

 private:
  TableLocks* locks_;
  const uint64_t handle_;
};

}  // namespace

// Engine answers of "I am in trouble, not the table" that end a tick when they come one after another.
constexpr int kEngineUnavailableMax = 3;

using CandidateNamer = std::function<absl::Status(absl::string_view key)>;

// One tick of a sweep, or one dry run. Functions that return false have ended the tick: ended_by or the status says
// why.
class ActiveTick {
 public:
  ActiveTick(TableSweep* sweep, TickResult* result)
      : sweep_(*sweep), host_(sweep->host_), budget_(host_.clock, &sweep->limits_), result_(*result) {}

  void Perform();
  void DryRun(const CandidateNamer& name);
  // Writes what is known only at the end, whatever happened.
  void Conclude();
  void NoteTimes();

 private:
  Backlog& backlog() { return sweep_.cursor_.backlog(); }

  bool End(EndedBy ended_by) {
    result_.ended_by = ended_by;
    return false;
  }
  bool Fail(absl::Status status) {
    result_.status = std::move(status);
    return End(EndedBy::kUnset);
  }

  bool GoOn();
  bool HasRightToAct();
  bool BudgetLeft();
  registry::MetaStoreCall Call() { return {budget_.MetaStoreCallNs(), fence_token_}; }

  bool ScanPage();
  absl::Status ScanOnce();
  bool ScanPageDry(const registry::TableRegistrationPage** page);
  absl::StatusOr<bool> TakesAnOperation(const registry::TableRegistrationPage& page, size_t index);
  void SweepBacklog();
  bool Visit(size_t index, bool again);
  bool VisitLocked(size_t index, const TableRef& table);
  absl::Status LookForDropMarker(const TableRef& table, bool* dropping);
  bool Operate(size_t index, const TableRef& table);
  bool EngineFailed(size_t index, const absl::Status& status);
  bool Publish(size_t index, uint64_t version);
  bool Finish(size_t index, Outcome outcome, const absl::Status& why = absl::OkStatus());
  void Remember(absl::string_view key, Outcome outcome, const absl::Status& why);
  bool FinishAndFail(size_t index, Outcome outcome, absl::Status violation);
  void AccountForCycle();

  TableSweep& sweep_;
  const SweepHost& host_;
  TickBudget budget_;
  TickResult& result_;
  std::optional<uint64_t> fence_token_;
  int engine_unavailable_ = 0;
  bool continuation_moved_ = false;
  uint64_t fingerprint_ = 0;  // Of the bytes of the candidate at hand that were seen last.
};

void ActiveTick::Perform() {
  result_.tick_number = ++sweep_.ticks_;
  result_.cycle_number = sweep_.cycle().number;
  result_.last_cycle_visited = sweep_.cycle().last_visited;
  result_.backlog_before = backlog().size();
  result_.call_again_ms = sweep_.limits_.interval_ms();
  sweep_.cycles_.TickBegins(host_.clock->NowNs());
  if (!GoOn()) return;
  if (backlog().empty() && !ScanPage()) return;
  if (!backlog().empty()) SweepBacklog();
}

void ActiveTick::Conclude() {
  result_.backlog_after = backlog().size();
  result_.lock_wait_ns = budget_.lock_wait_ns();
  AccountForCycle();
  NoteTimes();
  assert(result_.CountsAddUp());
}

void ActiveTick::NoteTimes() {
  result_.duration_ns = budget_.ElapsedNs();
  sweep_.visits_.Rest(budget_.LastNowNs());
  result_.overrun_ns = budget_.OverrunNs();
}

// The path of a tick, for its candidates alone. What it writes to are buffers that each tick overwrites.
void ActiveTick::DryRun(const CandidateNamer& name) {
  result_.cycle_number = sweep_.cycle().number;
  result_.call_again_ms = sweep_.limits_.interval_ms();
  if (!GoOn()) return;
  const bool scans = backlog().empty();
  const registry::TableRegistrationPage* page = &backlog().page();
  if (scans && !ScanPageDry(&page)) return;
  const auto is_finished = [&](size_t index) {
    return scans ? sweep_.cursor_.IsFinishedByResumed(page->key(index)) : backlog().Next(index) != index;
  };
  bool first = true;
  for (size_t index = 0; index < page->size(); ++index) {
    if (is_finished(index)) continue;
    if (!first && !BudgetLeft()) return;
    first = false;
    if (!GoOn()) return;
    absl::Status named = name(page->key(index));
    if (!named.ok()) {
      Fail(std::move(named));
      return;
    }
    const absl::StatusOr<bool> operation = TakesAnOperation(*page, index);
    if (!operation.ok()) {
      Fail(operation.status());
      return;
    }
    if (*operation) budget_.ChargeOperation();
  }
  End(first ? EndedBy::kNothingToDo : EndedBy::kPageDone);
}

// As ScanPage, with a continuation of its own.
bool ActiveTick::ScanPageDry(const registry::TableRegistrationPage** page) {
  registry::TableRegistrationPage& next = sweep_.next_page_;
  *page = &next;
  std::string continuation(sweep_.cursor_.continuation());
  while (true) {
    ++result_.scan_requests;
    absl::Status scanned =
        sweep_.registry_.ScanTablesPage(Call(), continuation, sweep_.limits_.table_page_size(), &next);
    if (!scanned.ok()) return Fail(std::move(scanned));
    if (!next.empty()) return true;
    if (next.end_of_prefix() || next.continuation() == continuation ||
        result_.scan_requests >= sweep_.limits_.scan_requests_max()) {
      return End(EndedBy::kNothingToDo);
    }
    if (budget_.TimeSpent()) return End(EndedBy::kTime);
    if (!GoOn()) return false;
    continuation.assign(next.continuation().data(), next.continuation().size());
  }
}

// Would the engine be called for this candidate? An error is a contract violation.
absl::StatusOr<bool> ActiveTick::TakesAnOperation(const registry::TableRegistrationPage& page, size_t index) {
  if (sweep_.failures_.WouldPassOver(page.key(index), page.value_fingerprint(index), sweep_.cycle().number))
    return false;
  const absl::StatusOr<TableRef> table = page.table(index);
  if (!table.ok()) return false;
  registry::StoredRegistration& stored = sweep_.stored_;
  const absl::Status read = sweep_.registry_.Get(Call(), page.key(index), &stored);
  if (IsContractViolation(read)) return read;
  if (!read.ok()) return false;
  if (sweep_.limits_.check_drop_markers()) {
    bool dropping = false;
    const absl::Status looked = LookForDropMarker(*table, &dropping);
    if (IsContractViolation(looked)) return looked;
    if (dropping || !looked.ok()) return false;
  }
  if (IsContractViolation(stored.decoded)) return stored.decoded;
  return stored.decoded.ok();
}

bool ActiveTick::GoOn() {
  if (host_.control == nullptr) return true;
  bool cancelled = false;
  const absl::Status asked = host_.control->IsCancelled(&cancelled);
  if (IsContractViolation(asked)) return Fail(asked);
  if (cancelled || !asked.ok()) return End(EndedBy::kCancelled);
  return HasRightToAct();
}

bool ActiveTick::HasRightToAct() {
  if (host_.control == nullptr) return true;
  bool may_act = false;
  fence_token_.reset();
  const absl::Status asked = host_.control->MayAct(&may_act, &fence_token_);
  if (IsContractViolation(asked)) return Fail(asked);
  if (!may_act || !asked.ok()) return End(EndedBy::kFenced);
  return true;
}

bool ActiveTick::BudgetLeft() {
  if (budget_.OperationsSpent()) return End(EndedBy::kOperations);
  if (budget_.TimeSpent()) return End(EndedBy::kTime);
  return true;
}

bool ActiveTick::ScanPage() {
  const Cursor& cursor = sweep_.cursor_;
  while (true) {
    absl::Status scanned = ScanOnce();
    if (!scanned.ok()) return Fail(std::move(scanned));
    result_.scanned = backlog().size();
    if (!backlog().empty()) return true;
    if (cursor.end_of_prefix()) return End(EndedBy::kNothingToDo);
    // Nothing but scanning was done, and there is more: calling again at once costs nothing that the bounds protect. A
    // page whose entries a resumed cursor names was a page all the same.
    if (backlog().end() > 0 || result_.scan_requests >= sweep_.limits_.scan_requests_max()) {
      result_.call_again_ms = 0;
      return End(EndedBy::kNothingToDo);
    }
    if (budget_.TimeSpent()) {
      result_.call_again_ms = 0;
      return End(EndedBy::kTime);
    }
    if (!GoOn()) return false;
  }
}

// One scan request. Moves the cursor only when the page is whole.
absl::Status ActiveTick::ScanOnce() {
  Cursor& cursor = sweep_.cursor_;
  registry::TableRegistrationPage& page = sweep_.next_page_;
  ++result_.scan_requests;
  const int64_t started_ns = budget_.ElapsedNs();
  sweep_.visits_.Enter(Phase::kScan, budget_.LastNowNs());
  absl::Status scanned =
      sweep_.registry_.ScanTablesPage(Call(), cursor.continuation(), sweep_.limits_.table_page_size(), &page);
  result_.scan_ns += budget_.ElapsedNs() - started_ns;
  bool restart = absl::IsOutOfRange(scanned) && !cursor.continuation().empty();
  if (scanned.ok() && page.empty() && !page.end_of_prefix() && page.continuation() == cursor.continuation()) {
    scanned = ContractViolation("scan_page", "a page without entries continues where it began", "H-9");
    restart = true;
  }
  if (scanned.ok()) {
    sweep_.busy_.reserve(page.size());
    continuation_moved_ = continuation_moved_ || page.end_of_prefix() || page.continuation() != cursor.continuation();
    cursor.Advance(&page);
  } else if (restart) {
    // This continuation leads nowhere: keeping it would fail every tick from now on.
    cursor.Restart();
    result_.cycle_restarted = true;
  }
  return scanned;
}

void ActiveTick::SweepBacklog() {
  std::vector<size_t>& busy = sweep_.busy_;
  busy.clear();
  bool going_on = true;
  const size_t front = backlog().Next(0);
  for (size_t index = front; going_on && index != backlog().end(); index = backlog().Next(index + 1)) {
    going_on = (index == front || BudgetLeft()) && Visit(index, /*again=*/false);
  }
  size_t next = 0;
  while (going_on && next < busy.size() && BudgetLeft()) going_on = Visit(busy[next++], /*again=*/true);
  // Those that the tick did not come back to had their try.
  for (; next < busy.size(); ++next) Finish(busy[next], Outcome::kLockBusy);
  const bool cut_by_budget = result_.ended_by == EndedBy::kOperations || result_.ended_by == EndedBy::kTime;
  if (backlog().empty() && (going_on || cut_by_budget)) End(EndedBy::kPageDone);
}

// Takes one candidate. With `again` it was busy before: a lock that is still held is its outcome.
bool ActiveTick::Visit(size_t index, bool again) {
  fingerprint_ = backlog().page().value_fingerprint(index);
  sweep_.visits_.Begin(backlog().page().key(index), budget_.LastNowNs());
  if (!again && sweep_.failures_.PassesOver(backlog().page().key(index), fingerprint_, sweep_.cycle().number)) {
    return Finish(index, Outcome::kBackedOff);
  }
  const absl::StatusOr<TableRef> table = backlog().page().table(index);
  if (!table.ok()) return Finish(index, Outcome::kCorrupt, table.status());
  if (!GoOn()) return false;
  const int64_t wait_ns = again ? 0 : budget_.LockWaitNs();
  const int64_t started_ns = budget_.ElapsedNs();
  sweep_.visits_.Enter(Phase::kLock, budget_.LastNowNs());
  LockOutcome outcome = LockOutcome::kBusy;
  uint64_t handle = 0;
  const absl::Status locked = host_.locks->Lock(table->table_namespace, table->table_name, wait_ns, &outcome, &handle);
  budget_.ChargeLockWait(budget_.ElapsedNs() - started_ns);
  if (IsContractViolation(locked)) return FinishAndFail(index, Outcome::kLockFailed, locked);
  if (!locked.ok()) return Finish(index, Outcome::kLockFailed, locked);
  if (outcome == LockOutcome::kCancelled) return End(EndedBy::kCancelled);
  if (outcome == LockOutcome::kBusy) {
    if (again) return Finish(index, Outcome::kLockBusy);
    sweep_.busy_.push_back(index);
    return true;
  }
  HeldLock lock(host_.locks, handle);
  const bool going_on = VisitLocked(index, *table);
  const absl::Status unlocked = lock.Release();
  return unlocked.ok() ? going_on : Fail(unlocked);
}

bool ActiveTick::VisitLocked(size_t index, const TableRef& table) {
  if (!GoOn()) return false;
  const Backlog& candidates = backlog();
  registry::StoredRegistration& stored = sweep_.stored_;
  sweep_.visits_.Enter(Phase::kRead, budget_.LastNowNs());
  const absl::Status read = sweep_.registry_.Get(Call(), candidates.page().key(index), &stored);
  if (IsContractViolation(read)) return FinishAndFail(index, Outcome::kReadFailed, read);
  if (absl::IsNotFound(read)) return Finish(index, Outcome::kGone);
  if (!read.ok()) return Finish(index, Outcome::kReadFailed, read);
  fingerprint_ = registry::Fingerprint(stored.value.view());
  if (fingerprint_ != candidates.page().value_fingerprint(index)) ++result_.generation_changed;
  if (sweep_.limits_.check_drop_markers()) {
    bool dropping = false;
    const absl::Status looked = LookForDropMarker(table, &dropping);
    if (IsContractViolation(looked)) return FinishAndFail(index, Outcome::kReadFailed, looked);
    if (!looked.ok()) return Finish(index, Outcome::kReadFailed, looked);
    if (dropping) return Finish(index, Outcome::kDropping);
  }
  if (IsContractViolation(stored.decoded)) return FinishAndFail(index, Outcome::kCorrupt, stored.decoded);
  if (absl::IsDataLoss(stored.decoded)) return Finish(index, Outcome::kCorrupt, stored.decoded);
  if (!stored.decoded.ok()) return Finish(index, Outcome::kReadFailed, stored.decoded);
  return Operate(index, table);
}

absl::Status ActiveTick::LookForDropMarker(const TableRef& table, bool* dropping) {
  const std::string key = registry::DropMarkerKey(table);
  // One byte longer than the table's own: a key over the limit is nobody's.
  if (key.size() > registry::kKeySizeMax) return absl::OkStatus();
  return sweep_.registry_.Exists(Call(), key, dropping);
}

// Hands the generation that was read under the lock, and no other, to the engine.
bool ActiveTick::Operate(size_t index, const TableRef& table) {
  const registry::StoredRegistration& stored = sweep_.stored_;
  TableGeneration generation;
  generation.table_namespace = table.table_namespace;
  generation.table_name = table.table_name;
  generation.location = stored.registration.location;
  generation.engine = stored.registration.engine;
  generation.incarnation = stored.registration.incarnation_id;
  generation.version = stored.registration.current_version;
  generation.value = stored.value.view();

  ++result_.operations;
  budget_.ChargeOperation();
  const int64_t started_ns = budget_.ElapsedNs();
  sweep_.visits_.Enter(Phase::kOperation, budget_.LastNowNs());
  OperationResult operation;
  const absl::Status maintained = host_.engine->Maintain({budget_.OperationNs(), fence_token_}, generation, &operation);
  result_.engine_ns += budget_.ElapsedNs() - started_ns;
  if (!maintained.ok()) return EngineFailed(index, maintained);
  engine_unavailable_ = 0;
  if (!operation.new_version.has_value()) return Finish(index, Outcome::kUnchanged);
  if (*operation.new_version <= generation.version) {
    return FinishAndFail(index, Outcome::kEngineFailed,
                         ContractViolation("maintain",
                                           absl::StrCat("changed to version ", *operation.new_version,
                                                        ", allowed above ", generation.version),
                                           "E-3"));
  }
  if (!host_.publishes) return Finish(index, Outcome::kMaintained);
  return Publish(index, *operation.new_version);
}

bool ActiveTick::EngineFailed(size_t index, const absl::Status& status) {
  if (IsContractViolation(status)) return FinishAndFail(index, Outcome::kEngineFailed, status);
  const bool in_trouble = absl::IsUnavailable(status) || absl::IsResourceExhausted(status);
  engine_unavailable_ = in_trouble ? engine_unavailable_ + 1 : 0;
  if (absl::IsDeadlineExceeded(status)) {
    Finish(index, Outcome::kEngineTimedOut, status);
  } else {
    Finish(index, absl::IsCancelled(status) ? Outcome::kInterrupted : Outcome::kEngineFailed, status);
  }
  return engine_unavailable_ < kEngineUnavailableMax || End(EndedBy::kEngineUnavailable);
}

bool ActiveTick::Publish(size_t index, uint64_t version) {
  const absl::string_view key = backlog().page().key(index);
  const registry::StoredRegistration& stored = sweep_.stored_;
  if (!HasRightToAct()) {
    Finish(index, Outcome::kFenced);
    return false;
  }
  sweep_.visits_.Enter(Phase::kPublication, budget_.LastNowNs());
  Publication publication = Publication::kUnknown;
  absl::Status published = sweep_.registry_.PublishVersion(Call(), key, stored, version, &publication);
  if (IsContractViolation(published)) {
    const bool written = publication == Publication::kUnknown;
    return FinishAndFail(index, written ? Outcome::kPublishUnknown : Outcome::kPublishFailed, published);
  }
  if (!published.ok()) return Finish(index, Outcome::kPublishFailed, published);
  if (publication == Publication::kUnknown) {
    published = sweep_.registry_.ConfirmPublication(Call(), key, stored, &publication);
    if (!published.ok()) return FinishAndFail(index, Outcome::kPublishUnknown, published);
  }
  switch (publication) {
    case Publication::kPublished:
      return Finish(index, Outcome::kMaintained);
    case Publication::kConflict:
      return Finish(index, Outcome::kConflict);
    case Publication::kUnknown:
      return Finish(index, Outcome::kPublishUnknown);
    case Publication::kFenced:
      Finish(index, Outcome::kFenced);
      return End(EndedBy::kFenced);
  }
  return true;
}

// The candidate's one outcome. Always true: the tick goes on.
bool ActiveTick::Finish(size_t index, Outcome outcome, const absl::Status& why) {
  ++result_.outcomes[static_cast<size_t>(outcome)];
  backlog().Finish(index);
  sweep_.visits_.Finish(backlog().page().key(index), outcome, sweep_.cycle().number, budget_.LastNowNs());
  Remember(backlog().page().key(index), outcome, why);
  if (!EndedWell(outcome) && result_.samples.size() < TickResult::kSamplesMax) {
    result_.samples.push_back(
        {outcome,
         absl::StrCat(registry::Printable(backlog().page().key(index), TickResult::kSampleKeySizeMax),
                      why.ok() ? "" : ": ",
                      registry::Printable(absl::string_view(why.message()), TickResult::kSampleMessageSizeMax))});
  }
  return true;
}

// An engine in trouble, or a host that breaks a rule, is not the table's failure.
void ActiveTick::Remember(absl::string_view key, Outcome outcome, const absl::Status& why) {
  FailureMemory& failures = sweep_.failures_;
  switch (outcome) {
    case Outcome::kMaintained:
    case Outcome::kUnchanged:
      failures.Succeeded(key);
      return;
    case Outcome::kEngineFailed:
      if (absl::IsUnavailable(why) || absl::IsResourceExhausted(why)) return;
      break;
    case Outcome::kEngineTimedOut:
    case Outcome::kCorrupt:
      break;
    default:
      return;
  }
  if (IsContractViolation(why)) return;
  result_.failures_evicted += failures.Failed(key, fingerprint_, sweep_.cycle().number, outcome,
                                              registry::Printable(why.message(), FailureMemory::kMessageSizeMax));
}

bool ActiveTick::FinishAndFail(size_t index, Outcome outcome, absl::Status violation) {
  Finish(index, outcome, violation);
  return Fail(std::move(violation));
}

void ActiveTick::AccountForCycle() {
  CycleAccounting::TickEnd end;
  end.visited = result_.finished();
  end.continuation_moved = continuation_moved_;
  end.held_back = result_.ended_by == EndedBy::kCancelled || result_.ended_by == EndedBy::kFenced;
  end.restarted = result_.cycle_restarted;
  end.completed = !end.restarted && backlog().empty() && sweep_.cursor_.end_of_prefix();
  result_.cycle_completed = end.completed;
  result_.cycle_visited = sweep_.cycle().visited + end.visited;
  if (end.completed) {
    sweep_.failures_.EndCycle(sweep_.cycle().number);
    sweep_.cursor_.Restart();
  }
  result_.cycle_short = sweep_.cycles_.TickEnds(end, host_.clock->NowNs());
  result_.stalled_ticks = sweep_.cycles_.StalledTicks();
  if (result_.stalled_ticks == 0) return;
  try {
    const size_t front = backlog().Next(0);
    const absl::string_view place = backlog().empty() ? sweep_.cursor_.continuation() : backlog().page().key(front);
    result_.stalled_at = absl::StrCat(backlog().empty() ? "the page from " : "the table ",
                                      registry::Printable(place, TickResult::kSampleKeySizeMax));
  } catch (const std::bad_alloc&) {
    // The count says it all the same.
  }
}

TableSweep::TableSweep(const SweepHost& host, const MaintenanceLimits& limits, absl::string_view prefix,
                       CursorState resumed)
    : host_(host),
      limits_(limits),
      registry_(host.metastore, host.codec, prefix),
      failures_(static_cast<uint32_t>(limits.value(Setting::kBackoffCyclesMax))) {
  cursor_.Resume(std::move(resumed));
}

void TableSweep::ExportCursor(std::string* encoded) {
  cursor_.State(CursorFinishedMax(limits_.table_page_size()), &exported_);
  EncodeCursor(registry_.prefix(), exported_, encoded);
}

namespace {

// Not thrown by us, but by every container; what was not finished is still in the backlog. Anything else nobody should
// throw; results are owed all the same.
template <typename Work>
void Contain(const Work& work, TickResult* result) {
  try {
    work();
    return;
  } catch (const std::bad_alloc&) {
    result->status = absl::ResourceExhaustedError("");
  } catch (...) {
    result->status = absl::InternalError("");
  }
  result->ended_by = EndedBy::kUnset;
}

}  // namespace

void TableSweep::Tick(TickResult* result) {
  *result = TickResult();
  ActiveTick tick(this, result);
  Contain([&] { tick.Perform(); }, result);
  tick.Conclude();
}

void TableSweep::DryRun(const CandidateNamer& name, TickResult* result) {
  *result = TickResult();
  ActiveTick tick(this, result);
  Contain([&] { tick.DryRun(name); }, result);
  tick.NoteTimes();
}

}  // namespace caretaker::maintenance
