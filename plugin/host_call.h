// How a function of the host's is called: its status and its outcome are checked, what it throws is contained, and a
// sink of ours works only while the call that it was passed to lasts.
#ifndef CARETAKER_PLUGIN_HOST_CALL_H_
#define CARETAKER_PLUGIN_HOST_CALL_H_

#include <atomic>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "plugin/boundary.h"
#include "plugin/maintenance_plugin.h"
#include "registry/contract_violation.h"

namespace caretaker::plugin {

// Calls one host function that returns a status and may write an error, and checks both.
template <typename Function>
absl::Status CallHost(absl::string_view name, const Function& function) {
  maintenance_error error = boundary::EmptyError();
  int32_t code = MAINTENANCE_UNKNOWN;
  try {
    code = function(&error);
  } catch (...) {
    return registry::ContractViolation(name, "let an exception out, allowed none", "H-1");
  }
  if (code == MAINTENANCE_OK) return absl::OkStatus();
  if (!boundary::IsCanonicalCode(code)) {
    return registry::ContractViolation(name, absl::StrCat("returned status ", code, ", allowed 0..16"), "H-6");
  }
  const absl::Status status = boundary::ToStatus(code, &error);
  return absl::Status(status.code(), absl::StrCat(name, ": ", status.message()));
}

// What it is when `name` returned OK and its outcome is none of the known ones.
inline absl::Status NoOutcome(absl::string_view name, int32_t outcome) {
  if (outcome == 0) return registry::ContractViolation(name, "returned OK without an outcome", "H-6");
  return registry::ContractViolation(name, absl::StrCat("returned OK with the unknown outcome ", outcome), "H-6");
}

// What a host may do wrong with a sink of ours.
enum class SinkMisuse : int { kNone, kOutsideItsCall, kBytesWithoutData, kStructTooSmall };

// Lets a sink of ours be called only inside the host call that it was passed to, on that call's thread.
class SinkGate {
 public:
  // False: the caller has no business here; that is remembered.
  bool Enter();
  // Remembers what else is wrong.
  void Note(SinkMisuse misuse) { misuse_.store(misuse, std::memory_order_relaxed); }
  // OK, or the violation that was remembered last since the last call.
  absl::Status TakeViolation(absl::string_view function);

 private:
  friend class OpenGate;

  // The address of a variable of the calling thread's own; 0 while closed.
  std::atomic<uintptr_t> open_for_{0};
  std::atomic<SinkMisuse> misuse_{SinkMisuse::kNone};
};

// Opens a gate for the calling thread until the end of the scope, however that is left.
class OpenGate {
 public:
  explicit OpenGate(SinkGate* gate);
  OpenGate(const OpenGate&) = delete;
  OpenGate& operator=(const OpenGate&) = delete;
  ~OpenGate();

 private:
  SinkGate* const gate_;
};

}  // namespace caretaker::plugin

#endif  // CARETAKER_PLUGIN_HOST_CALL_H_
