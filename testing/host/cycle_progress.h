// How far the cycle is: the bar of a host that runs on a terminal.
//
// Thread-safety: one thread at a time.
#ifndef CARETAKER_TESTING_HOST_CYCLE_PROGRESS_H_
#define CARETAKER_TESTING_HOST_CYCLE_PROGRESS_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "plugin/maintenance_plugin.h"

namespace caretaker::reference_host {

class CycleProgress {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // `estimated_tables`: how many the registry may hold; of use until a first cycle has counted them.
  CycleProgress(uint64_t estimated_tables, Time now);

  // One more operation of the running tick has ended.
  void OperationEnded() { ++operations_; }

  // A tick has ended, well or not.
  void TickEnded(const maintenance_tick_context& tick, Time now);

  // "cycle 1 [====>     ]  42 %  840 of ~2000 tables  231/s  5 s left", in at most `columns` characters: the bar
  // has what the numbers leave, at least kBarMin, and what has no room is cut off. Tables per second are those of this
  // cycle, waits between ticks included. "~": the number of tables is an estimate.
  std::string Text(size_t columns, Time now) const;

  static constexpr size_t kBarMin = 10;
  static constexpr size_t kBarMax = 40;

 private:
  uint64_t tables_;
  bool estimated_ = true;
  uint64_t cycle_ = 1;
  uint64_t visited_ = 0;     // In this cycle, up to the last tick's end.
  uint64_t operations_ = 0;  // In the tick that runs.
  Time cycle_began_;
};

// "7 s", "3 min 20 s", "2 h 5 min", "more than 99 h".
std::string Duration(std::chrono::seconds time);

}  // namespace caretaker::reference_host

#endif  // CARETAKER_TESTING_HOST_CYCLE_PROGRESS_H_
