#include "config/yaml_tree.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <unordered_map>

#include "base/json_pointer.h"
#include "base/json_text.h"
#include "base/utf8.h"
#include "config/core_types.h"

namespace runwarden::config {
namespace {

constexpr std::string_view kCoreTag = "tag:yaml.org,2002:";

struct Refused {
  SourceLocation location;
  std::string detail;
};

// The text from that location to the end.
std::string_view text_from(std::string_view text, const YAML::Mark& mark) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  const std::size_t begin = text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
  return text.substr(std::min(begin + static_cast<std::size_t>(std::max(mark.pos, 0)), text.size()));
}

// Whether the quotation mark at the beginning is closed. If not, yaml-cpp reads the rest of the file as its text.
bool is_closed_scalar(std::string_view text) {
  const char quote = text.empty() ? '\0' : text.front();
  if (quote != '"' && quote != '\'') return true;
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] == quote && quote == '\'' && i + 1 < text.size() && text[i + 1] == quote) {
      ++i;
    } else if (text[i] == quote) {
      return true;
    } else if (text[i] == '\\' && quote == '"') {
      ++i;
    }
  }
  return false;
}

// yaml-cpp's messages for an unclosed bracket: it continues until something invalid in brackets.
bool is_about_brackets(std::string_view message) {
  return message == YAML::ErrorMsg::END_OF_MAP_FLOW || message == YAML::ErrorMsg::END_OF_SEQ_FLOW || message == YAML::ErrorMsg::FLOW_END ||
         message == YAML::ErrorMsg::BLOCK_ENTRY;
}

// yaml-cpp's messages for ambiguous structure.
bool is_about_structure(std::string_view message) {
  return message == YAML::ErrorMsg::TAB_IN_INDENTATION || message == YAML::ErrorMsg::MAP_VALUE || message == YAML::ErrorMsg::MAP_KEY ||
         message == YAML::ErrorMsg::BLOCK_ENTRY || message == YAML::ErrorMsg::END_OF_MAP || message == YAML::ErrorMsg::END_OF_SEQ;
}

// The column, from 1, of the first tab before the first word of a line, in its white space and list dashes.
std::optional<int> tab_in_indentation(std::string_view text, const YAML::Mark& mark) {
  const std::size_t at = text.size() - text_from(text, mark).size();
  const std::size_t begin = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;  // after the line before; npos + 1 is 0
  for (std::size_t i = begin; i < text.size(); ++i) {
    if (text[i] == '\t') return static_cast<int>(i - begin) + 1;
    const bool dash = text[i] == '-' && i + 1 < text.size() && (text[i + 1] == ' ' || text[i + 1] == '\t');
    if (text[i] != ' ' && !dash) break;
  }
  return std::nullopt;
}

// Builds the tree from yaml-cpp's events. Throws Refused at the first fatal fault.
class TreeBuilder final : public YAML::EventHandler {
 public:
  TreeBuilder(std::string_view text, std::shared_ptr<const std::string> file, std::vector<Fault>& faults)
      : text_(text), file_(std::move(file)), faults_(faults) {}

  // Throws the first deferred fault.
  NodePtr root() const {
    if (refused_) throw *refused_;
    return root_;
  }

