// A table for people: columns as wide as their widest cell. One thread.
#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace runwarden::cli {

class Table {
 public:
  explicit Table(std::vector<std::string> titles) { rows_.push_back(std::move(titles)); }

  // Takes as many texts as there are titles. Shows control characters as '?'.
  void add(std::vector<std::string> texts);
  void print(std::ostream& out) const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace runwarden::cli
