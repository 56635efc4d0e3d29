# The CUDA compiler for a LibTorch that is built for CUDA: its CMake package asks for one at
# configure time, GPU or not. Every generation that LibTorch 2.11 itself runs on, Turing to
# Blackwell; PTX for what comes after.
set(TORCH_CUDA_ARCH_LIST "7.5;8.0;9.0;10.0;12.0+PTX" CACHE STRING
  "GPU architectures of device code")

# feedrate_cuda_toolkit(WHEELS): finds nvcc and tells it to both of CMake's CUDA packages, which
# Torch uses side by side and which must agree. WHEELS: where scripts/bootstrap lays a toolkit on a
# machine that has no fitting one, so what lies there goes before PATH.
macro(feedrate_cuda_toolkit wheels)
  get_filename_component(cudacxx_folder "$ENV{CUDACXX}" DIRECTORY)
  get_filename_component(compiler_folder "${CMAKE_CUDA_COMPILER}" DIRECTORY)
  find_program(FEEDRATE_NVCC nvcc
               HINTS ${compiler_folder} ${CUDAToolkit_ROOT} ENV CUDAToolkit_ROOT ${cudacxx_folder}
               ${wheels}
               PATHS /usr/local/cuda
               PATH_SUFFIXES bin)
  mark_as_advanced(FEEDRATE_NVCC)
  if(NOT FEEDRATE_NVCC)
    message(FATAL_ERROR "The LibTorch found is built for CUDA, and there is no nvcc.\n"
            "  remedy: run scripts/bootstrap, or install the CUDA toolkit of its major version, or "
            "configure with -DFEEDRATE_TORCH=OFF for emulated devices only.")
  endif()
  # nvcc itself knows where its toolkit lies: the one in PATH may be a wrapper or a link.
  execute_process(COMMAND ${FEEDRATE_NVCC} -x cu -E --dryrun /dev/null
                  ERROR_VARIABLE nvcc_says OUTPUT_QUIET)
  if(nvcc_says MATCHES "TOP=([^\n]+)")
    get_filename_component(CUDA_TOOLKIT_ROOT_DIR "${CMAKE_MATCH_1}" ABSOLUTE)
  else()
    get_filename_component(CUDA_TOOLKIT_ROOT_DIR ${FEEDRATE_NVCC}/../.. ABSOLUTE)
  endif()
  set(CUDA_TOOLKIT_ROOT_DIR ${CUDA_TOOLKIT_ROOT_DIR} CACHE PATH "The CUDA toolkit" FORCE)
  set(CUDAToolkit_ROOT ${CUDA_TOOLKIT_ROOT_DIR})
  set(CMAKE_CUDA_COMPILER ${CUDA_TOOLKIT_ROOT_DIR}/bin/nvcc CACHE FILEPATH "nvcc")
  if(NOT DEFINED CMAKE_CUDA_HOST_COMPILER AND NOT DEFINED ENV{CUDAHOSTCXX})
    set(CMAKE_CUDA_HOST_COMPILER ${CMAKE_CXX_COMPILER})
  endif()
  set(CMAKE_CUDA_STANDARD 17) # CMake 3.25 knows no later dialect for nvcc; host code stays C++20
  if(CCACHE)
    set(CMAKE_CUDA_COMPILER_LAUNCHER ${CCACHE})
  endif()
endmacro()
