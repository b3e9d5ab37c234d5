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
  misused_.store(true, std::memory_order_relaxed);
  return false;
}

absl::Status SinkGate::TakeViolation(absl::string_view function) {
  if (!misused_.load(std::memory_order_relaxed) || !misused_.exchange(false)) return absl::OkStatus();
  return registry::ContractViolation(
      function, "a sink was called outside the call that it was passed to, or on another thread", "H-7");
}

}  // namespace caretaker::plugin
