// Knows again what was taken out of a run, whatever its case and spacing: in the words of a detector that looked at it, whole or in
// part, and in the run itself, whole. For the files of redact/ only. Built for one run; pure, any thread.
//
// In a detector's words a quote is a stretch of 12 characters or more of a secret, the whole of a shorter one, or its beginning where the
// text is cut. Below 3 characters a secret says nothing, below 6 it has to stand as a word. In a document it is the whole of a secret of 6
// characters or more, of fewer than 12 as a word. Time grows with secrets and texts, not their product.
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

class Quotes {
 public:
  // `texts`: all that will be asked about; what is not among them is not found as a stretch of a longer secret. The rules
  // outlive this.
  Quotes(const Rules& rules, const std::vector<Found::Secret>& secrets, const std::vector<std::string_view>& texts);

  // For documents.
  Quotes(const Rules& rules, const std::vector<Found::Secret>& secrets);

  bool empty() const { return short_.empty() && stretches_.empty(); }
  std::string without(std::string_view text) const {
    Found ignored;
    return without(text, ignored);
  }
  // Each place is counted.
  std::string without(std::string_view text, Found& found) const;

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
  std::bitset<256> begins_;                                 // first characters of the short ones
  std::vector<Short> short_;                                // sorted
  std::unordered_map<std::size_t, std::size_t> stretches_;  // hash of 12 folded characters that a secret and a text share -> rule
};

}  // namespace runwarden::redact
