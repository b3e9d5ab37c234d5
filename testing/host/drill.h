// A drill: makes chosen tables end in chosen outcomes, so that an operator, and a test, sees what each looks like.
//
// Each part of the host answers as it would if the thing had happened; nothing is written and no row is touched for it.
// Thread-safety: one thread at a time, the tick's.
#ifndef CARETAKER_TESTING_HOST_DRILL_H_
#define CARETAKER_TESTING_HOST_DRILL_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "maintenance/engine.h"
#include "maintenance/outcome.h"
#include "maintenance/table_locks.h"
#include "registry/metastore.h"

namespace caretaker::reference_host {

class Drill {
 public:
  // Faults that one command line may have.
  static constexpr size_t kFaultsMax = 64;

  // `text`: faults separated by commas, each OUTCOME or OUTCOME@TEXT: tables whose key holds TEXT, all without one. Of
  // the outcomes maintained, unchanged and backed_off come by themselves. Empty: no fault. InvalidArgument: the message
  // says which word is none, and what is allowed.
  static absl::StatusOr<Drill> Parse(absl::string_view text);

  // The first fault for this table; absent: none.
  struct Fault {
    maintenance::Outcome outcome;
    std::string text;
  };
  const Fault* Find(absl::string_view key) const;
  bool Has(absl::string_view key, maintenance::Outcome outcome) const;

  // The host's own parts, with the faults before them. What is passed in is borrowed, as is the drill.
  std::unique_ptr<registry::MetaStore> Wrap(registry::MetaStore* store) const;
  std::unique_ptr<maintenance::TableLocks> Wrap(maintenance::TableLocks* locks) const;
  std::unique_ptr<maintenance::Engine> Wrap(maintenance::Engine* engine) const;

 private:
  std::vector<Fault> faults_;
};

}  // namespace caretaker::reference_host

#endif  // CARETAKER_TESTING_HOST_DRILL_H_
