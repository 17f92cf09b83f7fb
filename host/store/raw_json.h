// Splits JSON text into the texts of its members or elements: views into the original. For text that was parsed before, however deep. Pure;
// any thread. Throws BadValue if the text is not an object or array.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace runwarden::store {

std::vector<std::string_view> raw_elements(std::string_view array);

class RawObject {
 public:
  explicit RawObject(std::string_view object);

  std::optional<std::string_view> find(std::string_view name) const;
  // Throws BadValue if there is no such member.
  std::string_view at(std::string_view name) const;

 private:
  std::vector<std::pair<std::string, std::string_view>> members_;
};

}  // namespace runwarden::store
