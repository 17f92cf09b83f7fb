// The path of this program's file. Any thread.
#pragma once

#include <filesystem>

namespace runwarden {

// Without /proc (a chroot, some containers), the path that the kernel passed at exec.
std::filesystem::path program_file();

}  // namespace runwarden
