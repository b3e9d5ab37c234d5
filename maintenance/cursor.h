// The plugin's place in the cycle: where the next page begins, and the backlog of the page that was read last.
//
// The continuation moves when a page was read; a candidate leaves the backlog when it is finished. So whatever cuts a
// tick, nothing is skipped and nothing is done twice. Thread-safety: one thread at a time.
#ifndef CARETAKER_MAINTENANCE_CURSOR_H_
#define CARETAKER_MAINTENANCE_CURSOR_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "maintenance/cursor_codec.h"
#include "registry/table_registration_page.h"

namespace caretaker::maintenance {

// The candidates of one page that are not finished, in the page's order.
class Backlog {
 public:
  size_t size() const { return unfinished_; }
  bool empty() const { return unfinished_ == 0; }

  // The first unfinished candidate at or after `index`; end() when there is none.
  size_t Next(size_t index) const {
    while (index < end() && finished_[index]) ++index;
    return index;
  }
  size_t end() const { return page_.size(); }
  void Finish(size_t index) {
    finished_[index] = true;
    --unfinished_;
  }

  // Views live until the next page is taken over.
  const registry::TableRegistrationPage& page() const { return page_; }

 private:
  friend class Cursor;

  registry::TableRegistrationPage page_;
  std::vector<char> finished_;
  size_t unfinished_ = 0;
};

class Cursor {
 public:
  Cursor() { read_from_.reserve(registry::kContinuationSizeMax); }

  // Takes up the walk of an exported cursor. REQUIRES: nothing was read yet.
  void Resume(CursorState state);

  // Where the next page begins; empty at the start of a cycle.
  absl::string_view continuation() const { return next_; }
  // The last page ended the prefix: when the backlog is empty, the cycle is complete.
  bool end_of_prefix() const { return end_of_prefix_; }

  Backlog& backlog() { return backlog_; }
  const Backlog& backlog() const { return backlog_; }

  // Takes the page over: its continuation is the cursor's, its entries are the backlog, without those that the resumed
  // cursor says are finished. `*page` gets the old page's memory to be scanned into next. REQUIRES: the backlog is
  // empty.
  void Advance(registry::TableRegistrationPage* page);

  // Does the resumed cursor name this key as finished?
  bool IsFinishedByResumed(absl::string_view key) const;

  // Back to the first key. REQUIRES: the backlog is empty.
  void Restart();

  // What an export says now: with an empty backlog where the next page begins, otherwise where this one was read from
  // and what of it is finished; in both cases what a resumed cursor named and was not met yet, so that nothing is lost
  // by exporting before the first page is read. Names at most `finished_max`, which is no less than the page: those of
  // the page come first.
  void State(size_t finished_max, CursorState* state) const;

 private:
  // Finishes the candidates of the new page that the exported cursor names.
  void PassOverResumed();

  Backlog backlog_;
  std::string read_from_;  // The continuation that the backlog's page was read from.
  std::string next_;
  bool end_of_prefix_ = false;
  // Sorted fingerprints of the exported cursor's finished candidates that were not met yet. A page may be shorter than
  // the one that was exported, so they are kept until they are met or the cycle ends.
  std::vector<uint64_t> resumed_;
};

}  // namespace caretaker::maintenance

#endif  // CARETAKER_MAINTENANCE_CURSOR_H_
