// A YAML document as typed values with their places: YAML 1.2 core typing, done here once and nowhere else. Any thread.
//
// Trees are built once and then only read; parts are shared where the document uses an alias.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace runwarden::config {

// Where something was written. Line and column count from 1; line 0 is a place without lines (an environment variable).
struct Place {
  std::shared_ptr<const std::string> file;
  int line = 0;
  int column = 0;

  std::string text() const;  // "runwarden.yaml:12:10"
};

struct Node;
using NodePtr = std::shared_ptr<const Node>;

struct Member {
  std::string key;
  Place key_place;
  NodePtr value;
};

struct Node {
  enum class Kind : std::uint8_t { null, boolean, integer, number, text, list, mapping };
  Kind kind = Kind::null;
  Place place;
  bool boolean = false;
  bool from_environment = false;  // its type is then what the key wants
  double number = 0;              // of an integer or number; may be infinite or no number
  std::string text;               // as it was written, quotes and escapes undone
  std::vector<NodePtr> items;
  std::vector<Member> members;  // in the order of the file, no key twice
  std::size_t size = 1;         // nodes in this part, aliases counted as often as they stand

  const Member* member(std::string_view key) const;
};

struct Fault {
  std::string path;  // "limits.burst"; empty: of the file as such
  Place place;
  std::string detail;

  std::string text() const;  // "config: limits.burst (runwarden.yaml:12:10): expected ..."
};

// A file's bounds: what is over them is refused, not read.
constexpr std::size_t kMaxFileBytes = 4 * 1024 * 1024;
constexpr std::size_t kMaxNodes = 200'000;
constexpr int kMaxDepth = 64;

// The one document in the text, null where it holds none, or nothing where it is no YAML: the fault is added then. Every
// key that stands twice is a fault as well.
NodePtr parse_yaml(std::string_view text, const std::string& file_name, std::vector<Fault>& faults);

// A scalar written outside a file, typed like a plain one.
NodePtr plain_scalar(std::string_view text, Place place);

// Appends the value as compact JSON text. What JSON has no text for (.inf, .nan) is a fault at its place.
void append_json(std::string& out, const Node& node, const std::string& path, std::vector<Fault>& faults);

// The part that an RFC 6901 pointer names, or the innermost one on the way that is there.
const Node& at_pointer(const Node& root, std::string_view pointer);

// "a mapping", "a list", "true", "\"ten\"": for fault texts, shortened.
std::string describe(const Node& node);

}  // namespace runwarden::config
