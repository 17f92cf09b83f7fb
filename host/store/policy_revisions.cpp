#include "store/policy_revisions.h"

#include "base/ascii.h"

namespace runwarden::store {
namespace {

std::string_view without_zeros(std::string_view number) {
  const std::size_t at = number.find_first_not_of('0');
  return at == std::string_view::npos ? number.substr(number.size() - 1) : number.substr(at);
}

bool is_greater(std::string_view number, std::string_view than) {
  number = without_zeros(number);
  than = without_zeros(than);
  return number.size() != than.size() ? number.size() > than.size() : number > than;
}

}  // namespace

std::string next_revision(std::string_view highest) {
  if (highest.empty()) return "1";
  std::string next(highest);
  for (std::size_t i = next.size(); i-- > 0;) {
    if (next[i] != '9') {
      ++next[i];
      return next;
    }
    next[i] = '0';
  }
  return "1" + next;
}

std::string highest_with(std::string_view highest, std::string_view revision) {
  const bool rises = ascii::is_number(revision) && (highest.empty() || is_greater(revision, highest));
  return std::string(rises ? without_zeros(revision) : highest);
}

}  // namespace runwarden::store
