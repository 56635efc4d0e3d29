#include <nvtx3/nvToolsExt.h>

#include <array>
#include <cstddef>
#include <string>

#include "base/text.h"
#include "measure/ranges.h"

namespace feedrate::measure {
namespace {

struct Domain {
  Domain() {
    for (std::size_t i = 0; i < names.size(); ++i) {
      const std::string name(name_of(static_cast<TraceKind>(i)));
      names[i] = nvtxDomainRegisterStringA(handle, name.c_str());
    }
  }
  const nvtxDomainHandle_t handle = nvtxDomainCreateA("feedrate");
  std::array<nvtxStringHandle_t, static_cast<std::size_t>(TraceKind::step) + 1> names;
};

// Lives as long as the process: threads may end their ranges late.
const Domain& domain() {
  static const Domain* const kDomain = new Domain;
  return *kDomain;
}

}  // namespace

bool shows_ranges() {
  static const bool kShows = !environment_variable("NVTX_INJECTION64_PATH").empty();
  return kShows;
}

void begin_range(TraceKind kind, std::int64_t number) {
  nvtxEventAttributes_t event{};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  event.message.registered = domain().names[static_cast<std::size_t>(kind)];
  if (number >= 0) {
    event.payloadType = NVTX_PAYLOAD_TYPE_INT64;
    event.payload.llValue = number;
  }
  nvtxDomainRangePushEx(domain().handle, &event);
}

void end_range() { nvtxDomainRangePop(domain().handle); }

}  // namespace feedrate::measure
