// Prints what a reader of outputs learns from: output_features <CALLS, a JSON object with tool, input and output on each line. For each the
// indexes of its features.
#include <cstdio>
#include <iostream>
#include <string>

#include <nlohmann/json.hpp>

#include "common/settings.h"
#include "evidence/output_features.h"

int main() {
  using namespace runwarden::plugins;
  const Settings settings({});
  const auto lexicon = make_lexicon(settings);
  const auto content = make_content_rules(settings, "soft_failures");
  Recovery tools(lexicon, content.tools);
  OutputFeatures reader(lexicon, content);
  FeatureSet features(kOutputFeatures);
  for (std::string line; std::getline(std::cin, line);) {
    const auto call = nlohmann::json::parse(line);
    const auto tool = call.at("tool").get<std::string>(), input = call.at("input").get<std::string>(),
               output = call.at("output").get<std::string>();
    StepView step;
    step.kind = Kind::kTool;
    step.name = tool;
    step.input = input;
    step.output = output;
    reader.collect(step, tools.meaning(tool).groups, features);
    for (const auto feature : features.all()) std::printf("%u ", static_cast<unsigned>(feature));
    std::printf("\n");
  }
  return 0;
}
