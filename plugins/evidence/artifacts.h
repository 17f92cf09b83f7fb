#pragma once

#include <string_view>
#include <vector>

#include "common/call_names.h"

namespace runwarden::plugins {

/// Collects the files, folders and addresses named in a text ("/srv/deck.pptx", "report.md", "https://example.com/a"), at most `most`, each
/// once. Replaces `out`; the views point into `text`. Linear; any thread.
void collect_artifacts(std::string_view text, std::size_t most, std::vector<std::string_view>& out);

/// True for "example.com", which a sentence about the site names, whatever it tells.
[[nodiscard]] bool names_site(std::string_view artifact, const CallNames& names);

}  // namespace runwarden::plugins