  // The location and character of the innermost unclosed bracket.
  std::optional<std::pair<SourceLocation, char>> open_bracket() const {
    const auto found = std::find_if(open_.rbegin(), open_.rend(), [](const Open& open) { return open.opening != '\0'; });
    return found == open_.rend() ? std::nullopt : std::optional(std::pair(found->node.location, found->opening));
  }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    Node node;
    node.location = location(mark);
    // Report an empty value at its key; yaml-cpp gives the location of the next token.
    const bool has_key = !open_.empty() && open_.back().has_key;
    if (has_key && node.location.line > open_.back().key_location.line) node.location = open_.back().key_location;
    add(std::move(node), anchor);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) throw Refused{location(mark), "an alias refers to the node that contains it; write the value out"};
    if (wants_key()) throw Refused{location(mark), "an alias as a key; write the key out"};
    attach(found->second);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, const std::string& value) override {
    if (!is_closed_scalar(text_from(text_, mark))) throw Refused{location(mark), "not YAML: the quote that opens here is not closed"};
    if (wants_key()) {
      open_.back().key = value;
      open_.back().key_location = location(mark);
      open_.back().has_key = true;
      return;
    }
    Node node;
    node.location = location(mark);
    node.text = value;
    if (!type_scalar(node, tag)) {
      throw Refused{node.location, "\"" + value + "\" has the tag " + tag +
                                       "; only !!str, !!int, !!float, !!bool and !!null are supported, on matching values"};
    }
    add(std::move(node), anchor);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor, YAML::EmitterStyle::value style) override {
    open(Node::Kind::list, mark, anchor, style);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor, YAML::EmitterStyle::value style) override {
    open(Node::Kind::mapping, mark, anchor, style);
  }
  void OnMapEnd() override { close(); }

 private:
  struct Open {
    Node node;
    YAML::anchor_t anchor = 0;
    std::string key;
    SourceLocation key_location;
    bool has_key = false;
    char opening = '\0';  // the bracket; '\0' for block style
  };

  SourceLocation location(const YAML::Mark& mark) const { return {file_, mark.line + 1, mark.column + 1}; }

  bool wants_key() const { return !open_.empty() && open_.back().node.kind == Node::Kind::mapping && !open_.back().has_key; }

  // The path of the member just read: limits.burst, detectors.enabled[2].key.
  std::string path() const {
    std::string path;
    for (const Open& open : open_) {
      if (open.node.kind == Node::Kind::list) {
        path += "[" + std::to_string(open.node.items.size()) + "]";
      } else {
        path += (path.empty() ? "" : ".") + open.key;
      }
    }
    return path;
  }

  // yaml-cpp's tags: "?" plain, "!" quoted, otherwise empty or the full name.
  static bool type_scalar(Node& node, const std::string& tag) {
    if (tag == "!" || tag == std::string(kCoreTag) + "str") {
      node.kind = Node::Kind::text;
      return true;
    }
    type_plain(node);
    if (tag == "?" || tag.empty()) return true;
    if (!tag.starts_with(kCoreTag)) return false;
    const std::string_view name = std::string_view(tag).substr(kCoreTag.size());
    if (name == "float" && node.kind == Node::Kind::integer) node.kind = Node::Kind::number;
    return (name == "int" && node.kind == Node::Kind::integer) || (name == "float" && node.kind == Node::Kind::number) ||
           (name == "bool" && node.kind == Node::Kind::boolean) || (name == "null" && node.kind == Node::Kind::null);
  }

  void open(Node::Kind kind, const YAML::Mark& mark, YAML::anchor_t anchor, YAML::EmitterStyle::value style) {
    // Deferred, because an unclosed bracket looks like a key too.
    if (wants_key() && !refused_) refused_ = Refused{location(mark), "a key that is a list or a mapping; keys must be text"};
    if (static_cast<int>(open_.size()) >= kMaxDepth) {
      throw Refused{location(mark), "nested deeper than " + std::to_string(kMaxDepth) + " levels; flatten it"};
    }
    open_.emplace_back();
    open_.back().node.kind = kind;
    open_.back().node.location = location(mark);
    open_.back().anchor = anchor;
    const std::string_view written = text_from(text_, mark).substr(0, 1);
    if (style == YAML::EmitterStyle::Flow && (written == "[" || written == "{")) open_.back().opening = written.front();
  }

  void close() {
    Open done = std::move(open_.back());
    open_.pop_back();
    add(std::move(done.node), done.anchor);
  }

  void add(Node node, YAML::anchor_t anchor) {
    if (wants_key()) {
      if (!refused_) throw Refused{node.location, "a key without text; keys must be text"};
      open_.back().has_key = true;
      return;
    }
    auto shared = std::make_shared<const Node>(std::move(node));
    if (anchor != 0) anchors_[anchor] = shared;
    attach(std::move(shared));
  }

  void attach(NodePtr value) {
    if (open_.empty()) {
      root_ = std::move(value);
      return;
    }
    Open& parent = open_.back();
    parent.node.size += value->size;
    if (parent.node.size > kMaxNodes) {
      throw Refused{parent.node.location,
                    "more than " + std::to_string(kMaxNodes) + " values, counting each use of an alias; split the file"};
    }
    if (parent.node.kind == Node::Kind::list) {
      parent.node.items.push_back(std::move(value));
      return;
    }
    parent.has_key = false;
    if (const Member* first = parent.node.member(parent.key)) {
      faults_.push_back({path(), parent.key_location, "duplicate key, first defined at " + first->key_location.text() + "; remove one"});
      return;
    }
    parent.node.members.push_back({std::move(parent.key), parent.key_location, std::move(value)});
  }

  std::string_view text_;
  std::shared_ptr<const std::string> file_;
  std::vector<Fault>& faults_;
  std::vector<Open> open_;
  std::optional<Refused> refused_;
  std::unordered_map<YAML::anchor_t, NodePtr> anchors_;
  NodePtr root_;
};

