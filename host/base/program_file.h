// Where this program's file is. Any thread.
#pragma once

#include <filesystem>

namespace runwarden {

// Without /proc (a chroot, some containers), the path that the kernel passed at exec.
std::filesystem::path program_file();

}  // namespace runwarden
