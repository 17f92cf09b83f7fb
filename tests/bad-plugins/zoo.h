// A folder of detectors as an operator would have it, filled with animals of the zoo. One test each.
#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "detect/detector_set.h"
#include "support/files.h"
#include "support/temp_folder.h"

namespace runwarden::detect {

// Every look at it is one millisecond later: whoever waits for a deadline gets there without sleeping.
class SteppingClock final : public Clock {
 public:
  std::int64_t wall_ms() const override { return 0; }
  std::int64_t monotonic_ns() const override { return now_ns_ += 1'000'000; }

 private:
  mutable std::atomic<std::int64_t> now_ns_ = 0;
};

class Zoo : public testing::Test {
 protected:
  Zoo() {
    ::chmod(folder.c_str(), 0755);
    detectors = folder / "detectors";
    std::filesystem::create_directory(detectors);
    ::chmod(detectors.c_str(), 0755);
    settings.search_path = {detectors.string()};
    context.private_folder = folder / "copies";
    context.clock = &clock;
    context.log = [this](LogLevel, std::string_view text) { log += std::string(text) + "\n"; };
  }

  static std::string bytes_of(const std::string& animal) {
    const char* other_zoo = std::getenv("RUNWARDEN_TEST_ZOO");  // of the tests of these tests
    return test::read_file(std::filesystem::path(other_zoo != nullptr ? other_zoo : ZOO_FOLDER) / (animal + ".so"));
  }
  std::filesystem::path put(const std::string& name, const std::string& bytes) {
    const std::filesystem::path file = detectors / name;
    std::ofstream(file, std::ios::binary) << bytes;
    ::chmod(file.c_str(), 0644);
    return file;
  }
  // Enables an animal under the key "zoo".
  model::DetectorEntry& enable(const std::string& animal) {
    put(animal + ".so", bytes_of(animal));
    settings.entries.push_back({"zoo", animal + ".so", {}, false, "runwarden.yaml:41:5"});
    return settings.entries.back();
  }
  Result<std::shared_ptr<DetectorSet>> load() { return DetectorSet::load(settings, context); }
  std::string refusal() {
    auto set = load();
    return set.ok() ? "loaded" : set.error().detail;
  }
  model::Verdict evaluate(const std::string& animal) {
    enable(animal);
    auto set = load();
    if (!set.ok()) {
      ADD_FAILURE() << set.error().detail;
      return {};
    }
    return (*set)->evaluate(run, "acme", 0);
  }

  SteppingClock clock;
  const test::TempFolder home;
  const std::filesystem::path folder = home.path();
  std::filesystem::path detectors;
  model::DetectorSettings settings;
  LoadContext context;
  std::string log;
  model::Run run;
};

}  // namespace runwarden::detect
