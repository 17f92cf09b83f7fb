// What a run costs inside: reading it, its digest, and each detector.
//
//   bench_judge PLUGIN_FOLDER [SECONDS_EACH]
//
// Prints, for each of several runs, MB/s of intake next to a bare SAX pass of nlohmann::json and to SHA-256, and ns per run of each
// detector (through the real loader and ABI) and of all together.
#include <time.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/digest.h"
#include "detect/detector_set.h"
#include "intake/run_reader.h"
#include "sample_runs.h"

namespace {

using namespace runwarden;

constexpr const char* kKeys[] = {"context_overflow", "expensive_loop", "false_success", "missing_tool_call", "schema_ghost"};

struct Sample {
  const char* name;
  std::string json;
};

// Takes every event of a parse and keeps nothing.
struct BareSax : nlohmann::json_sax<nlohmann::json> {
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return true; }
  bool key(string_t&) override { return true; }
  bool end_object() override { return true; }
  bool start_array(std::size_t) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override { return false; }
};

std::int64_t cpu_ns() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// Nanoseconds of this thread's CPU time that one call takes, over at least `seconds` of it: other work on the machine counts little.
template <class Work>
double ns_each(double seconds, Work work) {
  for (int i = 0; i < 20; ++i) work();
  const std::int64_t begun_ns = cpu_ns();
  const std::int64_t end_ns = begun_ns + static_cast<std::int64_t>(seconds * 1e9);
  std::int64_t now_ns = begun_ns;
  std::uint64_t calls = 0;
  for (; now_ns < end_ns; calls += 16) {
    for (int i = 0; i < 16; ++i) work();
    now_ns = cpu_ns();
  }
  return static_cast<double>(now_ns - begun_ns) / static_cast<double>(calls);
}

double mb_a_second(const std::string& text, double ns) {
  return static_cast<double>(text.size()) * 1000 / ns;
}

std::shared_ptr<detect::DetectorSet> load(const std::filesystem::path& folder, const std::vector<std::string>& keys, const Clock& clock) {
  model::DetectorSettings settings;
  settings.search_path = {folder.string()};
  for (const auto& key : keys) settings.entries.push_back({key, key + ".so", {}, false, key});
  detect::LoadContext context;
  context.clock = &clock;
  auto set = detect::DetectorSet::load(settings, std::move(context));
  if (!set.ok()) {
    std::fprintf(stderr, "%s\n", set.error().detail.c_str());
    std::exit(1);
  }
  return std::move(*set);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: bench_judge PLUGIN_FOLDER [SECONDS_EACH]\n");
    return 2;
  }
  const std::filesystem::path folder = std::filesystem::canonical(argv[1]);
  const double seconds = argc > 2 ? std::atof(argv[2]) : 0.3;
  const SystemClock clock;
  std::vector<std::pair<std::string, std::shared_ptr<detect::DetectorSet>>> sets;
  for (const char* key : kKeys) sets.emplace_back(key, load(folder, {key}, clock));
  sets.emplace_back("all five", load(folder, {std::begin(kKeys), std::end(kKeys)}, clock));

  const Sample samples[] = {{"ordinary, 12 steps", bench::ordinary_run("run_0000000000000000000X")},
                            {"false success", bench::false_success_run()},
                            {"expensive loop", bench::expensive_loop_run()},
                            {"schema ghost", bench::schema_ghost_run()},
                            {"missing tool call", bench::missing_tool_call_run()},
                            {"context overflow", bench::context_overflow_run()},
                            {"long, 300 steps", bench::long_run(300)}};
  for (const Sample& sample : samples) {
    const auto run = intake::read_run(sample.json, {}, "run_1");
    if (!run.ok()) {
      std::fprintf(stderr, "%s: %s\n", sample.name, run.error().detail.c_str());
      return 1;
    }
    BareSax bare;
    const double read_ns = ns_each(seconds, [&] { return intake::read_run(sample.json, {}, "run_1").ok(); });
    const double sax_ns = ns_each(seconds, [&] { return nlohmann::json::sax_parse(sample.json, &bare); });
    const double sha_ns = ns_each(seconds, [&] { return sha256(sample.json); });
    std::printf("%s (%zu bytes)\n", sample.name, sample.json.size());
    std::printf("  read_run %9.0f ns %6.0f MB/s   bare nlohmann SAX %9.0f ns %6.0f MB/s   sha256 %8.0f ns %6.0f MB/s\n", read_ns,
                mb_a_second(sample.json, read_ns), sax_ns, mb_a_second(sample.json, sax_ns), sha_ns, mb_a_second(sample.json, sha_ns));
    for (const auto& [name, set] : sets) {
      const double ns = ns_each(seconds, [&] { return set->evaluate(*run, "acme", 0).findings.size(); });
      std::printf("  %-18s %9.0f ns a run, %zu found\n", name.c_str(), ns, set->evaluate(*run, "acme", 0).findings.size());
    }
  }
}
