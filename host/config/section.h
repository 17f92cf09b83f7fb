// Reads one mapping of the configuration member by member into typed values and records all faults. One thread.
//
// An absent member leaves the value unchanged: the defaults are in the settings' structs.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "config/yaml_tree.h"

namespace runwarden::config {

// The results of reading a configuration: the faults, and all known keys by path with their values.
struct Reading {
  std::vector<Fault> faults;
  std::vector<std::string> known;
  std::map<std::string, std::string> values;     // as text, including defaults
  std::map<std::string, std::string> locations;  // of the values that were set
};

struct Range {
  std::int64_t low;
  std::int64_t high;
};

// What is wrong with an item of a list; empty: nothing.
using ItemFault = std::function<std::string(const std::string& item)>;

class Section {
 public:
  // If `node` is null or of kind null, the section is empty. Any other kind except a mapping is a fault.
  Section(const Node* node, std::string path, Reading& reading);
  Section(const Section&) = delete;
  Section& operator=(const Section&) = delete;
  // Records a fault for each unknown member.
  ~Section();

  // The member, or null if absent. Marks the key as known.
  const Node* take(std::string_view key);

  void integer(std::string_view key, Range range, std::int64_t& value);
  void number(std::string_view key, Range range, double& value);
  void boolean(std::string_view key, bool& value);
  void text(std::string_view key, std::string& value);
  void choice(std::string_view key, const std::vector<std::string>& choices, std::string& value);
  void size(std::string_view key, Range range, std::int64_t& bytes);
  void duration(std::string_view key, Range range, std::int64_t& ms);
  void duration_or_forever(std::string_view key, Range range, std::int64_t& ms);
  // A list of non-empty texts, which replaces the value. A faulty item is reported at its own location.
  void texts(std::string_view key, std::vector<std::string>& value, const ItemFault& item_fault = {});
  // Such a list of addresses, CIDR blocks and hosts.
  void peers(std::string_view key, std::vector<std::string>& value);

  std::string path_of(std::string_view key) const;
  void fault(std::string_view key, const Node& node, const std::string& expected);

 private:
  template <class Value>
  class Noted;

  const Node* node_;
  std::string path_;
  Reading& reading_;
  std::vector<std::string> keys_;
};

// A text value: any value from the environment, only text from a file.
bool is_text(const Node& node);

// Formats as in the configuration: "8MiB", "90d".
std::string size_text(std::int64_t bytes);
std::string duration_text(std::int64_t ms);

}  // namespace runwarden::config
