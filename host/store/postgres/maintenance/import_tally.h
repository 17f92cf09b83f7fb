// What has become of the lines of an import so far. Internal to this folder; one thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "store/key_encoding.h"
#include "store/maintenance_commands.h"
#include "store/record_lines.h"

namespace runwarden::store::postgres {

// A line that stops the import; without a number, the line that was read last.
struct BadLine : std::runtime_error {
  explicit BadLine(const std::string& text, std::optional<std::uint64_t> line = std::nullopt) : std::runtime_error(text), number(line) {}
  std::optional<std::uint64_t> number;
};

// A line, and the record read from it.
template <class Record>
struct TakenLine {
  std::uint64_t number = 0;
  ReadLine line;
  const Record& record() const { return std::get<Record>(line.record); }
};
template <class Record>
using TakenLines = std::vector<TakenLine<Record>>;

class ImportTally {
 public:
  void stored(const char* kind, const model::RecordKey& key) {
    ++imported_.stored[kind];
    highest_start_ = std::max(highest_start_, key.seq >> kCounterBits);
  }
  void already_there() { ++imported_.already_there; }
  void conflict(std::uint64_t line, std::string detail) {
    ++imported_.conflicts;
    if (imported_.first_ones.size() < kMostTold) imported_.first_ones.push_back({line, std::move(detail)});
  }
  void tenant(std::string name) { imported_.tenants.push_back(std::move(name)); }

  // Whether to store the row: its place is free, and is taken from now on. The same value there counts as already there; another one is a
  // conflict.
  template <class Key, class Line>
  bool is_free(std::map<Key, std::string>& there, const Key& place, std::string_view key, const std::string& value, const Line& line,
               const std::string& what) {
    const auto [found, is_new] = there.try_emplace(place, value);
    if (is_new) return true;
    bool same = false;
    try {
      same = same_value(key, found->second, value);
    } catch (const BadValue&) {  // the stored value cannot be read: it is another one
    }
    same ? already_there() : conflict(line.number, what + " already exists with different content; the stored record was kept");
    return false;
  }

  std::uint64_t conflicts() const { return imported_.conflicts; }
  bool any_tenant() const { return !imported_.tenants.empty(); }
  std::uint64_t highest_start() const { return highest_start_; }  // of all imported records
  // Sorts conflicts by line, because lines are examined kind by kind.
  Imported take() {
    std::stable_sort(imported_.first_ones.begin(), imported_.first_ones.end(),
                     [](const auto& a, const auto& b) { return a.line < b.line; });
    return std::move(imported_);
  }

 private:
  Imported imported_;
  std::uint64_t highest_start_ = 0;
};

}  // namespace runwarden::store::postgres
