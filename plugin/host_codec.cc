#include "plugin/host_codec.h"

#include <new>

#include "absl/strings/str_cat.h"
#include "plugin/boundary.h"
#include "registry/contract_violation.h"
#include "registry/metastore.h"

namespace caretaker::plugin {

using boundary::Sized;
using boundary::ToBytes;
using registry::ContractViolation;

struct HostCodec::Sinks {
  static bool Take(maintenance_bytes bytes, absl::string_view field, std::string* to, absl::Status* status) {
    if (bytes.size > registry::kFieldSizeMax) {
      *status =
          absl::DataLossError(absl::StrCat("registration: ", field, " is too long, ", bytes.size, " bytes, allowed ",
                                           registry::kFieldSizeMax, "; repair or remove the entry"));
      return false;
    }
    to->assign(bytes.data, bytes.size);
    return true;
  }

  static int32_t Registration(void* context, const maintenance_registration* host_registration) {
    auto* const self = static_cast<HostCodec*>(context);
    if (!self->gate_.Enter() || self->registration_ == nullptr) return MAINTENANCE_INTERNAL;
    ++self->deliveries_;
    maintenance_registration given;
    if (!boundary::ReadStruct(host_registration, sizeof(given), &given)) {
      self->gate_.Note(SinkMisuse::kStructTooSmall);
      return MAINTENANCE_INVALID_ARGUMENT;
    }
    if (!boundary::IsValid(given.location) || !boundary::IsValid(given.engine) ||
        !boundary::IsValid(given.incarnation)) {
      self->gate_.Note(SinkMisuse::kBytesWithoutData);
      return MAINTENANCE_INVALID_ARGUMENT;
    }
    try {
      registry::TableRegistration& registration = *self->registration_;
      if (!Take(given.location, "location", &self->location_, &self->delivered_) ||
          !Take(given.engine, "engine", &self->engine_, &self->delivered_) ||
          !Take(given.incarnation, "incarnation", &self->incarnation_, &self->delivered_)) {
        return MAINTENANCE_DATA_LOSS;
      }
      registration.location = self->location_;
      registration.engine = self->engine_;
      registration.current_version = given.version;
      if (given.has_incarnation != 0) registration.incarnation_id = self->incarnation_;
      self->delivered_ = absl::OkStatus();
      return MAINTENANCE_OK;
    } catch (...) {
      self->sink_out_of_memory_ = true;
      return MAINTENANCE_RESOURCE_EXHAUSTED;
    }
  }

  static int32_t Encoded(void* context, maintenance_bytes bytes) {
    auto* const self = static_cast<HostCodec*>(context);
    if (!self->gate_.Enter() || self->encoded_ == nullptr) return MAINTENANCE_INTERNAL;
    ++self->deliveries_;
    if (!boundary::IsValid(bytes)) {
      self->gate_.Note(SinkMisuse::kBytesWithoutData);
      return MAINTENANCE_INVALID_ARGUMENT;
    }
    if (bytes.size > registry::kValueSizeMax) return MAINTENANCE_OUT_OF_RANGE;
    try {
      self->encoded_->assign(bytes.data, bytes.size);
      self->delivered_ = absl::OkStatus();
      return MAINTENANCE_OK;
    } catch (...) {
      self->sink_out_of_memory_ = true;
      return MAINTENANCE_RESOURCE_EXHAUSTED;
    }
  }
};

absl::Status HostCodec::Decode(const registry::PaddedValue& value, registry::TableRegistration* registration) {
  *registration = registry::TableRegistration();
  auto plugin_sink = Sized<maintenance_registration_sink>();
  plugin_sink.context = this;
  plugin_sink.registration = &Sinks::Registration;
  registration_ = registration;
  deliveries_ = 0;
  sink_out_of_memory_ = false;
  delivered_ = absl::ResourceExhaustedError("");
  const absl::Status decoded = [&] {
    const OpenGate open(&gate_);
    return CallHost("decode", [&](maintenance_error* error) {
      return host_.decode(host_.context, ToBytes(value.view()), &plugin_sink, error);
    });
  }();
  registration_ = nullptr;
  if (sink_out_of_memory_) throw std::bad_alloc();
  if (absl::Status misused = gate_.TakeViolation("decode"); !misused.ok()) return misused;
  if (registry::IsContractViolation(decoded)) return decoded;
  if (!decoded.ok()) return absl::DataLossError(decoded.message());
  if (deliveries_ != 1) {
    return ContractViolation("decode",
                             absl::StrCat("returned OK and called its sink ", deliveries_, " times, allowed 1"), "H-6");
  }
  return delivered_;
}

absl::Status HostCodec::EncodeVersion(absl::string_view value, const registry::TableRegistration&, uint64_t version,
                                      std::string* encoded) {
  auto plugin_sink = Sized<maintenance_bytes_sink>();
  plugin_sink.context = this;
  plugin_sink.bytes = &Sinks::Encoded;
  encoded_ = encoded;
  deliveries_ = 0;
  sink_out_of_memory_ = false;
  delivered_ = absl::OutOfRangeError("encode_version: the bytes are over the limit of a value");
  const absl::Status done = [&] {
    const OpenGate open(&gate_);
    return CallHost("encode_version", [&](maintenance_error* error) {
      return host_.encode_version(host_.context, ToBytes(value), version, &plugin_sink, error);
    });
  }();
  encoded_ = nullptr;
  if (sink_out_of_memory_) throw std::bad_alloc();
  if (absl::Status misused = gate_.TakeViolation("encode_version"); !misused.ok()) return misused;
  if (!done.ok()) return done;
  if (deliveries_ != 1) {
    return ContractViolation("encode_version",
                             absl::StrCat("returned OK and called its sink ", deliveries_, " times, allowed 1"), "H-6");
  }
  return delivered_;
}

}  // namespace caretaker::plugin
