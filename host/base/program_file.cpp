#include "base/program_file.h"

#include <sys/auxv.h>

#include <system_error>

namespace runwarden {

std::filesystem::path program_file() {
  std::error_code fault;
  std::filesystem::path file = std::filesystem::read_symlink("/proc/self/exe", fault);
  const auto* started_by = reinterpret_cast<const char*>(::getauxval(AT_EXECFN));
  return fault && started_by != nullptr ? std::filesystem::canonical(started_by, fault) : file;
}

}  // namespace runwarden
