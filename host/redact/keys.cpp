#include "redact/keys.h"

#include <algorithm>

namespace runwarden::redact {
namespace {

std::string lowered(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  return out;
}

}  // namespace

void KeyNames::add(std::string_view pattern, std::size_t rule) {
  const std::string lower = lowered(pattern);
  if (lower.find('*') == std::string::npos) {
    exact_.emplace(lower, rule);
    return;
  }
  Glob glob{{}, rule};
  for (std::size_t at = 0; at <= lower.size();) {
    const auto end = std::min(lower.find('*', at), lower.size());
    glob.pieces.push_back(lower.substr(at, end - at));
    at = end + 1;
  }
  globs_.push_back(std::move(glob));
}

// Each piece where it first fits after the one before: no other choice fits more.
bool KeyNames::fits(const Glob& glob, std::string_view name) {
  const std::string& first = glob.pieces.front();
  const std::string& last = glob.pieces.back();
  if (name.size() < first.size() + last.size() || !name.starts_with(first) || !name.ends_with(last)) return false;
  std::size_t at = first.size();
  const std::string_view before_last = name.substr(0, name.size() - last.size());
  for (std::size_t i = 1; i + 1 < glob.pieces.size(); ++i) {
    const auto found = before_last.find(glob.pieces[i], at);
    if (found == std::string_view::npos) return false;
    at = found + glob.pieces[i].size();
  }
  return true;
}

std::optional<std::size_t> KeyNames::find(std::string_view name) const {
  if (empty()) return std::nullopt;
  char usual[64];
  std::string longer;
  if (name.size() > sizeof usual) longer = lowered(name);
  for (std::size_t i = 0; i < name.size() && longer.empty(); ++i) {
    usual[i] = name[i] >= 'A' && name[i] <= 'Z' ? static_cast<char>(name[i] + ('a' - 'A')) : name[i];
  }
  const std::string_view lower = longer.empty() ? std::string_view(usual, name.size()) : longer;
  const auto exact = exact_.find(lower);
  if (exact != exact_.end()) return exact->second;
  for (const Glob& glob : globs_) {
    if (fits(glob, lower)) return glob.rule;
  }
  return std::nullopt;
}

}  // namespace runwarden::redact
