#include "ranks/meeting_point.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "ranks/local_socket.h"
#include "ranks/tcp.h"

namespace feedrate::ranks {
namespace {

void look_at_user(Caller& caller) {
  const auto peer = peer_of(caller.stream);
  caller.from =
      peer ? "user " + std::to_string(peer->user) + " (pid " + std::to_string(peer->pid) + ")"
           : "an unknown user";
  if (!peer || peer->user != geteuid()) caller.objection = "is another user's";
}

}  // namespace

MeetingPoint::MeetingPoint(const Launch& launch, const Say& say)
    : one_machine_(launch.one_machine()) {
  if (one_machine_) {
    listener_ = listen_locally(launch.port);
    return;
  }
  const Listener listener = listen_at(launch.host, launch.port);
  listener_ = listener.descriptor;
  if (listener.everywhere && say) {
    say(launch.host +
        ": other machines cannot reach this one by that address: rank 0 waits at all "
        "its addresses");
  }
}

MeetingPoint::~MeetingPoint() { close(listener_); }

std::optional<Caller> MeetingPoint::accept() {
  Caller caller{.stream = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC)};
  if (caller.stream < 0) {
    if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) return caller;
    return std::nullopt;
  }
  if (one_machine_) {
    look_at_user(caller);
  } else {
    send_at_once(caller.stream);
    caller.from = address_of_peer(caller.stream);
  }
  return caller;
}

int reach_rank_0(const Launch& launch) {
  if (!launch.one_machine()) return connect_to(launch.host, launch.port);
  const int stream = connect_locally(launch.port);
  if (stream < 0) return -1;
  const auto peer = peer_of(stream);
  if (peer && peer->user == geteuid()) return stream;
  close(stream);
  return -1;
}

}  // namespace feedrate::ranks
