# The presets that test compile eight files of a library at a time, which takes half as long: most of the time goes into headers. The release
# and clang presets compile each file for itself, so that a header that a file lacks is found.
#
# APART names the files that cannot share a translation unit with others, since they use a name for something else.
function(runwarden_join_sources target)
  cmake_parse_arguments(PARSE_ARGV 1 JOIN "" "" "APART")
  if(NOT RUNWARDEN_JOIN_SOURCES)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
  set_source_files_properties(${JOIN_APART} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  # A class of one file may well hold what is that file's own.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endfunction()
