# tf_unit_test(NAME SOURCES … [LIBS …]): a Check program (test/unit/Harness.h), registered in CTest as unit.NAME.
pkg_check_modules(CHECK REQUIRED IMPORTED_TARGET check)

function(tf_unit_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBS" ${ARGN})
  add_executable(unit-${name} ${ARG_SOURCES})
  # Check's own macros are not clean under these two.
  target_compile_options(unit-${name} PRIVATE -Wno-conversion -Wno-pedantic)
  target_include_directories(unit-${name} PRIVATE ${PROJECT_SOURCE_DIR}/test/unit)
  target_link_libraries(unit-${name} PRIVATE tf_options ${ARG_LIBS} PkgConfig::CHECK)
  add_test(NAME unit.${name} COMMAND unit-${name})
  set_tests_properties(unit.${name} PROPERTIES ENVIRONMENT "CK_FORK=no" TIMEOUT 300 LABELS unit)
endfunction()
