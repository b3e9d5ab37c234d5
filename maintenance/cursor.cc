#include "maintenance/cursor.h"

#include <algorithm>
#include <utility>

namespace caretaker::maintenance {

void Cursor::Resume(CursorState state) {
  next_ = std::move(state.continuation);
  resumed_ = std::move(state.finished);
  std::sort(resumed_.begin(), resumed_.end());
}

void Cursor::Advance(registry::TableRegistrationPage* page) {
  // Whatever needs memory comes first: a failed allocation leaves everything in place. What is read from now becomes
  // the next one's memory.
  backlog_.finished_.reserve(page->size());
  read_from_.reserve(page->continuation().size());
  std::swap(read_from_, next_);
  next_.assign(page->continuation().data(), page->continuation().size());
  end_of_prefix_ = page->end_of_prefix();
  std::swap(backlog_.page_, *page);
  backlog_.finished_.assign(backlog_.page_.size(), false);
  backlog_.unfinished_ = backlog_.page_.size();
  if (!resumed_.empty()) PassOverResumed();
}

bool Cursor::IsFinishedByResumed(absl::string_view key) const {
  return !resumed_.empty() && std::binary_search(resumed_.begin(), resumed_.end(), registry::Fingerprint(key));
}

void Cursor::Restart() {
  backlog_.page_.Clear();
  next_.clear();
  end_of_prefix_ = false;
  resumed_.clear();
}

void Cursor::State(size_t finished_max, CursorState* state) const {
  state->finished.clear();
  if (backlog_.empty()) {
    state->continuation = next_;
  } else {
    state->continuation = read_from_;
    for (size_t index = 0; index < backlog_.end(); ++index) {
      if (backlog_.finished_[index]) state->finished.push_back(registry::Fingerprint(backlog_.page_.key(index)));
    }
  }
  // What the resumed cursor named and no page has had yet stays finished, as far as there is room.
  const size_t room = finished_max - std::min(finished_max, state->finished.size());
  const size_t kept = std::min(room, resumed_.size());
  state->finished.insert(state->finished.end(), resumed_.begin(), resumed_.begin() + static_cast<ptrdiff_t>(kept));
}

void Cursor::PassOverResumed() {
  for (size_t index = 0; index < backlog_.end() && !resumed_.empty(); ++index) {
    const uint64_t fingerprint = registry::Fingerprint(backlog_.page_.key(index));
    const auto found = std::lower_bound(resumed_.begin(), resumed_.end(), fingerprint);
    if (found == resumed_.end() || *found != fingerprint) continue;
    resumed_.erase(found);
    backlog_.Finish(index);
  }
}

}  // namespace caretaker::maintenance
