#include "plugin/host_call.h"

namespace caretaker::plugin {
namespace {

// Different for each thread that is alive, without asking the system.
uintptr_t ThisThread() { return reinterpret_cast<uintptr_t>(__builtin_thread_pointer()); }

}  // namespace

OpenGate::OpenGate(SinkGate* gate) : gate_(gate) { gate_->open_for_.store(ThisThread(), std::memory_order_release); }
OpenGate::~OpenGate() { gate_->open_for_.store(0, std::memory_order_release); }

bool SinkGate::Enter() {
  if (open_for_.load(std::memory_order_acquire) == ThisThread()) return true;
  Note(SinkMisuse::kOutsideItsCall);
  return false;
}

absl::Status SinkGate::TakeViolation(absl::string_view function) {
  if (misuse_.load(std::memory_order_relaxed) == SinkMisuse::kNone) return absl::OkStatus();
  switch (misuse_.exchange(SinkMisuse::kNone)) {
    case SinkMisuse::kNone:
      break;
    case SinkMisuse::kOutsideItsCall:
      return registry::ContractViolation(
          function, "a sink was called outside the call that it was passed to, or on another thread", "H-7");
    case SinkMisuse::kBytesWithoutData:
      return registry::ContractViolation(
          function, "gave its sink bytes with a size and data NULL, or of a size that can not be", "B-2");
    case SinkMisuse::kStructTooSmall:
      return registry::ContractViolation(function, "gave its sink a struct that is NULL or too small", "B-1");
  }
  return absl::OkStatus();
}

}  // namespace caretaker::plugin
