#include "evidence/touched_files.h"

#include <algorithm>
#include <tuple>

#include "common/words.h"
#include "text/fold.h"

namespace runwarden::plugins {
namespace {

// Paths come before the text to be written.
constexpr std::size_t kBytesLookedAt = 512;
constexpr std::size_t kMostNames = 16;
constexpr std::size_t kLongestExtension = 5;

bool in_path(char c) {
  return is_letter_or_digit(c) || c == '.' || c == '_' || c == '-' || c == '/' || c == '\\' || c == '~' || c == '@' || c == ':';
}

constexpr std::size_t kFirstWords = 3;  // in "{"command": "cat ...", the program is one of the first words

bool only_looks(std::string_view input, const NameSet& reading_commands) {
  constexpr std::string_view kBehindKey = "\":";
  std::size_t words = 0;
  bool looks = false;
  input = input.substr(0, kBytesLookedAt);
  for_each_word(input, [&](std::string_view word) {
    const auto behind = input.substr(static_cast<std::size_t>(word.data() - input.data()) + word.size());
    if (behind.starts_with(kBehindKey)) return true;  // {"file": ...} runs no `file`
    looks = reading_commands.contains(word);
    return !looks && ++words < kFirstWords;
  });
  return looks;
}

bool has_extension(std::string_view name) {
  const auto point = name.rfind('.');
  if (point == std::string_view::npos || point == 0) return false;
  const auto extension = name.substr(point + 1);
  if (extension.empty() || extension.size() > kLongestExtension || is_digit(extension.front())) return false;
  return std::all_of(extension.begin(), extension.end(), is_letter_or_digit);
}

}  // namespace

void name_files(std::string_view input, std::vector<std::uint64_t>& names) {
  input = input.substr(0, kBytesLookedAt);
  const auto before = names.size();
  for (std::size_t at = 0; at < input.size() && names.size() - before < kMostNames;) {
    if (!in_path(input[at])) {
      ++at;
      continue;
    }
    const auto begin = at;
    while (at < input.size() && in_path(input[at])) ++at;
    auto path = input.substr(begin, at - begin);
    while (!path.empty() && (path.back() == '.' || path.back() == ':')) path.remove_suffix(1);
    if (path.find("://") != std::string_view::npos || path.find('@') != std::string_view::npos) continue;
    const auto folder = path.find_last_of("/\\:");
    const auto name = folder == std::string_view::npos ? path : path.substr(folder + 1);
    if (has_extension(name)) names.push_back(hash_bytes(name));
  }
}

void TouchedFiles::clear() {
  touches_.clear();
}

void TouchedFiles::add(std::size_t call, std::uint64_t key, const StepView& step, const CallNames& call_names) {
  if (only_looks(step.input, call_names.reading_commands)) return;
  names_.clear();
  name_files(step.input, names_);
  const auto output = trim(step.output);
  if (names_.empty()) name_files(output.substr(0, output.find('\n')), names_);
  for (const auto file : names_) touches_.push_back({file, key, call});
}

void TouchedFiles::finish() {
  const auto by_input = [](const Touch& a, const Touch& b) { return std::tie(a.file, a.key, a.call) < std::tie(b.file, b.key, b.call); };
  std::sort(touches_.begin(), touches_.end(), by_input);
  const auto same_input = [](const Touch& a, const Touch& b) { return a.file == b.file && a.key == b.key; };
  touches_.erase(std::unique(touches_.begin(), touches_.end(), same_input), touches_.end());
  const auto by_call = [](const Touch& a, const Touch& b) { return std::tie(a.file, a.call) < std::tie(b.file, b.call); };
  std::sort(touches_.begin(), touches_.end(), by_call);
}

bool TouchedFiles::between(std::string_view input, std::size_t from, std::size_t to) {
  names_.clear();
  name_files(input, names_);
  return std::any_of(names_.begin(), names_.end(), [&](std::uint64_t file) {
    const auto after = [&](const Touch& touch, std::size_t call) { return std::tie(touch.file, touch.call) <= std::tie(file, call); };
    const auto next = std::lower_bound(touches_.begin(), touches_.end(), from, after);
    return next != touches_.end() && next->file == file && next->call < to;
  });
}

}  // namespace runwarden::plugins
