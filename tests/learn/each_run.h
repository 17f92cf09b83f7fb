#pragma once

#include <functional>
#include <iostream>
#include <string>

#include "unit/plugins/labelled_run.h"

namespace runwarden::plugins {

/// Drops members that are null: they are as ones that are not there.
inline void drop_nulls(nlohmann::json& json) {
  if (json.is_object()) {
    for (auto it = json.begin(); it != json.end();) it = it->is_null() ? json.erase(it) : std::next(it);
  }
  for (auto& part : json) {
    if (part.is_structured()) drop_nulls(part);
  }
}

/// Reads a run from each line of the standard input, as POST /v1/ingest/runs takes it, and prints a line of JSON for each.
inline void each_run(const std::function<nlohmann::json(RunView&)>& tell) {
  for (std::string line; std::getline(std::cin, line);) {
    auto json = nlohmann::json::parse(line);
    drop_nulls(json);
    LabelledRun run;
    LabelledRunReader(run).read(json);
    std::cout << tell(run.run).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
  }
}

}  // namespace runwarden::plugins
