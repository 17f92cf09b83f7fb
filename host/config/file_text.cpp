#include "config/file_text.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "config/yaml_tree.h"

namespace runwarden::config {

Result<std::string> read_file(const std::string& path) {
  const auto refused = [&](const std::string& why) {
    return Error{Code::not_found, "cannot read the file: " + why + "; check its path and that this user may read it", {}, {}};
  };
  std::error_code fault;
  if (std::filesystem::is_directory(path, fault)) return refused("it is a folder");
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  if (!in) return refused(std::strerror(errno));
  std::string text(kMaxFileBytes + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (in.bad()) return refused(std::strerror(errno));
  text.resize(static_cast<std::size_t>(in.gcount()));
  return text;
}

}  // namespace runwarden::config
