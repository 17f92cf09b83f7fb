// Runs a fuzz program on mutated seeds, or on files.
//
//   fuzz_NAME [--inputs N] [--first N]   mutated inputs; number N is always the same
//   fuzz_NAME FILE...                    those bytes
//
// The input that is being tried is kept in memory that an abort prints: "input N" is enough to see it again.
#include <algorithm>
#include <csignal>
#include <cstring>
#include <random>

#include "fuzz/fuzz.h"
#include "support/files.h"

namespace {

using namespace runwarden::test;

constexpr std::size_t kMaxBytes = 64 * 1024;

volatile long current_input = -1;

extern "C" void say_which(int number) {
  char text[64] = "fuzz: died on input ";
  std::size_t at = std::strlen(text);
  char digits[24];
  std::size_t count = 0;
  for (long rest = current_input; rest > 0 || count == 0; rest /= 10) digits[count++] = static_cast<char>('0' + rest % 10);
  while (count > 0) text[at++] = digits[--count];
  text[at++] = '\n';
  [[maybe_unused]] const auto written = fwrite(text, 1, at, stderr);
  std::signal(number, SIG_DFL);
  std::raise(number);
}

class Mutator {
 public:
  Mutator() : seeds_(fuzz_seeds()), words_(fuzz_words()) {}

  std::string input(long number) {
    random_.seed(static_cast<unsigned>(number) * 2654435761u + 1);
    std::string text = one_of(seeds_);
    for (unsigned rounds = 1 + random_() % 6; rounds > 0; --rounds) mutate(text);
    if (text.size() > kMaxBytes) text.resize(kMaxBytes);
    return text;
  }

 private:
  const std::string& one_of(const std::vector<std::string>& choices) { return choices[random_() % choices.size()]; }
  std::size_t place_in(const std::string& text) { return text.empty() ? 0 : random_() % text.size(); }

  void mutate(std::string& text) {
    const std::size_t at = place_in(text);
    const std::size_t length = std::min<std::size_t>(random_() % 40, text.size() - at);
    switch (random_() % 9) {
      case 0:
        if (!text.empty()) text[at] = static_cast<char>(text[at] ^ (1 << random_() % 8));
        return;
      case 1:
        if (!text.empty()) text[at] = static_cast<char>(random_());
        return;
      case 2: text.erase(at, length); return;
      case 3: text.insert(at, one_of(words_)); return;
      case 4: text.insert(at, text.substr(at, length)); return;
      case 5: text.insert(place_in(text), text.substr(at, length)); return;
      case 6: text.resize(at); return;
      case 7: {
        const std::string& other = one_of(seeds_);
        text.replace(at, length, other.substr(place_in(other), random_() % 200));
        return;
      }
      default: {
        const std::string word = one_of(words_);
        for (unsigned times = 1 + random_() % 50; times > 0; --times) text.insert(at, word);
      }
    }
  }

  std::vector<std::string> seeds_, words_;
  std::mt19937 random_;
};

void try_input(const std::string& text) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGABRT, say_which);
  std::signal(SIGSEGV, say_which);
  long inputs = 1000;
  long first = 0;
  bool files = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--inputs" && i + 1 < argc) {
      inputs = std::atol(argv[++i]);
    } else if (word == "--first" && i + 1 < argc) {
      first = std::atol(argv[++i]);
    } else {
      files = true;
      try_input(read_file(argv[i]));
    }
  }
  if (files) return 0;
  for (const std::string& seed : fuzz_seeds()) try_input(seed);
  Mutator mutator;
  for (long number = first; number < first + inputs; ++number) {
    current_input = number;
    try_input(mutator.input(number));
  }
  std::printf("%ld inputs, none of them broke a rule\n", inputs);
  return 0;
}
