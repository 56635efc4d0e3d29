#pragma once

namespace feedrate::ranks {

// The stderr of other processes, which comes out at this one's. They do not hold the file that this
// process was given: one that hangs would keep who reads it waiting after this process has ended.
// Used by one thread.
class ErrorPipe {
 public:
  ErrorPipe();  // Errors: Error
  ~ErrorPipe();
  ErrorPipe(const ErrorPipe&) = delete;
  ErrorPipe& operator=(const ErrorPipe&) = delete;

  // What the other processes write to; this process closes it.
  int entrance() const { return entrance_; }

  // Copies what they have written so far to stderr, and waits for no more. All of a process that
  // has ended is there. Waits where stderr takes nothing; what it refuses is lost.
  void pass_on();

 private:
  int exit_ = -1, entrance_ = -1;
};

}  // namespace feedrate::ranks
