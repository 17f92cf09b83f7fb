#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "common/settings.h"

namespace runwarden::plugins {

/// The rules for some settings, shared by the instances that are made with the same ones: a host makes one for each of its workers, and the
/// words of the languages take milliseconds and megabytes. Keeps those that were asked for last until the library is unloaded. Settings
/// that name a file are read anew each time, since it may have changed. `Rules` is made from Settings, and throws what that throws. Any
/// thread.
template <class Rules>
[[nodiscard]] std::shared_ptr<const Rules> shared_rules(std::string_view settings_json, const Settings& settings) {
  struct Last {
    std::mutex mutex;
    std::string settings_json;
    std::shared_ptr<const Rules> rules;
  };
  static Last last;
  const std::lock_guard lock(last.mutex);
  if (last.rules != nullptr && last.settings_json == settings_json) return last.rules;
  auto rules = std::make_shared<const Rules>(settings);
  if (settings.text("vocabulary").empty()) {
    last.settings_json = settings_json;
    last.rules = rules;
  }
  return rules;
}

}  // namespace runwarden::plugins
