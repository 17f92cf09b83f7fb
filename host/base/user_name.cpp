#include "base/user_name.h"

#include <pwd.h>

#include <array>

namespace runwarden {

std::string user_name(unsigned id) {
  std::array<char, 4096> text{};
  passwd entry{};
  passwd* found = nullptr;
  if (::getpwuid_r(id, &entry, text.data(), text.size(), &found) == 0 && found != nullptr) return found->pw_name;
  return std::to_string(id);
}

}  // namespace runwarden
