#include "registry/contract_violation.h"

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"

namespace caretaker::registry {
namespace {

constexpr char kPayloadUrl[] = "caretaker/contract_violation";

}  // namespace

absl::Status ContractViolation(absl::string_view function, absl::string_view what, absl::string_view rule) {
  absl::Status status = absl::InternalError(absl::StrCat(function, ": ", what, "; the host breaks rule ", rule));
  status.SetPayload(kPayloadUrl, absl::Cord(rule));
  return status;
}

bool IsContractViolation(const absl::Status& status) { return status.GetPayload(kPayloadUrl).has_value(); }

}  // namespace caretaker::registry
