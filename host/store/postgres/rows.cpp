#include "store/postgres/rows.h"

#include <libpq-fe.h>

#include <cstdlib>

#include "store/postgres/fault.h"

namespace runwarden::store::postgres {
namespace {

std::uint64_t get_be(std::string_view bytes) {
  std::uint64_t number = 0;
  for (const char byte : bytes) number = number << 8 | static_cast<std::uint8_t>(byte);
  return number;
}

}  // namespace

void Rows::Clear::operator()(pg_result* result) const {
  PQclear(result);
}

Rows::Rows(pg_result* result) : result_(result), rows_(static_cast<std::size_t>(PQntuples(result))) {}

std::string_view Rows::bytes(std::size_t row, int column) const {
  const int at = static_cast<int>(row);
  return {PQgetvalue(result_.get(), at, column), static_cast<std::size_t>(PQgetlength(result_.get(), at, column))};
}

std::int64_t Rows::number(std::size_t row, int column) const {
  const std::string_view value = bytes(row, column);
  switch (value.size()) {
    case 2: return static_cast<std::int16_t>(get_be(value));
    case 4: return static_cast<std::int32_t>(get_be(value));
    case 8: return static_cast<std::int64_t>(get_be(value));
    default: throw PgFault(PgFault::Kind::other, {}, "the database returned a number of " + std::to_string(value.size()) + " bytes");
  }
}

bool Rows::boolean(std::size_t row, int column) const {
  return bytes(row, column) == std::string_view("\1", 1);
}
bool Rows::is_null(std::size_t row, int column) const {
  return PQgetisnull(result_.get(), static_cast<int>(row), column) != 0;
}

std::uint64_t Rows::affected() const {
  const char* const count = PQcmdTuples(result_.get());
  return count == nullptr || *count == '\0' ? 0 : std::strtoull(count, nullptr, 10);
}

}  // namespace runwarden::store::postgres
