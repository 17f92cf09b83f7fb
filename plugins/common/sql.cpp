#include "common/sql.h"

#include <algorithm>
#include <iterator>

#include "common/json_scan.h"
#include "text/ascii.h"
#include "text/fold.h"

namespace runwarden::plugins {
namespace {

struct Opening {
  std::string_view text;
  Statement statement;
};

constexpr Opening kOpenings[] = {
    {"select ", Statement::kQuery},      {"insert ", Statement::kChangeRows}, {"update ", Statement::kChangeRows},
    {"delete ", Statement::kChangeRows}, {"merge ", Statement::kChangeRows},  {"drop ", Statement::kOther},
    {"alter ", Statement::kOther},       {"create table", Statement::kOther}, {"create index", Statement::kOther},
    {"grant ", Statement::kOther},       {"revoke ", Statement::kOther},      {"truncate ", Statement::kOther},
    {"mutation", Statement::kOther},     {"call ", Statement::kOther},        {"begin;", Statement::kOther},
};

}  // namespace

Statement statement_of(std::string_view text) {
  text = trim(text);
  const auto opening = std::find_if(std::begin(kOpenings), std::end(kOpenings),
                                    [&](const Opening& one) { return equal_ignoring_case(text.substr(0, one.text.size()), one.text); });
  return opening == std::end(kOpenings) ? Statement::kNone : opening->statement;
}

bool has_statement(std::string_view input, Statement wanted) {
  if (!looks_like_json(input)) return statement_of(input) == wanted;
  JsonScanner cursor(trim(input));
  for (auto token = cursor.next(); token != JsonScanner::Token::kEnd && token != JsonScanner::Token::kBad; token = cursor.next()) {
    if (token == JsonScanner::Token::kString && statement_of(cursor.text()) == wanted) return true;
  }
  return false;
}

bool only_queries(std::string_view input) {
  return has_statement(input, Statement::kQuery) && !has_statement(input, Statement::kChangeRows) &&
         !has_statement(input, Statement::kOther);
}

}  // namespace runwarden::plugins
