// Marks a status as "the host broke a rule", apart from INTERNAL statuses that the host itself returned.
#ifndef CARETAKER_REGISTRY_CONTRACT_VIOLATION_H_
#define CARETAKER_REGISTRY_CONTRACT_VIOLATION_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace caretaker::registry {

// INTERNAL: "<function>: <what is wrong>; rule <rule>". `function` is the host function's name as in the public
// header, `rule` its number there, `what` says the value seen and the value allowed.
absl::Status ContractViolation(absl::string_view function, absl::string_view what, absl::string_view rule);

bool IsContractViolation(const absl::Status& status);

}  // namespace caretaker::registry

#endif  // CARETAKER_REGISTRY_CONTRACT_VIOLATION_H_
