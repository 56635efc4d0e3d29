# OpenCV's core and imgproc alone. Debian and Ubuntu put OpenCVConfig.cmake into libopencv-dev,
# which pulls in a gigabyte of GUI, video and VTK; libopencv-core-dev and libopencv-imgproc-dev have
# all that is needed, without it. A full OpenCV (OpenCV_DIR, CMAKE_PREFIX_PATH) is taken where there
# is one.
find_package(OpenCV CONFIG QUIET COMPONENTS core imgproc)
if(NOT TARGET opencv_core)
  find_path(OpenCV_INCLUDE_DIR opencv2/core.hpp PATH_SUFFIXES opencv4)
  find_library(OpenCV_core_LIBRARY opencv_core)
  find_library(OpenCV_imgproc_LIBRARY opencv_imgproc)
  include(FindPackageHandleStandardArgs)
  find_package_handle_standard_args(OpenCV
    REQUIRED_VARS OpenCV_INCLUDE_DIR OpenCV_core_LIBRARY OpenCV_imgproc_LIBRARY
    REASON_FAILURE_MESSAGE
    "run scripts/bootstrap, or install libopencv-core-dev and libopencv-imgproc-dev")
  add_library(opencv_core SHARED IMPORTED)
  set_target_properties(opencv_core PROPERTIES IMPORTED_LOCATION ${OpenCV_core_LIBRARY}
                        INTERFACE_INCLUDE_DIRECTORIES ${OpenCV_INCLUDE_DIR})
  add_library(opencv_imgproc SHARED IMPORTED)
  set_target_properties(opencv_imgproc PROPERTIES IMPORTED_LOCATION ${OpenCV_imgproc_LIBRARY}
                        INTERFACE_INCLUDE_DIRECTORIES ${OpenCV_INCLUDE_DIR})
endif()
