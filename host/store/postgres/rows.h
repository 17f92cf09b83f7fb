// The result of a statement, read as binary. One owner; reading on any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

struct pg_result;

namespace runwarden::store::postgres {

// Views live as long as it does.
class Rows {
 public:
  explicit Rows(pg_result* result);

  std::size_t size() const { return rows_; }
  bool empty() const { return rows_ == 0; }
  // An int2, int4 or int8, depending on the column. Throws PgFault for another width.
  std::int64_t number(std::size_t row, int column) const;
  bool boolean(std::size_t row, int column) const;
  std::string_view bytes(std::size_t row, int column) const;  // of text and bytea
  bool is_null(std::size_t row, int column) const;
  std::uint64_t affected() const;  // rows that an INSERT, UPDATE or DELETE changed

 private:
  struct Clear {
    void operator()(pg_result* result) const;
  };
  std::unique_ptr<pg_result, Clear> result_;
  std::size_t rows_ = 0;
};

}  // namespace runwarden::store::postgres