// The line and column of a byte.
SourceLocation location_of_byte(std::shared_ptr<const std::string> file, std::string_view text, std::size_t at) {
  const std::string_view before = text.substr(0, at);
  const auto line_start = before.rfind('\n');
  const auto lines = std::count(before.begin(), before.end(), '\n');
  return {std::move(file), static_cast<int>(lines) + 1,
          static_cast<int>(line_start == std::string_view::npos ? at : at - line_start - 1) + 1};
}

NodePtr parse_documents(std::string_view text, TreeBuilder& builder, const std::shared_ptr<const std::string>& file) {
  std::istringstream in{std::string(text)};
  YAML::Parser parser(in);
  NodePtr root;
  if (parser.HandleNextDocument(builder)) root = builder.root();
  std::vector<Fault> ignored;
  TreeBuilder second(text, file, ignored);
  if (root && parser.HandleNextDocument(second)) {
    SourceLocation location = second.root() ? second.root()->location : SourceLocation{file, 0, 0};
    throw Refused{location, "a second document; a file holds only one, remove the --- between them"};
  }
  if (root) return root;
  Node empty;
  empty.location = {file, 1, 1};
  return std::make_shared<const Node>(std::move(empty));
}

// The bracket that is unclosed at the end of a truncated text.
std::optional<std::pair<SourceLocation, char>> unclosed_bracket(std::string_view text, const std::shared_ptr<const std::string>& file) {
  std::vector<Fault> ignored;
  TreeBuilder builder(text, file, ignored);
  try {
    parse_documents(text, builder, file);
  } catch (const Refused&) {
  } catch (const std::exception&) {  // expected: the text is truncated
  }
  return builder.open_bracket();
}

// Rewords a fault of yaml-cpp with its cause, location and remedy.
Fault explained(const YAML::Exception& fault, std::string_view text, const std::shared_ptr<const std::string>& file) {
  const SourceLocation where{file, fault.mark.line + 1, fault.mark.column + 1};
  const std::string_view rest = text_from(text, fault.mark);
  if (is_about_brackets(fault.msg)) {
    // Parse again up to the fault, because yaml-cpp may have read ahead.
    if (const auto bracket = unclosed_bracket(text.substr(0, text.size() - rest.size()), file)) {
      const auto& [location, opening] = *bracket;
      return {"", location,
              std::string("not YAML: the \"") + opening + "\" that opens here is not closed; expected \",\" or \"" +
                  (opening == '[' ? ']' : '}') + "\" before " + std::to_string(where.line) + ":" + std::to_string(where.column)};
    }
    if (fault.msg == YAML::ErrorMsg::FLOW_END) {
      return {"", where, "not YAML: the \"" + std::string(rest.substr(0, 1)) + "\" closes nothing; remove it, or quote the text"};
    }
  }
  if (const auto column = tab_in_indentation(text, fault.mark); column && is_about_structure(fault.msg)) {
    return {"", {file, where.line, *column}, "a tab in the indentation; YAML takes spaces only"};
  }
  return {"", where, "not YAML: " + fault.msg};
}

const Node* child(const Node& node, const std::string& token) {
  if (const Member* member = node.member(token)) return member->value.get();
  if (node.kind != Node::Kind::list || token.empty() || token.size() > 9) return nullptr;
  if (token.find_first_not_of("0123456789") != std::string::npos) return nullptr;
  const auto index = std::strtoul(token.c_str(), nullptr, 10);
  return index < node.items.size() ? node.items[index].get() : nullptr;
}

}  // namespace

std::string SourceLocation::text() const {
  std::string text = file ? *file : std::string("built-in");
  if (line > 0) text += ":" + std::to_string(line) + ":" + std::to_string(column);
  return text;
}

std::string Fault::text() const {
  if (path.empty()) return "config: " + location.text() + ": " + detail;
  return "config: " + path + " (" + location.text() + "): " + detail;
}

const Member* Node::member(std::string_view key) const {
  const auto found = std::find_if(members.begin(), members.end(), [&](const Member& member) { return member.key == key; });
  return found == members.end() ? nullptr : &*found;
}

