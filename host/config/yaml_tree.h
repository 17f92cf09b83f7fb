// A YAML document as typed values with their locations, typed by the YAML 1.2 core schema. Any thread.
//
// Trees are immutable once built. Aliases share nodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace runwarden::config {

// A location in a source. Line and column count from 1; line 0: a source without lines (an environment variable).
struct SourceLocation {
  std::shared_ptr<const std::string> file;
  int line = 0;
  int column = 0;

  std::string text() const;  // "runwarden.yaml:12:10"
};

struct Node;
using NodePtr = std::shared_ptr<const Node>;

struct Member {
  std::string key;
  SourceLocation key_location;
  NodePtr value;
};

struct Node {
  enum class Kind : std::uint8_t { null, boolean, integer, number, text, list, mapping };
  Kind kind = Kind::null;
  SourceLocation location;
  bool boolean = false;
  bool from_environment = false;  // takes the type that the key expects
  double number = 0;              // of an integer or number; may be infinite or NaN
  std::string text;               // as written, without quotes and escapes
  std::vector<NodePtr> items;
  std::vector<Member> members;  // in file order, with unique keys
  std::size_t size = 1;         // nodes in this subtree, counting each use of an alias

  const Member* member(std::string_view key) const;
};

struct Fault {
  std::string path;  // "limits.burst"; empty: the file as a whole
  SourceLocation location;
  std::string detail;

  std::string text() const;  // "config: limits.burst (runwarden.yaml:12:10): expected ..."
};

// Limits of a file; anything beyond them is refused.
constexpr std::size_t kMaxFileBytes = 4 * 1024 * 1024;
constexpr std::size_t kMaxNodes = 200'000;
constexpr int kMaxDepth = 64;

// Parses the single document in the text: a null node if there is none; nothing, with a fault added, if the text is not YAML. A duplicate
// key is a fault too.
NodePtr parse_yaml(std::string_view text, const std::string& file_name, std::vector<Fault>& faults);

// A scalar from outside a file, typed like a plain scalar.
NodePtr plain_scalar(std::string_view text, SourceLocation location);

// Appends the value as compact JSON text. Values that JSON cannot express (.inf, .nan) are faults.
void append_json(std::string& out, const Node& node, const std::string& path, std::vector<Fault>& faults);

// The node at an RFC 6901 pointer, or else its innermost existing ancestor.
const Node& at_pointer(const Node& root, std::string_view pointer);

// Where the key of the member at the pointer is written; of anything else, its value.
SourceLocation key_at_pointer(const Node& root, std::string_view pointer);

// "a mapping", "a list", "true", "\"ten\"": a short description for fault texts.
std::string describe(const Node& node);

}  // namespace runwarden::config
