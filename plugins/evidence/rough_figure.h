#pragma once

#include <span>
#include <string>
#include <string_view>

namespace runwarden::plugins {

/// True when a figure is marked as approximate: "approximately **$364.24**", "about USD 40", "~40". `figure` lies inside `text`; `words` are
/// folded words and phrases that mean it (the language key `approximations`). Reads a few words; any thread.
[[nodiscard]] bool told_roughly(std::string_view text, std::string_view figure, std::span<const std::string> words);

}  // namespace runwarden::plugins
