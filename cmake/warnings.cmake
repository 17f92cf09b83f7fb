# Warnings and sanitizers of every target of this project.
add_library(runwarden_flags INTERFACE)
target_compile_options(runwarden_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor)
# GCC 12 sees overlapping copies in "text" + std::to_string(n) where there are none (GCC bug 105329).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(runwarden_flags INTERFACE -Wno-restrict)
endif()
if(RUNWARDEN_WERROR)
  target_compile_options(runwarden_flags INTERFACE -Werror)
endif()
if(RUNWARDEN_SANITIZE)
  add_compile_options(-fsanitize=${RUNWARDEN_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${RUNWARDEN_SANITIZE})
endif()
