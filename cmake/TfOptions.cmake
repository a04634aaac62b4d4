# Warnings, sanitizers and the interface target that every part of the project links.
add_library(tf_options INTERFACE)
target_compile_options(tf_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes
                                            $<$<BOOL:${TF_WERROR}>:-Werror>)
target_compile_definitions(tf_options INTERFACE _GNU_SOURCE TF_ARENA_MALLOC=$<BOOL:${TF_ARENA_MALLOC}>)
target_include_directories(tf_options INTERFACE "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/lib")
# Whether linkers do so by themselves depends on the system; cached code is found again by the id of the build that made it.
target_link_options(tf_options INTERFACE -Wl,--build-id)
if(TF_SANITIZE)
  target_compile_options(tf_options INTERFACE -fsanitize=${TF_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(tf_options INTERFACE -fsanitize=${TF_SANITIZE})
endif()

# tf_add_library(NAME SOURCES … [LIBS …]): one folder of lib/.
function(tf_add_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC tf_options ${ARG_LIBS})
endfunction()
