// In place of OpenCV's header of all modules, most of which FFCV does not use and set-up does not install.
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>