NodePtr parse_yaml(std::string_view text, const std::string& file_name, std::vector<Fault>& faults) {
  const auto file = std::make_shared<const std::string>(file_name);
  if (text.size() > kMaxFileBytes) {
    faults.push_back(
        {"",
         {file, 0, 0},
         "the file has " + std::to_string(text.size()) + " bytes, at most " + std::to_string(kMaxFileBytes) + " are read; split it"});
    return nullptr;
  }
  const std::size_t bad = std::min(utf8_fault(text), std::min(text.find('\0'), text.size()));
  if (bad < text.size()) {
    faults.push_back({"", location_of_byte(file, text, bad), "a byte that is not UTF-8 text; save the file as UTF-8"});
    return nullptr;
  }
  TreeBuilder builder(text, file, faults);
  try {
    return parse_documents(text, builder, file);
  } catch (const Refused& refused) {
    faults.push_back({"", refused.location, refused.detail});
  } catch (const YAML::Exception& fault) {
    faults.push_back(explained(fault, text, file));
  } catch (const std::exception& fault) {  // yaml-cpp lets some exceptions of the standard library escape
    faults.push_back({"", {file, 0, 0}, std::string("not YAML: ") + fault.what()});
  }
  return nullptr;
}

NodePtr plain_scalar(std::string_view text, SourceLocation location) {
  Node node;
  node.location = std::move(location);
  node.text = text;
  type_plain(node);
  return std::make_shared<const Node>(std::move(node));
}

void append_json(std::string& out, const Node& node, const std::string& path, std::vector<Fault>& faults) {
  const char* comma = "";
  switch (node.kind) {
    case Node::Kind::null: out += "null"; return;
    case Node::Kind::boolean: out += node.boolean ? "true" : "false"; return;
    case Node::Kind::text: append_json_string(out, node.text); return;
    case Node::Kind::integer:
    case Node::Kind::number:
      if (!std::isfinite(node.number)) {
        faults.push_back({path, node.location,
                          "expected a number within a double's range, got " + describe(node) + "; write a smaller one, or quote it"});
      }
      if (node.kind == Node::Kind::integer) {
        out += integer_digits(node.text);
      } else {
        append_json_number(out, node.number);
      }
      return;
    case Node::Kind::list:
      out += '[';
      for (std::size_t i = 0; i < node.items.size(); ++i, comma = ",") {
        out += comma;
        append_json(out, *node.items[i], path + "[" + std::to_string(i) + "]", faults);
      }
      out += ']';
      return;
    case Node::Kind::mapping:
      out += '{';
      for (const Member& member : node.members) {
        out += comma;
        append_json_string(out, member.key);
        out += ':';
        append_json(out, *member.value, path + "." + member.key, faults);
        comma = ",";
      }
      out += '}';
      return;
  }
}

const Node& at_pointer(const Node& root, std::string_view pointer) {
  const Node* node = &root;
  while (!pointer.empty() && pointer.front() == '/') {
    const auto end = pointer.find('/', 1);
    const Node* next = child(*node, pointer_name(pointer.substr(1, end == std::string_view::npos ? end : end - 1)));
    if (!next) break;
    node = next;
    pointer = end == std::string_view::npos ? std::string_view{} : pointer.substr(end);
  }
  return *node;
}

SourceLocation key_at_pointer(const Node& root, std::string_view pointer) {
  const auto last = pointer.rfind('/');
  if (last == std::string_view::npos) return root.location;
  const Member* const member = at_pointer(root, pointer.substr(0, last)).member(pointer_name(pointer.substr(last + 1)));
  return member ? member->key_location : at_pointer(root, pointer).location;
}

std::string describe(const Node& node) {
  constexpr std::size_t kShown = 60;
  switch (node.kind) {
    case Node::Kind::null: return "nothing";
    case Node::Kind::list: return "a list";
    case Node::Kind::mapping: return "a mapping";
    case Node::Kind::boolean:
    case Node::Kind::integer:
    case Node::Kind::number: return node.text.size() > kShown ? node.text.substr(0, kShown) + "..." : node.text;
    case Node::Kind::text: break;
  }
  std::string text = node.text;
  if (text.size() > kShown) text = std::string(utf8_prefix(text, kShown)) + "...";
  std::string quoted;
  append_json_string(quoted, text);
  return quoted;
}

}  // namespace runwarden::config
