// Reads one mapping of the configuration member by member, into typed values, and notes every fault. One thread.
//
// A member that is absent leaves the value as it is: the defaults are those of the settings' structs.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "config/yaml_tree.h"

namespace runwarden::config {

// What reading a configuration gathers: the faults, every key that was asked for, known by its path, and the value it has now.
struct Reading {
  std::vector<Fault> faults;
  std::vector<std::string> known;
  std::map<std::string, std::string> values;  // as text; of defaults, too
};

struct Range {
  std::int64_t low;
  std::int64_t high;
};

class Section {
 public:
  // `node` may be null or of kind null: then the section is empty. Anything but a mapping is a fault.
  Section(const Node* node, std::string path, Reading& reading);
  Section(const Section&) = delete;
  Section& operator=(const Section&) = delete;
  // Notes every member that nobody asked for.
  ~Section();

  // The member if it is there, else null; the key is known from now on.
  const Node* take(std::string_view key);

  void integer(std::string_view key, Range range, std::int64_t& value);
  void number(std::string_view key, Range range, double& value);
  void boolean(std::string_view key, bool& value);
  void text(std::string_view key, std::string& value);
  void choice(std::string_view key, const std::vector<std::string>& choices, std::string& value);
  void size(std::string_view key, Range range, std::int64_t& bytes);
  void duration(std::string_view key, Range range, std::int64_t& ms);
  void duration_or_forever(std::string_view key, Range range, std::int64_t& ms);
  // Texts that are not empty. A list that is there takes the place of the value.
  void texts(std::string_view key, std::vector<std::string>& value);

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

// A text value: of the environment whatever it looks like, of a file what is written as text.
bool is_text(const Node& node);

// "8MiB", "90d": as these settings are written.
std::string size_text(std::int64_t bytes);
std::string duration_text(std::int64_t ms);

}  // namespace runwarden::config
