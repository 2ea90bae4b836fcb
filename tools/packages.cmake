# SPDX-License-Identifier: Apache-2.0
# The places where `cmake --install` and CPack put the program, its manual page and completions, the
# data that `validate` and `calibrate` read, examples and docs.
include(GNUInstallDirs)
install(TARGETS stepcast RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})

set(made ${PROJECT_BINARY_DIR}/installed)
install(CODE "
  file(MAKE_DIRECTORY \"${made}\")
  foreach(one \"man=stepcast.1\" \"completion;bash=stepcast\" \"completion;zsh=_stepcast\" \"completion;fish=stepcast.fish\")
    string(REGEX REPLACE \"=.*\" \"\" arguments \"\${one}\")
    string(REGEX REPLACE \".*=\" \"\" file \"\${one}\")
    execute_process(COMMAND \"$<TARGET_FILE:stepcast>\" \${arguments} OUTPUT_FILE \"${made}/\${file}\" COMMAND_ERROR_IS_FATAL ANY)
  endforeach()")
install(FILES ${made}/stepcast.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${made}/stepcast DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${made}/_stepcast DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
install(FILES ${made}/stepcast.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
install(DIRECTORY scenarios/published scenarios/collectives scenarios/catalog
        DESTINATION ${CMAKE_INSTALL_DATADIR}/stepcast/scenarios)
install(FILES scenarios/calibration.yaml DESTINATION ${CMAKE_INSTALL_DATADIR}/stepcast/scenarios)
install(DIRECTORY ${PROJECT_BINARY_DIR}/schema DESTINATION ${CMAKE_INSTALL_DATADIR}/stepcast)
# The first lines of examples name the schemas, which have other places once installed.
install(CODE "
  file(REMOVE_RECURSE \"${made}/examples\")
  file(COPY \"${PROJECT_SOURCE_DIR}/scenarios/examples\" DESTINATION \"${made}\")
  file(GLOB_RECURSE examples \"${made}/examples/*.yaml\")
  foreach(example IN LISTS examples)
    file(READ \"\${example}\" text)
    string(REPLACE \"../build/schema/\" \"../../stepcast/schema/\" text \"\${text}\")
    file(WRITE \"\${example}\" \"\${text}\")
  endforeach()")
install(DIRECTORY ${made}/examples DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES README.md CHANGELOG.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR})

# The C interface.
if(TARGET stepcast_shared)
  install(TARGETS stepcast_shared LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} OPTIONAL)
  install(FILES library/stepcast.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  # Relative to itself, as --prefix and packages choose the place after the build.
  file(RELATIVE_PATH up ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
  string(REGEX REPLACE "/$" "" up "${up}")
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/stepcast.pc @ONLY CONTENT [[
prefix=${pcfiledir}/@up@
Name: stepcast
Description: Forecasts of training steps, and costs of kernels and collectives
Version: @PROJECT_VERSION@
Libs: -L${pcfiledir}/.. -lstepcast
Cflags: -I${prefix}/@CMAKE_INSTALL_INCLUDEDIR@
]])
  install(FILES ${PROJECT_BINARY_DIR}/stepcast.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()

set(CPACK_PACKAGE_NAME stepcast)
set(CPACK_PACKAGE_VENDOR "the authors of stepcast")
set(CPACK_PACKAGE_CONTACT "the authors of stepcast <stepcast@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Forecasts one training step of a large language model on a cluster")
set(CPACK_GENERATOR DEB TGZ)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
include(CPack)
