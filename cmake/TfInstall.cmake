# The installed libraries, each shared and static, and how other projects find them.
#
#   <prefix>/include/tilefoundry/*.h, *.def
#   <prefix>/lib/libtilefoundry.so, .a            TileFoundry::tilefoundry    TileFoundry::tilefoundry-static
#   <prefix>/lib/libtilefoundry-runtime.so, .a    TileFoundry::runtime        TileFoundry::runtime-static
#   <prefix>/lib/libtfsim.so                      the CUDA driver's symbols over the simulated device
#   <prefix>/share/man/man1/                      manual pages of the tools (bin/tf-llc, bin/tf-run)
#   <prefix>/lib/pkgconfig/, <prefix>/lib/cmake/TileFoundry/
#
# Both hold lib/Support. That is harmless: what they share has no state, and each library calls its own copy.
include(CMakePackageConfigHelpers)
set(TF_PACKAGE_DIR "${CMAKE_INSTALL_LIBDIR}/cmake/TileFoundry")

# tf_install_library(NAME [EXPORT_NAME NAME] FOLDERS … LIBS …): libNAME.so and libNAME.a from the objects of the folders.
function(tf_install_library name)
  cmake_parse_arguments(ARG "" "EXPORT_NAME" "FOLDERS;LIBS" ${ARGN})
  if(NOT ARG_EXPORT_NAME)
    set(ARG_EXPORT_NAME ${name})
  endif()
  list(TRANSFORM ARG_FOLDERS REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>" OUTPUT_VARIABLE objects)

  add_library(${name} SHARED ${objects})
  target_link_libraries(${name} PRIVATE tf_options ${ARG_LIBS})
  target_link_options(${name} PRIVATE -Wl,-Bsymbolic-functions)
  if(NOT TF_SANITIZE) # a sanitizer's functions are the executable's
    target_link_options(${name} PRIVATE -Wl,-z,defs)
  endif()
  set_target_properties(${name} PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
                                           EXPORT_NAME ${ARG_EXPORT_NAME} LINKER_LANGUAGE C)
  install(TARGETS ${name} EXPORT TileFoundryTargets INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")

  add_library(${name}-static STATIC ${objects})
  target_link_libraries(${name}-static INTERFACE ${ARG_LIBS})
  set_target_properties(${name}-static PROPERTIES OUTPUT_NAME ${name} EXPORT_NAME ${ARG_EXPORT_NAME}-static
                                                  LINKER_LANGUAGE C)
  install(TARGETS ${name}-static EXPORT TileFoundryStaticTargets INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
endfunction()

# Headers, manual pages, pkg-config files, and the CMake package.
function(tf_install_package)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/tilefoundry" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
          FILES_MATCHING PATTERN "*.h" PATTERN "*.def")
  install(TARGETS tfsim)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/docs/man/" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1" FILES_MATCHING PATTERN "*.1")
  # From the .pc file up to the prefix, so that an installed tree can be moved.
  file(RELATIVE_PATH TF_PREFIX_FROM_PC "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
  set(TF_LLVM_LIBRARY_NAME "LLVM-${LLVM_VERSION_MAJOR}")
  foreach(name tilefoundry tilefoundry-runtime)
    configure_file("${PROJECT_SOURCE_DIR}/cmake/${name}.pc.in" "${CMAKE_CURRENT_BINARY_DIR}/${name}.pc" @ONLY)
    install(FILES "${CMAKE_CURRENT_BINARY_DIR}/${name}.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
  endforeach()
  configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/TileFoundryConfig.cmake.in"
                                "${CMAKE_CURRENT_BINARY_DIR}/TileFoundryConfig.cmake"
                                INSTALL_DESTINATION "${TF_PACKAGE_DIR}")
  write_basic_package_version_file("${CMAKE_CURRENT_BINARY_DIR}/TileFoundryConfigVersion.cmake"
                                   COMPATIBILITY SameMinorVersion)
  install(FILES "${CMAKE_CURRENT_BINARY_DIR}/TileFoundryConfig.cmake"
                "${CMAKE_CURRENT_BINARY_DIR}/TileFoundryConfigVersion.cmake" DESTINATION "${TF_PACKAGE_DIR}")
  foreach(set TileFoundryTargets TileFoundryStaticTargets)
    install(EXPORT ${set} NAMESPACE TileFoundry:: DESTINATION "${TF_PACKAGE_DIR}")
  endforeach()
endfunction()
