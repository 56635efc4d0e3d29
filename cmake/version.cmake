execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --abbrev=12 --exclude=*
                OUTPUT_VARIABLE FEEDRATE_GIT_COMMIT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT FEEDRATE_GIT_COMMIT)
  set(FEEDRATE_GIT_COMMIT unknown)
endif()
configure_file(${IN} ${OUT} @ONLY)
