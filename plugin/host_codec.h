// The host's codec, where it brings its own encoding of registrations, as the interface that the registry works with.
#ifndef CARETAKER_PLUGIN_HOST_CODEC_H_
#define CARETAKER_PLUGIN_HOST_CODEC_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "plugin/host_call.h"
#include "plugin/maintenance_plugin.h"
#include "registry/registration_codec.h"

namespace caretaker::plugin {

// The host's codec. Copies what decode delivers: at most three fields of kFieldSizeMax bytes.
class HostCodec final : public registry::RegistrationCodec {
 public:
  explicit HostCodec(const maintenance_codec& host) : host_(host) {}

  absl::Status Decode(const registry::PaddedValue& value, registry::TableRegistration* registration) override;
  absl::Status EncodeVersion(absl::string_view value, const registry::TableRegistration& registration, uint64_t version,
                             std::string* encoded) override;

 private:
  struct Sinks;

  const maintenance_codec host_;
  SinkGate gate_;
  int deliveries_ = 0;
  absl::Status delivered_;
  bool sink_out_of_memory_ = false;
  std::string location_;
  std::string engine_;
  std::string incarnation_;
  registry::TableRegistration* registration_ = nullptr;
  std::string* encoded_ = nullptr;
};

}  // namespace caretaker::plugin

#endif  // CARETAKER_PLUGIN_HOST_CODEC_H_
