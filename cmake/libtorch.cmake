# LibTorch for the rooms `models` and `train`, which link to feedrate_libtorch and to nothing else
# of it. Sets FEEDRATE_HAS_CUDA_TORCH: whether the LibTorch found is built for CUDA (src/train
# chooses its sources by it; headers carry no flags).
#
# Where it is looked for, in this order: Torch_DIR and CMAKE_PREFIX_PATH (as variables or in the
# environment), then what scripts/bootstrap has put into the cache.
include(cuda_toolkit)

include(cache_folder)
set(pins ${CMAKE_CURRENT_LIST_DIR}/../scripts/requirements-libtorch.txt)
file(STRINGS ${pins} torch_pin REGEX "^torch==")
string(REPLACE "torch==" "" torch_pin ${torch_pin})

# Only looks: find_package(Torch) itself needs the CUDA compiler to be known before it runs.
find_path(FEEDRATE_TORCH_CONFIG TorchConfig.cmake
          HINTS ${Torch_DIR} ENV Torch_DIR
          PATHS ${FEEDRATE_CACHE_FOLDER}/libtorch-${torch_pin}
          PATH_SUFFIXES share/cmake/Torch Torch torch/share/cmake/Torch)
mark_as_advanced(FEEDRATE_TORCH_CONFIG)
if(NOT FEEDRATE_TORCH_CONFIG)
  message(FATAL_ERROR
    "LibTorch was not found, neither by CMAKE_PREFIX_PATH nor in ${FEEDRATE_CACHE_FOLDER}.\n"
          "  remedy: run scripts/bootstrap, which installs it there, or configure with "
          "-DFEEDRATE_TORCH=OFF for emulated devices only.")
endif()
get_filename_component(torch_root ${FEEDRATE_TORCH_CONFIG}/../../.. ABSOLUTE)
get_filename_component(wheels_root ${torch_root}/../nvidia ABSOLUTE)

set(FEEDRATE_HAS_CUDA_TORCH FALSE)
if(EXISTS ${torch_root}/lib/libtorch_cuda.so)
  set(FEEDRATE_HAS_CUDA_TORCH TRUE)
  feedrate_cuda_toolkit(${wheels_root}/cu13)
endif()

# nvJPEG's header: the wheel's, or the toolkit's.
find_path(FEEDRATE_NVJPEG_INCLUDE nvjpeg.h HINTS ${wheels_root}/cu13/include
  ${CUDA_TOOLKIT_ROOT_DIR}/include NO_DEFAULT_PATH)
mark_as_advanced(FEEDRATE_NVJPEG_INCLUDE)

# Torch's package warns on every configure though nothing is wrong: about kineto, and about
# CMAKE_CUDA_ARCHITECTURES, which CMake itself sets. Only its errors are shown.
set(outer_log_level ${CMAKE_MESSAGE_LOG_LEVEL})
set(CMAKE_MESSAGE_LOG_LEVEL ERROR)
find_package(Torch REQUIRED PATHS ${FEEDRATE_TORCH_CONFIG} NO_DEFAULT_PATH)
set(CMAKE_MESSAGE_LOG_LEVEL ${outer_log_level})
message(STATUS "LibTorch ${Torch_VERSION} at ${torch_root}, CUDA: ${FEEDRATE_HAS_CUDA_TORCH}")

add_library(feedrate_libtorch INTERFACE)
target_link_libraries(feedrate_libtorch INTERFACE ${TORCH_LIBRARIES})
separate_arguments(torch_flags UNIX_COMMAND "${TORCH_CXX_FLAGS}")
foreach(flag IN LISTS torch_flags)
  target_compile_options(feedrate_libtorch INTERFACE $<$<COMPILE_LANGUAGE:CXX>:${flag}>)
endforeach()

# The run path: LibTorch's own folder first, then the wheels beside it, so that the CUDA libraries
# it was tested with win over the toolkit's. RUNPATH rather than RPATH: LD_LIBRARY_PATH can override
# it.
target_link_options(feedrate_libtorch INTERFACE LINKER:--enable-new-dtags
                    LINKER:-rpath,${torch_root}/lib)
foreach(wheel IN ITEMS cu13 cudnn cusparselt nccl nvshmem)
  if(IS_DIRECTORY ${wheels_root}/${wheel}/lib)
    target_link_options(feedrate_libtorch INTERFACE LINKER:-rpath,${wheels_root}/${wheel}/lib)
  endif()
  if(IS_DIRECTORY ${wheels_root}/${wheel}/include AND NOT wheel STREQUAL "cu13")
    # nccl.h and cudnn.h; cu13's headers come with the toolkit, whose nvcc must match them.
    target_include_directories(feedrate_libtorch SYSTEM INTERFACE ${wheels_root}/${wheel}/include)
  endif()
endforeach()
