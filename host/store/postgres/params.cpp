#include "store/postgres/params.h"

#include <utility>

namespace runwarden::store::postgres {
namespace {

// Type OIDs, as fixed in PostgreSQL's pg_type.dat.
constexpr std::uint32_t kBool = 16;
constexpr std::uint32_t kBytea = 17;
constexpr std::uint32_t kInt8 = 20;
constexpr std::uint32_t kInt2 = 21;
constexpr std::uint32_t kInt4 = 23;
constexpr std::uint32_t kText = 25;
constexpr std::uint32_t kByteaArray = 1001;
constexpr std::uint32_t kInt2Array = 1005;
constexpr std::uint32_t kInt4Array = 1007;
constexpr std::uint32_t kTextArray = 1009;
constexpr std::uint32_t kInt8Array = 1016;

template <class Number>
void put_be(std::string& bytes, Number number) {
  for (int shift = static_cast<int>(sizeof number) * 8 - 8; shift >= 0; shift -= 8) {
    bytes += static_cast<char>(static_cast<std::uint64_t>(number) >> shift & 255);
  }
}

// The head of a one-dimensional array, as array_send() writes it: dimensions, whether there are nulls, type, length, first index.
std::string array_head(std::uint32_t type, std::size_t length) {
  std::string bytes;
  put_be<std::int32_t>(bytes, length == 0 ? 0 : 1);
  put_be<std::int32_t>(bytes, 0);
  put_be<std::uint32_t>(bytes, type);
  if (length == 0) return bytes;
  put_be<std::int32_t>(bytes, static_cast<std::int32_t>(length));
  put_be<std::int32_t>(bytes, 1);
  return bytes;
}

}  // namespace

Params& Params::add(std::uint32_t type, std::string bytes) {
  values_.push_back({type, std::move(bytes), false});
  return *this;
}

Params& Params::i16(std::int16_t number) {
  std::string bytes;
  put_be(bytes, number);
  return add(kInt2, std::move(bytes));
}
Params& Params::i32(std::int32_t number) {
  std::string bytes;
  put_be(bytes, number);
  return add(kInt4, std::move(bytes));
}
Params& Params::i64(std::int64_t number) {
  std::string bytes;
  put_be(bytes, number);
  return add(kInt8, std::move(bytes));
}
Params& Params::boolean(bool value) {
  return add(kBool, std::string(1, value ? '\1' : '\0'));
}
Params& Params::text(std::string_view value) {
  return add(kText, std::string(value));
}
Params& Params::bytes(std::string_view value) {
  return add(kBytea, std::string(value));
}

Params& Params::i64_or_null(std::optional<std::int64_t> number) {
  if (number) return i64(*number);
  values_.push_back({kInt8, {}, true});
  return *this;
}

template <class Number>
Params& Params::add_numbers(std::uint32_t array_type, std::uint32_t type, std::span<const Number> numbers) {
  std::string bytes = array_head(type, numbers.size());
  for (const Number number : numbers) {
    put_be<std::int32_t>(bytes, sizeof number);
    put_be(bytes, number);
  }
  return add(array_type, std::move(bytes));
}

template <class Text>
Params& Params::add_texts(std::uint32_t array_type, std::uint32_t type, std::span<const Text> values) {
  std::string bytes = array_head(type, values.size());
  for (const Text& value : values) {
    put_be<std::int32_t>(bytes, static_cast<std::int32_t>(value.size()));
    bytes.append(value);
  }
  return add(array_type, std::move(bytes));
}

Params& Params::i16s(std::span<const std::int16_t> numbers) {
  return add_numbers(kInt2Array, kInt2, numbers);
}
Params& Params::i32s(std::span<const std::int32_t> numbers) {
  return add_numbers(kInt4Array, kInt4, numbers);
}
Params& Params::i64s(std::span<const std::int64_t> numbers) {
  return add_numbers(kInt8Array, kInt8, numbers);
}
Params& Params::texts(std::span<const std::string> values) {
  return add_texts(kTextArray, kText, values);
}
Params& Params::texts(std::span<const std::string_view> values) {
  return add_texts(kTextArray, kText, values);
}
Params& Params::byteas(std::span<const std::string> values) {
  return add_texts(kByteaArray, kBytea, values);
}
Params& Params::byteas(std::span<const std::string_view> values) {
  return add_texts(kByteaArray, kBytea, values);
}

}  // namespace runwarden::store::postgres
