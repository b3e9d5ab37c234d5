#include "testing/fakes/c_host.h"

#include <cstring>

namespace caretaker::testing {
namespace {

CHost& Host(void* context) { return *static_cast<CHost*>(context); }
std::string Text(maintenance_bytes bytes) { return std::string(bytes.data, bytes.size); }
maintenance_bytes Bytes(const std::string& text) { return {text.data(), text.size()}; }

template <typename Table>
Table Zeroed() {
  Table table;
  std::memset(&table, 0, sizeof(table));
  table.struct_size = sizeof(table);
  return table;
}

int32_t ScanPage(void* context, const maintenance_call*, maintenance_bytes prefix, maintenance_bytes continuation,
                 uint32_t limit, const maintenance_page_sink* sink, maintenance_error*) {
  CHost& host = Host(context);
  if (const int32_t fault = host.Enter("scan_page"); fault != CHost::kNoFault) return fault;
  const std::string begin = Text(prefix);
  auto next = host.entries.lower_bound(continuation.size == 0 ? begin : Text(continuation));
  const auto at_end = [&] { return next == host.entries.end() || next->first.compare(0, begin.size(), begin) != 0; };
  for (uint32_t taken = 0; taken < limit && !at_end(); ++taken, ++next) {
    const int32_t answer = sink->entry(sink->context, Bytes(next->first), Bytes(next->second));
    if (answer == MAINTENANCE_ENTRY_REFUSED) break;
    if (answer == MAINTENANCE_ENTRY_TAKEN_AND_STOP) {
      ++next;
      break;
    }
  }
  if (at_end()) {
    sink->end_of_prefix(sink->context);
  } else {
    sink->continue_after(sink->context, Bytes(next->first));
  }
  return MAINTENANCE_OK;
}

int32_t Get(void* context, const maintenance_call*, maintenance_bytes key, const maintenance_bytes_sink* sink,
            maintenance_error*) {
  CHost& host = Host(context);
  if (const int32_t fault = host.Enter("get"); fault != CHost::kNoFault) return fault;
  const auto found = host.entries.find(Text(key));
  return found == host.entries.end() ? MAINTENANCE_NOT_FOUND : sink->bytes(sink->context, Bytes(found->second));
}

int32_t CompareAndSet(void* context, const maintenance_call* call, maintenance_bytes key, maintenance_bytes expected,
                      maintenance_bytes desired, int32_t* outcome, maintenance_error*) {
  CHost& host = Host(context);
  if (const int32_t fault = host.Enter("compare_and_set"); fault != CHost::kNoFault) return fault;
  const auto found = host.entries.find(Text(key));
  if (call->has_fence_token == 0 || call->fence_token != host.fence_token) {
    *outcome = MAINTENANCE_COMPARE_FENCED;
  } else if (found == host.entries.end() || found->second != Text(expected)) {
    *outcome = MAINTENANCE_COMPARE_MISMATCH;
  } else {
    found->second = Text(desired);
    *outcome = MAINTENANCE_COMPARE_SWAPPED;
  }
  return MAINTENANCE_OK;
}

int32_t Lock(void* context, const maintenance_call*, maintenance_bytes table_namespace, maintenance_bytes table_name,
             int64_t, uint64_t* handle, int32_t* outcome, maintenance_error*) {
  CHost& host = Host(context);
  if (const int32_t fault = host.Enter("lock"); fault != CHost::kNoFault) return fault;
  const std::string name = Text(table_namespace) + "/" + Text(table_name);
  *outcome = MAINTENANCE_LOCK_ACQUIRED;
  for (const auto& [held, held_name] : host.open_locks) {
    if (held_name == name) *outcome = MAINTENANCE_LOCK_BUSY;
  }
  if (*outcome == MAINTENANCE_LOCK_ACQUIRED) {
    *handle = ++host.last_handle_;
    host.open_locks.emplace(*handle, name);
  }
  return MAINTENANCE_OK;
}

void Unlock(void* context, uint64_t handle) {
  CHost& host = Host(context);
  host.open_locks.erase(handle);
  host.Enter("unlock");
}

int32_t Maintain(void* context, const maintenance_call*, const maintenance_generation* generation,
                 maintenance_operation_result* result, maintenance_error*) {
  CHost& host = Host(context);
  if (const int32_t fault = host.Enter("maintain"); fault != CHost::kNoFault) return fault;
  host.maintained.push_back(Text(generation->table_namespace) + "/" + Text(generation->table_name) + "@" +
                            std::to_string(generation->version));
  result->outcome = MAINTENANCE_OPERATION_CHANGED;
  result->version = generation->version + 1;
  return MAINTENANCE_OK;
}

int32_t IsCancelled(void* context, int32_t* answer, maintenance_error*) {
  if (const int32_t fault = Host(context).Enter("is_cancelled"); fault != CHost::kNoFault) return fault;
  *answer = MAINTENANCE_ANSWER_NO;
  return MAINTENANCE_OK;
}

int32_t MayAct(void* context, int32_t* answer, uint64_t* fence_token, maintenance_error*) {
  if (const int32_t fault = Host(context).Enter("may_act"); fault != CHost::kNoFault) return fault;
  *answer = MAINTENANCE_ANSWER_YES;
  *fence_token = Host(context).fence_token;
  return MAINTENANCE_OK;
}

void Event(void* context, const maintenance_event* event) {
  Host(context).events.push_back(Text(event->text));
  Host(context).Enter("event");
}

}  // namespace

CHost::CHost()
    : host_(Zeroed<maintenance_host>()),
      metastore_(Zeroed<maintenance_metastore>()),
      locks_(Zeroed<maintenance_locks>()),
      engine_(Zeroed<maintenance_engine>()),
      control_(Zeroed<maintenance_control>()),
      log_(Zeroed<maintenance_log>()) {
  metastore_.context = locks_.context = engine_.context = control_.context = log_.context = this;
  metastore_.scan_page = &ScanPage;
  metastore_.get = &Get;
  metastore_.compare_and_set = &CompareAndSet;
  locks_.lock = &Lock;
  locks_.unlock = &Unlock;
  engine_.maintain = &Maintain;
  control_.is_cancelled = &IsCancelled;
  control_.may_act = &MayAct;
  log_.event = &Event;
  host_.metastore = &metastore_;
  host_.locks = &locks_;
  host_.engine = &engine_;
  host_.control = &control_;
  host_.log = &log_;
}

int32_t CHost::Enter(const char* function) {
  ++calls[function];
  return fault ? fault(function) : kNoFault;
}

}  // namespace caretaker::testing
