# The commit of the source tree: git's, if the tree is a checkout of its own and no folder inside
# another project's; else what `git archive` has written into .git_archival.txt.
execute_process(COMMAND git -C ${SOURCE} rev-parse --show-toplevel
                OUTPUT_VARIABLE top OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
file(REAL_PATH ${SOURCE} source)
if(top STREQUAL source)
  execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --abbrev=12 --exclude=*
                  OUTPUT_VARIABLE FEEDRATE_GIT_COMMIT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
elseif(EXISTS ${SOURCE}/.git_archival.txt)
  file(STRINGS ${SOURCE}/.git_archival.txt node REGEX "^node: [0-9a-f]+$")
  string(REGEX REPLACE "^node: " "" node "${node}")
  string(SUBSTRING "${node}" 0 12 FEEDRATE_GIT_COMMIT)
endif()
if(NOT FEEDRATE_GIT_COMMIT)
  set(FEEDRATE_GIT_COMMIT unknown)
endif()
configure_file(${IN} ${OUT} @ONLY)
