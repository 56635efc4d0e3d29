#include "train/process_group.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "base/error.h"

namespace feedrate::train {
namespace {

int port_of(int listener) {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  getsockname(listener, reinterpret_cast<sockaddr*>(&address), &length);
  return ntohs(address.ss_family == AF_INET6
                   ? reinterpret_cast<const sockaddr_in6&>(address).sin6_port
                   : reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

// The store in which the libraries' ranks find each other's addresses. `group` carries rank 0's
// port to the others.
c10::intrusive_ptr<c10d::Store> make_store(device::Group& group) {
  c10d::TCPStoreOptions options;
  options.isServer = group.rank() == 0;
  options.numWorkers = static_cast<std::size_t>(group.size());
  options.waitWorkers = false;
  // Eight ranks that load LibTorch from a cold disk at once may be minutes apart.
  options.timeout = std::chrono::minutes(5);
  if (options.isServer) {
    options.masterListenFd = group.listen();
    options.port = static_cast<std::uint16_t>(port_of(*options.masterListenFd));
  }
  options.port = static_cast<std::uint16_t>(group.broadcast_number(options.port));
  return c10::make_intrusive<c10d::TCPStore>(group.host_of_first(), options);
}

}  // namespace

ProcessGroup make_process_group(device::Group& group, c10::Device device) {
  const auto store = make_store(group);
  const int rank = group.rank(), size = group.size();
  const auto both = c10::make_intrusive<c10d::ProcessGroup>(store, rank, size);
  const bool on_gpus = device.is_cuda();
  const Backend backend =
      on_gpus ? make_nccl(store, rank, size)
              : make_gloo(store, rank, size, group.host_of_first() == device::kLoopback);
  if (!backend) {
    throw Error(on_gpus ? "NCCL" : "Gloo",
                "this build has none, and several " + std::string(on_gpus ? "GPUs" : "CPU ranks") +
                    " need it",
                on_gpus ? "build with the CUDA LibTorch of PyPI (scripts/bootstrap)"
                        : "install Gloo's headers (libgloo-dev) and build again");
  }
  const auto type =
      on_gpus ? c10d::ProcessGroup::BackendType::NCCL : c10d::ProcessGroup::BackendType::GLOO;
  both->setBackend(device.type(), type, backend);
  both->setDefaultBackend(type);
  return both;
}

std::string exchange_library(c10::DeviceType device) {
  return device == at::kCUDA ? "NCCL " + nccl_version() : "Gloo";
}

}  // namespace feedrate::train
