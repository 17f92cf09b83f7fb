#include "text/other_language.h"

#include <cstdio>  // the next header needs it
// clang-format off
#include <cld2/public/compact_lang_det.h>
// clang-format on
#include <cld2/public/encodings.h>

#include <algorithm>

namespace runwarden::plugins {
namespace {

constexpr std::size_t kMostBytes = 4096;
constexpr int kMostLanguages = 3;  // that CLD2 tells of one text

std::string_view beginning_of(std::string_view text) {
  if (text.size() <= kMostBytes) return text;
  auto end = kMostBytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end);
}

}  // namespace

OtherLanguage::OtherLanguage(const std::vector<std::string>& read) {
  for (const auto& code : read) {
    const auto language = CLD2::GetLanguageFromName(code.c_str());
    all_known_ &= language != CLD2::UNKNOWN_LANGUAGE;
    read_.push_back(language);
  }
  if (std::find(read_.begin(), read_.end(), CLD2::SPANISH) != read_.end()) read_.push_back(CLD2::GALICIAN);
}

bool OtherLanguage::holds(std::string_view text) const {
  if (!all_known_) return false;
  const auto looked_at = beginning_of(text);
  const CLD2::CLDHints no_hints{nullptr, nullptr, CLD2::UNKNOWN_ENCODING, CLD2::UNKNOWN_LANGUAGE};
  CLD2::Language found[kMostLanguages];
  int percent[kMostLanguages];
  double score[kMostLanguages];
  int text_bytes = 0, valid_bytes = 0;
  bool reliable = false;
  const auto language = CLD2::ExtDetectLanguageSummaryCheckUTF8(looked_at.data(), static_cast<int>(looked_at.size()), true, &no_hints, 0,
                                                                found, percent, score, nullptr, &text_bytes, &reliable, &valid_bytes);
  if (!reliable || language == CLD2::UNKNOWN_LANGUAGE) return false;
  return std::none_of(read_.begin(), read_.end(),
                      [&](int read) { return std::find(std::begin(found), std::end(found), read) != std::end(found); });
}

}  // namespace runwarden::plugins
