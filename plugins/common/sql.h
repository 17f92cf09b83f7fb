#pragma once

#include <cstdint>
#include <string_view>

namespace runwarden::plugins {

/// What a statement of SQL, or of GraphQL, does.
enum class Statement : std::uint8_t {
  kNone,
  kQuery,       // "select"
  kChangeRows,  // "update"
  kOther,       // "create table", "mutation"
};

/// The statement that begins a text; kNone for text that begins otherwise. Letter case and blanks before it do not matter. Any thread.
[[nodiscard]] Statement statement_of(std::string_view text);

/// True when such a statement begins the input of a call, or, in JSON, one of its texts. Linear; any thread.
[[nodiscard]] bool has_statement(std::string_view input, Statement wanted);

/// True for the input of a call that has queries and no other statements. Linear; any thread.
[[nodiscard]] bool only_queries(std::string_view input);

}  // namespace runwarden::plugins
