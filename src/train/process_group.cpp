#include "train/process_group.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include <cstring>

#include "base/error.h"

namespace feedrate::train {
namespace {

// Listens at a free port; only for this machine if all ranks are on it.
int listen_anywhere(bool one_machine) {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(one_machine ? INADDR_LOOPBACK : INADDR_ANY);
  if (listener >= 0 && bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 &&
      listen(listener, SOMAXCONN) == 0)
    return listener;
  const int problem = errno;
  if (listener >= 0) close(listener);
  throw Error("ranks", std::string("rank 0 has no port for the others: ") + std::strerror(problem));
}

int port_of(int listener) {
  sockaddr_in address{};
  socklen_t length = sizeof address;
  getsockname(listener, reinterpret_cast<sockaddr*>(&address), &length);
  return ntohs(address.sin_port);
}

// The store in which the libraries' ranks find each other's addresses. `group` carries rank 0's
// port to the others.
c10::intrusive_ptr<c10d::Store> make_store(device::Group& group) {
  c10d::TCPStoreOptions options;
  options.isServer = group.rank() == 0;
  options.numWorkers = static_cast<std::size_t>(group.size());
  options.waitWorkers = false;
  options.timeout = std::chrono::seconds(60);
  if (options.isServer) {
    options.masterListenFd = listen_anywhere(group.host_of_first() == device::kLoopback);
    options.port = static_cast<std::uint16_t>(port_of(*options.masterListenFd));
  }
  options.port =
      static_cast<std::uint16_t>(std::stoi(group.broadcast(std::to_string(options.port))));
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
