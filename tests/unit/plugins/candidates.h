#pragma once

#include <algorithm>

#include "common/verdict.h"

namespace runwarden::plugins {

/// How many candidates a verdict tells of.
inline std::size_t candidates(const Verdict& verdict) {
  return static_cast<std::size_t>(std::count_if(verdict.suppressed.begin(), verdict.suppressed.end(), [](const Suppression& told) {
    return told.reason.find("(candidate: confidence ") != std::string::npos;
  }));
}

/// True for a verdict that fires nothing and tells of a candidate.
inline bool is_candidate(const Verdict& verdict) {
  return verdict.findings.empty() && candidates(verdict) > 0;
}

}  // namespace runwarden::plugins
