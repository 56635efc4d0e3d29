#pragma once
#include <optional>
#include <string>

#include "ranks/launch.h"
#include "ranks/turned_away.h"

namespace feedrate::ranks {

// Somebody who has come to the meeting point.
struct Caller {
  int stream = -1;        // the receiver's; -1: the system has no room for another one
  std::string from;       // "10.0.0.7", "user 1000 (pid 4711)"
  std::string objection;  // why it can be no rank; empty: it may be one
};

// Where rank 0 waits for the others. Within one machine: a socket of this user's (local_socket.h),
// which takes nobody else. Across machines: a TCP port at rank 0's host.
class MeetingPoint {
 public:
  // Errors: Error naming the port that is taken. `say`: is told what the user should know of it.
  MeetingPoint(const Launch& launch, const Say& say);
  ~MeetingPoint();
  MeetingPoint(const MeetingPoint&) = delete;
  MeetingPoint& operator=(const MeetingPoint&) = delete;

  int listener() const { return listener_; }
  // The next one; nothing if there is none.
  std::optional<Caller> accept();

 private:
  const bool one_machine_;
  int listener_ = -1;
};

// A stream to rank 0; -1 if nobody of this user's waits there.
int reach_rank_0(const Launch& launch);

}  // namespace feedrate::ranks
