// A value of a metric that exists only in some builds or with some engines. Values; any thread.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace runwarden {

struct MetricSample {
  enum class Kind { gauge, counter };
  std::string name;  // as Prometheus wants it: base units, _total for counters
  std::string help;
  Kind kind = Kind::gauge;
  std::vector<std::pair<std::string, std::string>> labels = {};
  double value = 0;  // for a counter, since the process began
};

}  // namespace runwarden
