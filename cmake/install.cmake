# `cmake --install`, and a Debian package of it (`cpack -G DEB` in the build folder): the program, its
# modules, the report's Python, the man page and the shells' completions.
include(GNUInstallDirs)
install(TARGETS feedrate RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
foreach(module IN ITEMS train hdf5 dali opencv)
  if(TARGET feedrate_${module}_module)
    # Not in Debian's folder of an architecture: the program looks beside its own bin/.
    install(TARGETS feedrate_${module}_module LIBRARY DESTINATION lib/feedrate)
  endif()
endforeach()
install(DIRECTORY ${CMAKE_SOURCE_DIR}/scripts/report DESTINATION ${CMAKE_INSTALL_DATADIR}/feedrate
        PATTERN __pycache__ EXCLUDE)
install(FILES ${CMAKE_SOURCE_DIR}/README.md ${CMAKE_SOURCE_DIR}/LICENSE
              ${CMAKE_SOURCE_DIR}/CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/feedrate)
# The program writes them itself, from the table that --help shows.
set(written ${CMAKE_BINARY_DIR}/written)
file(MAKE_DIRECTORY ${written})
install(CODE "
  foreach(words IN ITEMS \"manual/feedrate.1\" \"completion;bash/feedrate\" \"completion;zsh/_feedrate\")
    cmake_path(GET words PARENT_PATH command)
    cmake_path(GET words FILENAME file)
    file(REMOVE \"${written}/\${file}\")  # it may be another user's
    execute_process(COMMAND \"$<TARGET_FILE:feedrate>\" \${command}
                    OUTPUT_FILE \"${written}/\${file}\" COMMAND_ERROR_IS_FATAL ANY)
  endforeach()")
install(FILES ${written}/feedrate.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${written}/feedrate
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${written}/_feedrate DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)

if(FEEDRATE_TORCH)
  install(CODE "
    if(\"\${CMAKE_INSTALL_PREFIX} \$ENV{DESTDIR}\" MATCHES _CPack_Packages)
      message(WARNING \"the package's training module finds LibTorch where it lies on this machine: for \"
              \"other machines build with -DFEEDRATE_TORCH=OFF, or use scripts/bundle, which takes it along\")
    endif()")
endif()

set(CPACK_PACKAGE_NAME feedrate)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Measures what training data costs")
set(CPACK_PACKAGE_CONTACT "the authors of feedrate")
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_GENERATOR TGZ)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS python3)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "python3-matplotlib, python3-numpy, python3-jinja2")
include(CPack)
