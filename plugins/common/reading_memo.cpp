#include "common/reading_memo.h"

#include <pthread.h>

#include <algorithm>

#include "common/words.h"

namespace runwarden::plugins {
namespace {

/// The memo in use on each thread. A key instead of thread_local: a library that is unloaded must not leave the loader memory of threads
/// to look after, which LeakSanitizer cannot follow.
class InUse {
 public:
  InUse() : made_(pthread_key_create(&key_, nullptr) == 0) {}
  ~InUse() {
    if (made_) pthread_key_delete(key_);
  }
  InUse(const InUse&) = delete;
  InUse& operator=(const InUse&) = delete;

  /// Does nothing without memory for it: texts are read anew then.
  void set(ReadingMemo* memo) const {
    if (made_) (void)pthread_setspecific(key_, memo);
  }
  [[nodiscard]] ReadingMemo* get() const { return made_ ? static_cast<ReadingMemo*>(pthread_getspecific(key_)) : nullptr; }

 private:
  pthread_key_t key_{};
  bool made_ = false;
};

const InUse& in_use() {
  static const InUse one;
  return one;
}

/// Appends to a list, and says where.
template <class Item, class Range>
void add_items(const std::vector<Item>& from, std::vector<Item>& to, Range& range) {
  range.begin = static_cast<std::uint32_t>(to.size());
  to.insert(to.end(), from.begin(), from.end());
  range.end = static_cast<std::uint32_t>(to.size());
}

template <class Item, class Range>
void take_items(const std::vector<Item>& from, const Range& range, std::vector<Item>& to) {
  to.assign(from.begin() + range.begin, from.begin() + range.end);
}

/// Makes words that view one text view an equal one.
void move_views(std::vector<ReadWord>::iterator word, std::vector<ReadWord>::iterator end, const char* from, const char* to) {
  for (; word != end; ++word) word->text = {to + (word->text.data() - from), word->text.size()};
}

}  // namespace

ReadingMemo::Scope::Scope(ReadingMemo& memo) {
  memo.clear();
  in_use().set(&memo);
}

ReadingMemo::Scope::~Scope() {
  in_use().set(nullptr);
}

ReadingMemo* ReadingMemo::current() {
  return in_use().get();
}

ReadingMemo::Key::Key(std::string_view of, const Lexicon& by) : text(of), lexicon(&by), hash(hash_text(of)) {}

template <class Matches>
const ReadingMemo::Text* ReadingMemo::find_text(const Key& key, Matches matches) const {
  for (auto slot = key.hash % kSlots; slots_[slot] != 0; slot = (slot + 1) % kSlots) {
    const auto& text = texts_[slots_[slot] - 1u];
    if (text.hash == key.hash && text.lexicon == key.lexicon && matches(text) && text.source == key.text) return &text;
  }
  return nullptr;
}

/// Copies a text, for which there must be room.
std::string_view ReadingMemo::keep(std::string_view text) {
  auto* const at = bytes_.get() + used_;
  std::copy(text.begin(), text.end(), at);
  used_ += text.size();
  return {at, text.size()};
}

/// Adds a text whose views are still the caller's; false when there is no room.
bool ReadingMemo::place(const Text& text) {
  static_assert(kMostTexts < kSlots);
  if (texts_.size() == kMostTexts || text.source.size() + text.folded.size() > kMostBytes - used_) return false;
  if (!bytes_) bytes_ = std::make_unique_for_overwrite<char[]>(kMostBytes);
  auto slot = text.hash % kSlots;
  while (slots_[slot] != 0) slot = (slot + 1) % kSlots;
  texts_.push_back(text);
  slots_[slot] = static_cast<std::uint16_t>(texts_.size());
  texts_.back().source = keep(text.source);
  texts_.back().folded = keep(text.folded);
  return true;
}

bool ReadingMemo::find(const Key& key, Kind kind, std::uint8_t language, Reading& out) const {
  const auto* const text = find_text(key, [&](const Text& one) {
    // A text whose language was found to be this one reads the same.
    return one.kind == kind && (one.asked == language || (one.asked == kAnyLanguage && one.language == language));
  });
  if (text == nullptr) return false;
  out.folded.assign(text->folded);
  take_items(words_, text->words, out.words);
  move_views(out.words.begin(), out.words.end(), text->folded.data(), out.folded.data());
  take_items(sentences_, text->sentences, out.sentences);
  take_items(claims_, text->claims, out.claims);
  take_items(results_, text->results, out.results);
  take_items(stressed_, text->stressed, out.stressed);
  out.cues = text->cues;
  out.denies = text->denies;
  out.lexicon = text->lexicon;
  out.language = text->language;
  out.has_code = text->has_code;
  return true;
}

void ReadingMemo::add(const Key& key, Kind kind, std::uint8_t language, const Reading& reading, bool whole) {
  if (reading.words.size() > kMostWords - words_.size()) return;
  if (!place({key.hash, key.lexicon, key.text, kind, language, reading.language, whole, reading.has_code, reading.denies, reading.cues,
              reading.folded}))
    return;
  auto& text = texts_.back();
  add_items(reading.words, words_, text.words);
  move_views(words_.begin() + text.words.begin, words_.end(), reading.folded.data(), text.folded.data());
  add_items(reading.sentences, sentences_, text.sentences);
  add_items(reading.claims, claims_, text.claims);
  add_items(reading.results, results_, text.results);
  add_items(reading.stressed, stressed_, text.stressed);
}

const std::uint8_t* ReadingMemo::find_language(const Key& key) const {
  const auto* const text = find_text(key, [](const Text& one) { return one.asked == kAnyLanguage && one.whole; });
  return text != nullptr ? &text->language : nullptr;
}

void ReadingMemo::add_language(const Key& key, std::uint8_t language) {
  (void)place({key.hash, key.lexicon, key.text, Kind::kLanguage, kAnyLanguage, language, true});
}

void ReadingMemo::clear() {
  if (texts_.empty()) return;
  texts_.clear();
  slots_.fill(0);
  used_ = 0;
  words_.clear();
  sentences_.clear();
  claims_.clear();
  results_.clear();
  stressed_.clear();
}

}  // namespace runwarden::plugins
