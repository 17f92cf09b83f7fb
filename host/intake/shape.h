// The shapes of JSON documents: which members an object has, their types, and names that clients mistake for them. Tables of
// constants; any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace runwarden::intake {

// The type of a member. A `lenient` member is an alias: with another type it counts as unknown.
enum class Want : std::uint8_t {
  text,
  text_or_json,       // a string, or any JSON value as compact text; null counts as absent
  text_or_json_null,  // the same, but null is the text "null"
  json,               // any JSON value as compact text (strings with quotation marks)
  boolean,
  code,    // a string, or a number as decimal text
  count,   // integer from 0 to 2^53
  amount,  // number >= 0
  time,    // RFC 3339, normalized to UTC milliseconds
  object,
  array_of_objects,
  ignored,  // server-owned: dropped
  lenient_count,
  lenient_amount,
  lenient_object,
  lenient_count_held,  // with another type it is given as JSON text and not written: an alias may take its place
};

struct Shape;

struct Field {
  std::string_view name;
  Want want;
  std::uint8_t slot;             // identifies the member to the derived class
  const Shape* inner = nullptr;  // of objects and arrays of objects
};

// A name that clients may mistake for a known member. It has no effect except a warning that names the known member.
struct Alias {
  std::string_view name;
  std::string_view field;
};

// A member that has its place in another object. It has no effect except a warning that names the place.
struct Elsewhere {
  std::string_view name;
  std::string_view pointer;  // "/metadata/costUsd"
};

struct Shape {
  std::span<const Field> fields;  // at most 64
  std::string_view noun;          // for error texts: "a step"
  std::span<const Alias> aliases = {};
  std::span<const std::string_view> own_words = {};  // close to a known name, but used for something else; in lower case
  std::span<const Elsewhere> elsewhere = {};
};

struct FieldValue {
  std::string_view text = {};  // kept in the arena
  bool boolean = false;
  std::int64_t integer = 0;  // a count, or UTC milliseconds
  double number = 0;
};

}  // namespace runwarden::intake
