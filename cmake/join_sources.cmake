# With RUNWARDEN_JOIN_SOURCES, the sources of a library or of a test program are compiled in groups of eight (CMake's unity builds). Most of the time of a build
# goes into headers, so this takes about half as long. The release and clang presets compile each file by itself and so detect missing
# includes.
#
# APART: sources that use a name for something else than other sources of the target do. They are compiled by themselves.
function(runwarden_join_sources target)
  cmake_parse_arguments(PARSE_ARGV 1 JOIN "" "" "APART")
  if(NOT RUNWARDEN_JOIN_SOURCES)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
  set_source_files_properties(${JOIN_APART} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  # GCC treats the sources of a group as headers, where it warns of a class that has a member of a type from an unnamed namespace. With
  # half a GiB before it first collects garbage, it takes about a tenth less time.
  target_compile_options(${target} PRIVATE "$<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage;--param=ggc-min-heapsize=524288>")
endfunction()
