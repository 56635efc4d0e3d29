# Sets FEEDRATE_CACHE_FOLDER: where scripts/bootstrap puts what does not come from the distribution.
if(DEFINED ENV{FEEDRATE_CACHE})
  set(FEEDRATE_CACHE_FOLDER $ENV{FEEDRATE_CACHE})
elseif(DEFINED ENV{XDG_CACHE_HOME})
  set(FEEDRATE_CACHE_FOLDER $ENV{XDG_CACHE_HOME}/feedrate)
else()
  set(FEEDRATE_CACHE_FOLDER $ENV{HOME}/.cache/feedrate)
endif()
