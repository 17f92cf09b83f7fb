# Warnings and sanitizers of every target of this project.
add_library(runwarden_flags INTERFACE)
target_compile_options(runwarden_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor)
# GCC 12 sees overlapping copies in "text" + std::to_string(n) where there are none (GCC bug 105329), and with -O3 members of a temporary
# that an exception would leave uninitialized.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(runwarden_flags INTERFACE -Wno-restrict $<$<CONFIG:Release>:-Wno-maybe-uninitialized>)
endif()
# The annotations of host/base/mutex.h.
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  target_compile_options(runwarden_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wthread-safety>)
endif()
if(RUNWARDEN_WERROR)
  target_compile_options(runwarden_flags INTERFACE -Werror)
endif()
if(RUNWARDEN_SANITIZE)
  # Of UBSan's checks, these four double the time of compiling and say nothing here that AddressSanitizer would not.
  add_compile_options(-fsanitize=${RUNWARDEN_SANITIZE} -fno-sanitize=null,alignment,vptr,object-size -fno-sanitize-recover=all
                      -fno-omit-frame-pointer)
  # In code that it has instrumented, GCC 12 sees accesses out of bounds that the dev build does not have.
  target_compile_options(runwarden_flags INTERFACE -Wno-array-bounds -Wno-stringop-overread -Wno-stringop-overflow)
  add_link_options(-fsanitize=${RUNWARDEN_SANITIZE})
endif()
