// The plugin's place in the cycle: where the next page begins, and the backlog of the page that was read last.
//
// The continuation moves when a page was read; a candidate leaves the backlog when it is finished. So whatever cuts a
// tick, nothing is skipped and nothing is done twice. Thread-safety: one thread at a time.
#ifndef CARETAKER_MAINTENANCE_CURSOR_H_
#define CARETAKER_MAINTENANCE_CURSOR_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
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
  // Where the next page begins; empty at the start of a cycle.
  absl::string_view continuation() const { return backlog_.page_.continuation(); }
  // The last page ended the prefix: when the backlog is empty, the cycle is complete.
  bool end_of_prefix() const { return backlog_.page_.end_of_prefix(); }

  Backlog& backlog() { return backlog_; }
  const Backlog& backlog() const { return backlog_; }

  // Takes the page over: its continuation is the cursor's, its entries are the backlog. `*page` gets the old page's
  // memory to be scanned into next. REQUIRES: the backlog is empty.
  void Advance(registry::TableRegistrationPage* page) {
    // Whatever needs memory comes first: a failed allocation leaves the old page in place.
    backlog_.finished_.assign(page->size(), false);
    std::swap(backlog_.page_, *page);
    backlog_.unfinished_ = backlog_.page_.size();
  }

  // Back to the first key. REQUIRES: the backlog is empty.
  void Restart() { backlog_.page_.Clear(); }

 private:
  Backlog backlog_;
};

}  // namespace caretaker::maintenance

#endif  // CARETAKER_MAINTENANCE_CURSOR_H_
