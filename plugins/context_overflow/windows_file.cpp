#include "context_overflow/windows_file.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string_view>

#include "text/fold.h"

namespace runwarden::plugins {
namespace {

class WindowsReader {
 public:
  explicit WindowsReader(const std::string& path) : path_(path) {}

  std::vector<WindowRow> read(const YAML::Node& root) {
    if (!root.IsMap()) refuse(line_of(root), "expected a mapping of names to tokens; write `\"gpt-5\": 400000`");
    std::vector<WindowRow> rows;
    for (const auto& member : root) rows.push_back(read_row(member.first, member.second));
    return rows;
  }

 private:
  static int line_of(const YAML::Node& node) { return std::max(node.Mark().line, 0) + 1; }

  [[noreturn]] void refuse(int line, const std::string& fault) const {
    throw std::invalid_argument(path_ + ":" + std::to_string(line) + ": " + fault);
  }

  WindowRow read_row(const YAML::Node& name, const YAML::Node& tokens) {
    WindowRow row{name.IsScalar() ? name.Scalar() : "", 0, line_of(name)};
    const auto good = [](char c) { return is_lower(c) || is_digit(c) || std::string_view(".-[]").find(c) != std::string_view::npos; };
    if (row.name.empty() || !std::all_of(row.name.begin(), row.name.end(), good)) {
      refuse(row.line, "expected a name of lower-case letters, digits, \".\", \"-\", \"[\" and \"]\", got \"" + row.name + "\"");
    }
    const auto [first, fresh] = lines_.emplace(row.name, row.line);
    if (!fresh) refuse(row.line, row.name + ": already listed in line " + std::to_string(first->second) + "; remove one of the two");
    const auto digits = tokens.IsScalar() ? tokens.Scalar() : "";
    const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), row.tokens);
    const bool whole = fault == std::errc{} && end == digits.data() + digits.size();
    if (!whole || row.tokens < kFewestTokens || row.tokens > kMostTokens) {
      refuse(row.line, row.name + ": expected a number of tokens from " + std::to_string(kFewestTokens) + " to " +
                           std::to_string(kMostTokens) + ", got \"" + digits + "\"");
    }
    return row;
  }

  const std::string& path_;
  std::map<std::string, int> lines_;
};

}  // namespace

std::vector<WindowRow> read_windows(const std::string& text, const std::string& path) {
  try {
    return WindowsReader(path).read(YAML::Load(text));
  } catch (const YAML::Exception& fault) {
    throw std::invalid_argument(path + ":" + std::to_string(fault.mark.line + 1) + ": " + fault.msg + "; write it as YAML");
  }
}

std::vector<WindowRow> read_windows_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  if (!file) throw std::invalid_argument(path + ": cannot be read");
  return read_windows(text.str(), path);
}

}  // namespace runwarden::plugins
