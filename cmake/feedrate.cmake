# What every room is built with, and the one way to declare a room, a test and a micro benchmark.
find_package(Threads REQUIRED)
find_program(CCACHE ccache)
if(CCACHE)
  # Paths relative to the checkout: a fresh clone finds what another one has compiled. The
  # sloppiness is what ccache asks for to work with precompiled headers.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR}
    CCACHE_NOHASHDIR=1
      CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE})
endif()

add_library(feedrate_flags INTERFACE)
target_compile_options(feedrate_flags INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow -Wno-missing-field-initializers>
  # A false alarm of GCC 12 about `"text" + std::string` (GCC's bug 105651).
  $<$<AND:$<COMPILE_LANG_AND_ID:CXX,GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>
  $<$<COMPILE_LANGUAGE:CUDA>:--Werror=all-warnings -Xcompiler=-Wall,-Wextra,-Wno-unused-parameter>)
if(FEEDRATE_SANITIZE)
  target_compile_options(feedrate_flags INTERFACE -fsanitize=${FEEDRATE_SANITIZE}
    -fno-omit-frame-pointer
                         -fno-sanitize-recover=all
    -Wno-maybe-uninitialized)  # GCC's manual: beside sanitizers it alarms falsely
  target_link_options(feedrate_flags INTERFACE -fsanitize=${FEEDRATE_SANITIZE})
endif()

# feedrate_need(FOUND LIBRARY PACKAGE): ends where the variable FOUND says that a library is missing,
# and says how to get it, which CMake's own REQUIRED does not.
function(feedrate_need found library package)
  if(NOT ${found})
    message(FATAL_ERROR "${library} was not found.\n"
            "  remedy: run scripts/bootstrap, or install ${package} (as Debian and Ubuntu call it).")
  endif()
endfunction()

# feedrate_include_root(NAME VARIABLE): the folder for -I through which "NAME/x.h" means x.h of the
# current source folder.
function(feedrate_include_root name variable)
  set(root ${CMAKE_BINARY_DIR}/include/${name})
  file(MAKE_DIRECTORY ${root})
  file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR} ${root}/${name} SYMBOLIC)
  set(${variable} ${root} PARENT_SCOPE)
endfunction()

# feedrate_room(NAME SOURCES a.cpp ... USES upstream_rooms_and_libraries ...) A room sees the
# headers of the rooms that it uses, transitively, and no others: each room has an include folder of
# its own, which holds a link to the room and nothing else. A backward include does not compile.
# UNTIMED: what the room does is not timed (it shows how far others are), so it is optimised little:
# that halves its compile time. src/CMakeLists.txt keeps its copies of inline functions out.
function(feedrate_room name)
  cmake_parse_arguments(ROOM "UNTIMED" "" "SOURCES;USES" ${ARGN})
  add_library(feedrate_${name} STATIC ${ROOM_SOURCES})
  feedrate_include_root(${name} root)
  target_include_directories(feedrate_${name} PUBLIC ${root})
  target_link_libraries(feedrate_${name} PUBLIC ${ROOM_USES} PRIVATE feedrate_flags)
  if(ROOM_UNTIMED)
    target_compile_options(feedrate_${name} PRIVATE $<$<CONFIG:Release>:-O1>)
  else()
    set_property(GLOBAL APPEND PROPERTY feedrate_timed_rooms feedrate_${name})
  endif()
endfunction()

# feedrate_module(NAME SOURCES register.cpp USES rooms ...): libfeedrate_NAME.so, which the program
# loads when it is asked for what is in it. The version script exports.map hides what templates and
# static libraries would export beside the module's one function; --as-needed drops the libraries
# that it does not use.
function(feedrate_module name)
  cmake_parse_arguments(MODULE "" "" "SOURCES;USES" ${ARGN})
  add_library(feedrate_${name}_module SHARED ${MODULE_SOURCES})
  set(exports ${CMAKE_CURRENT_SOURCE_DIR}/exports.map)
  set_target_properties(feedrate_${name}_module PROPERTIES OUTPUT_NAME feedrate_${name}
    CXX_VISIBILITY_PRESET hidden
                        VISIBILITY_INLINES_HIDDEN ON LINK_DEPENDS ${exports})
  target_link_libraries(feedrate_${name}_module PRIVATE ${MODULE_USES} feedrate_flags)
  add_dependencies(feedrate feedrate_${name}_module)  # one is not built without the other
  target_link_options(feedrate_${name}_module PRIVATE LINKER:--as-needed
    LINKER:--version-script=${exports})
endfunction()

# feedrate_test(NAME SOURCES test_a.cpp ... USES rooms ...): one GoogleTest program, one ctest entry
# a test.
function(feedrate_test name)
  cmake_parse_arguments(TEST "" "" "SOURCES;USES;PROPERTIES" ${ARGN})
  find_package(GTest REQUIRED)
  include(GoogleTest)
  add_executable(test_${name} ${TEST_SOURCES})
  target_compile_options(test_${name} PRIVATE $<$<CONFIG:Release>:-O1>)  # compiled more than run
  target_include_directories(test_${name} PRIVATE ${CMAKE_BINARY_DIR}/include/tests)
  target_link_libraries(test_${name} PRIVATE ${TEST_USES} feedrate_flags GTest::gmock
    GTest::gtest_main)
  gtest_discover_tests(test_${name} TEST_PREFIX "${name}." DISCOVERY_TIMEOUT 60
                       PROPERTIES TIMEOUT 300 ${TEST_PROPERTIES})
endfunction()
