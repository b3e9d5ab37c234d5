#include "registry/table_registry.h"

#include "absl/strings/str_cat.h"
#include "registry/contract_violation.h"

namespace caretaker::registry {
namespace {

// Checks that a store calls its sink once, as it must where the key is present.
class OneValueSink : public ValueSink {
 public:
  absl::Status Value(absl::string_view value) final {
    if (++calls_ > 1) return absl::InternalError("get: the sink was called twice, expected once");
    return Take(value);
  }

  // What `get` answered, checked against what it delivered.
  absl::Status Check(absl::Status answer) const {
    if (calls_ > 1)
      return ContractViolation("get", absl::StrCat("the sink was called ", calls_, " times, expected 1"), "H-6");
    if (answer.ok() && calls_ == 0) return ContractViolation("get", "OK without a value", "H-6");
    if (absl::IsNotFound(answer) && calls_ != 0) return ContractViolation("get", "NOT_FOUND with a value", "H-6");
    return answer;
  }

 private:
  virtual absl::Status Take(absl::string_view value) = 0;

  int calls_ = 0;
};

class RegistrationSink final : public OneValueSink {
 public:
  explicit RegistrationSink(PaddedValue* value) : value_(value) { value_->Clear(); }

  // Of a value over the limit only the size is kept.
  size_t size() const { return size_; }

 private:
  absl::Status Take(absl::string_view value) override {
    size_ = value.size();
    if (size_ <= kValueSizeMax) value_->Assign(value);
    return absl::OkStatus();
  }

  PaddedValue* const value_;
  size_t size_ = 0;
};

class PresenceSink final : public OneValueSink {
 private:
  absl::Status Take(absl::string_view) override { return absl::OkStatus(); }
};

class ReadBackSink final : public OneValueSink {
 public:
  ReadBackSink(absl::string_view old_value, absl::string_view new_value) : old_(old_value), new_(new_value) {}

  Publication publication() const { return publication_; }

 private:
  absl::Status Take(absl::string_view value) override {
    if (value == new_) publication_ = Publication::kPublished;
    if (value == old_) publication_ = Publication::kUnknown;
    return absl::OkStatus();
  }

  const absl::string_view old_;
  const absl::string_view new_;
  Publication publication_ = Publication::kConflict;
};

}  // namespace

TableRegistry::TableRegistry(MetaStore* store, RegistrationCodec* codec, absl::string_view prefix)
    : store_(store), codec_(codec), prefix_(prefix) {}

absl::Status TableRegistry::ScanTablesPage(const MetaStoreCall& call, absl::string_view continuation, uint32_t limit,
                                           TableRegistrationPage* page) {
  if (limit == 0 || limit > kPageSizeMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("page limit: ", limit, " is out of range, allowed 1..", kPageSizeMax, "; ask for fewer entries"));
  }
  collector_.Begin(prefix_, limit, page);
  const absl::Status scanned = store_->ScanPage(call, prefix_, continuation, limit, collector_);
  // A host that is told "refused" may well answer with a status of its own; what it did wrong says more.
  if (!collector_.violation().ok()) return collector_.violation();
  if (!scanned.ok()) return scanned;
  return collector_.Finish();
}

absl::Status TableRegistry::Get(const MetaStoreCall& call, absl::string_view key, StoredRegistration* stored) {
  RegistrationSink sink(&stored->value);
  absl::Status read = sink.Check(store_->Get(call, key, sink));
  if (!read.ok()) return read;
  if (sink.size() > kValueSizeMax) {
    stored->decoded = absl::DataLossError(absl::StrCat("registration: too long, ", sink.size(), " bytes, allowed ",
                                                       kValueSizeMax, "; repair or remove the entry"));
  } else {
    stored->decoded = codec_->Decode(stored->value, &stored->registration);
  }
  return absl::OkStatus();
}

absl::Status TableRegistry::Exists(const MetaStoreCall& call, absl::string_view key, bool* exists) {
  PresenceSink sink;
  absl::Status read = sink.Check(store_->Get(call, key, sink));
  *exists = read.ok();
  return absl::IsNotFound(read) ? absl::OkStatus() : read;
}

absl::Status TableRegistry::PublishVersion(const MetaStoreCall& call, absl::string_view key,
                                           const StoredRegistration& stored, uint64_t version,
                                           Publication* publication) {
  *publication = Publication::kConflict;
  absl::Status encoded = codec_->EncodeVersion(stored.value.view(), stored.registration, version, &published_);
  if (!encoded.ok()) return encoded;
  *publication = Publication::kUnknown;
  CompareAndSetOutcome outcome = CompareAndSetOutcome::kIndeterminate;
  absl::Status written = store_->CompareAndSet(call, key, stored.value.view(), published_, &outcome);
  if (!written.ok()) return written;
  switch (outcome) {
    case CompareAndSetOutcome::kSwapped:
      *publication = Publication::kPublished;
      break;
    case CompareAndSetOutcome::kMismatch:
      *publication = Publication::kConflict;
      break;
    case CompareAndSetOutcome::kFenced:
      *publication = Publication::kFenced;
      break;
    case CompareAndSetOutcome::kIndeterminate:
      *publication = Publication::kUnknown;
      break;
  }
  return absl::OkStatus();
}

absl::Status TableRegistry::ConfirmPublication(const MetaStoreCall& call, absl::string_view key,
                                               const StoredRegistration& stored, Publication* publication) {
  ReadBackSink sink(stored.value.view(), published_);
  const absl::Status read = sink.Check(store_->Get(call, key, sink));
  *publication = Publication::kUnknown;
  if (IsContractViolation(read)) return read;
  if (read.ok() || absl::IsNotFound(read)) *publication = sink.publication();
  return absl::OkStatus();
}

}  // namespace caretaker::registry
