// The parameters of a statement, in binary. One owner, one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace runwarden::store::postgres {

// $1 first. Texts are copied.
class Params {
 public:
  Params& i16(std::int16_t number);
  Params& i32(std::int32_t number);
  Params& i64(std::int64_t number);
  Params& boolean(bool value);
  Params& text(std::string_view value);
  Params& bytes(std::string_view value);
  Params& i64_or_null(std::optional<std::int64_t> number);
  Params& i16s(std::span<const std::int16_t> numbers);
  Params& i32s(std::span<const std::int32_t> numbers);
  Params& i64s(std::span<const std::int64_t> numbers);
  Params& booleans(std::span<const bool> values) = delete;
  Params& texts(std::span<const std::string> values);
  Params& texts(std::span<const std::string_view> values);
  Params& byteas(std::span<const std::string> values);
  Params& byteas(std::span<const std::string_view> values);

  std::size_t size() const { return values_.size(); }

 private:
  friend class Connection;
  struct Value {
    std::uint32_t type = 0;
    std::string bytes;
    bool null = false;
  };
  Params& add(std::uint32_t type, std::string bytes);
  template <class Text>
  Params& add_texts(std::uint32_t array_type, std::uint32_t type, std::span<const Text> values);
  template <class Number>
  Params& add_numbers(std::uint32_t array_type, std::uint32_t type, std::span<const Number> numbers);

  std::vector<Value> values_;
};

}  // namespace runwarden::store::postgres
