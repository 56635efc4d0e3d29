#pragma once
#include <csetjmp>
#include <cstddef>
#include <cstdio>
#include <string_view>

#include <jpeglib.h>

#include <jerror.h>

#include "codec/checks.h"

namespace feedrate::codec {

// libjpeg reports by callback and expects error_exit not to return. Its C frames need not have
// unwind tables, so an exception must not cross them: the callback jumps back into guarded(), and
// the exception starts there.
class JpegErrors {
 public:
  // To be given to `info.err` before the object is created.
  jpeg_error_mgr* manager() {
    jpeg_std_error(&base_);
    base_.error_exit = [](j_common_ptr info) { fail(info); };
    // Negative levels are warnings: damaged data that libjpeg would paper over with gray or with
    // the rows above. Such pixels would be timed as if they were the picture's, so they are errors.
    // Stray bytes before a marker are passed over, as by torchvision and Pillow: some cameras pad
    // so. Damaged codes that end early leave such bytes, too, and are told of as those.
    base_.emit_message = [](j_common_ptr info, int level) {
      if (level >= 0) return;
      if (info->err->msg_code != JWRN_EXTRANEOUS_DATA) fail(info);
      reinterpret_cast<JpegErrors*>(info->err)->stray_bytes_ = true;
    };
    base_.output_message = [](j_common_ptr) {};
    return &base_;
  }

  // Whether stray bytes were passed over since the last forget_stray_bytes().
  bool stray_bytes() const { return stray_bytes_; }
  void forget_stray_bytes() { stray_bytes_ = false; }

  // Runs `body`, which calls libjpeg and holds no object with a destructor while it does.
  template <typename Body>
  void guarded(std::string_view name, const Body& body) {
    if (setjmp(jump_) != 0) refuse_picture(name, message_);
    body();
  }

  [[noreturn]] static void fail(j_common_ptr info) {
    auto* errors = reinterpret_cast<JpegErrors*>(info->err);
    info->err->format_message(info, errors->message_);
    std::longjmp(errors->jump_, 1);
  }

  [[noreturn]] static void fail(j_common_ptr info, const char* message) {
    auto* errors = reinterpret_cast<JpegErrors*>(info->err);
    std::snprintf(errors->message_, sizeof errors->message_, "%s", message);
    std::longjmp(errors->jump_, 1);
  }

 private:
  jpeg_error_mgr base_{};  // first: libjpeg's pointer to it is a pointer to the whole
  std::jmp_buf jump_;
  char message_[JMSG_LENGTH_MAX] = {};
  bool stray_bytes_ = false;
};

}  // namespace feedrate::codec
