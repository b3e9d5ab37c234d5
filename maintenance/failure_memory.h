// Remembers which tables failed, so that a table that always fails is tried ever more rarely: after its n-th failure in
// a row it sits out 1, 2, 4, ... cycles, up to a limit.
//
// Success, a new generation, or the operator clears a table. At most kBytesMax of memory: over it the shortest streak
// leaves, which may be the newcomer. A table that was not met during a whole cycle is forgotten at its end, so that
// dropped tables leave nothing behind. Thread-safety: all functions may be called from any thread; none waits for a
// tick.
#ifndef CARETAKER_MAINTENANCE_FAILURE_MEMORY_H_
#define CARETAKER_MAINTENANCE_FAILURE_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "maintenance/outcome.h"

namespace caretaker::maintenance {

// One table that is passed over, for the report.
struct BackedOffTable {
  std::string key;
  Outcome reason;
  std::string message;
  uint32_t streak;     // Failures in a row.
  uint64_t due_cycle;  // The cycle in which it is tried again.
};

class FailureMemory {
 public:
  static constexpr size_t kBytesMax = size_t{1} << 20;
  // What an entry is charged beside its key and its message: the nodes of map and set, and what two strings may round
  // up to.
  static constexpr size_t kEntryOverhead = 256;
  static constexpr size_t kMessageSizeMax = 160;

  // `backoff_cycles_max`: how many cycles a table sits out at most; 0: nothing is remembered.
  explicit FailureMemory(uint32_t backoff_cycles_max) : backoff_cycles_max_(backoff_cycles_max) {}

  // Is the table to be passed over in `cycle`? `value_fingerprint` is that of the registration as scanned: another one
  // than at the failure clears the table. Counts as meeting the table.
  bool PassesOver(absl::string_view key, uint64_t value_fingerprint, uint64_t cycle);
  // The same answer, and nothing remembered of the question.
  bool WouldPassOver(absl::string_view key, uint64_t value_fingerprint, uint64_t cycle) const;

  // The table failed in `cycle`. `message` is cut. Returns how many entries had to leave for want of memory.
  uint64_t Failed(absl::string_view key, uint64_t value_fingerprint, uint64_t cycle, Outcome reason,
                  absl::string_view message);
  void Succeeded(absl::string_view key);

  // The walk of `cycle` is complete: forgets what was not met in it.
  void EndCycle(uint64_t cycle);

  // The operator's reset. False: nothing is remembered of it.
  bool Forget(absl::string_view key);
  // How many there were.
  size_t ForgetAll();

  size_t size() const;
  size_t bytes() const;
  // At most `count_max` tables, the longest streaks first.
  std::vector<BackedOffTable> Worst(size_t count_max) const;

 private:
  struct Entry {
    uint64_t value_fingerprint;
    uint64_t due_cycle;
    uint64_t met_cycle;
    uint32_t streak;
    Outcome reason;
    std::string message;
  };
  // Looks keys up without making strings of them.
  struct KeyLess {
    using is_transparent = void;
    bool operator()(absl::string_view a, absl::string_view b) const { return a < b; }
  };
  using Entries = std::map<std::string, Entry, KeyLess>;

  static size_t Charge(const Entries::value_type& entry) {
    return kEntryOverhead + entry.first.size() + entry.second.message.size();
  }
  void Erase(Entries::iterator entry);
  // Lets entries go until the rest fits.
  uint64_t Shrink();

  const uint32_t backoff_cycles_max_;
  mutable std::mutex mutex_;
  Entries entries_;  // Guarded by mutex_, as what follows.
  // Streak and key of each entry, the shortest streaks first; views into entries_, whose nodes stay where they are.
  std::set<std::pair<uint32_t, absl::string_view>> by_streak_;
  size_t bytes_ = 0;  // The sum of Charge.
};

}  // namespace caretaker::maintenance

#endif  // CARETAKER_MAINTENANCE_FAILURE_MEMORY_H_
