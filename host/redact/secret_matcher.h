// Finds repetitions of the secrets redacted from a run, regardless of case and spacing: whole or partial ones in the texts of detectors,
// whole ones in the run itself. Internal to redact/. Built for one run; pure, any thread.
//
// In a detector's text a match is at least 12 characters of a secret, a whole shorter secret, or its beginning where the text is truncated.
// Secrets below 3 characters are ignored; below 6 they match only as whole words. In a document a match is a whole secret of at least 6
// characters, below 12 only as a whole word. Time is linear in the secrets plus the texts.
#pragma once

#include <bitset>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "redact/document.h"

namespace runwarden::redact {

class SecretMatcher {
 public:
  // For detectors' texts. `texts` are all texts that will be searched: parts of longer secrets are found in these only. The rules outlive
  // this.
  SecretMatcher(const Rules& rules, const std::vector<Redactions::Secret>& secrets, const std::vector<std::string_view>& texts);

  // For documents.
  SecretMatcher(const Rules& rules, const std::vector<Redactions::Secret>& secrets);

  bool empty() const { return short_.empty() && windows_.empty(); }
  std::string without(std::string_view text) const {
    Redactions ignored;
    return without(text, ignored);
  }
  // Replaces the matches and counts them in `found`.
  std::string without(std::string_view text, Redactions& found) const;

 private:
  struct Short {
    std::string folded;
    std::size_t rule = 0;
  };
  struct Fit {
    std::size_t length = 0;  // in folded characters; 0: none
    std::size_t rule = 0;
    bool whole = false;
  };

  Fit fit(std::string_view folded) const;
  std::vector<std::size_t> hidden(std::string_view text, std::string_view folded, const std::vector<std::size_t>& places) const;

  void sort_pieces();

  const Rules& rules_;
  bool of_document_ = false;
  std::bitset<256> begins_;                                 // first characters of short secrets
  std::vector<Short> short_;                                // sorted
  std::unordered_map<std::size_t, std::size_t> windows_;    // hash of 12 folded characters shared by a secret and a text -> rule
};

}  // namespace runwarden::redact
