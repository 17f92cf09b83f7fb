#include "config/file_text.h"

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "base/open_fault.h"
#include "config/yaml_tree.h"

namespace runwarden::config {

Result<std::string> read_file(const std::string& path) {
  const auto refused = [&](int code) {
    return Error{Code::not_found, "cannot read the file: " + open_fault(path, code, OpenFor::reading), {}, {}};
  };
  std::error_code fault;
  if (std::filesystem::is_directory(path, fault)) return refused(EISDIR);
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  if (!in) return refused(errno);
  std::string text(kMaxFileBytes + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (in.bad()) return refused(errno);
  text.resize(static_cast<std::size_t>(in.gcount()));
  return text;
}

}  // namespace runwarden::config
