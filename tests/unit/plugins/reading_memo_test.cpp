#include "common/reading_memo.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "common/settings.h"

namespace runwarden::plugins {
namespace {

const Lexicon& words_in_force() {
  static const Lexicon shipped = make_lexicon(Settings({}));
  return shipped;
}

const std::vector<std::string> kTexts = {
    "",
    "Done.",
    "I've booked the flight and sent you the ticket. Is there anything else?",
    "Ich habe den Termin am 3. Mai um acht auf den 19.05. um neun verschoben, und die Rechnung ist raus.",
    "Cancel\u00E9 el pedido y reservame la mesa.",
    "Here is the script:\n```\nrm -rf build\n```\nNext steps:\n- run it\n- [ ] tell me\n",
    "{\"message\": \"The order has been cancelled \u2014 it has gone out already.\"}",
    "> Dear Ms Ray, I've cancelled it.\n\nShall I send this?",
    "I couldn't find it. It wasn't cancelled.",
};
constexpr std::uint8_t kLanguages[] = {kAnyLanguage, 0, 1, 2};

void expect_same(const Claim& a, const Claim& b) {
  EXPECT_EQ(a.word, b.word);
  EXPECT_EQ(a.sentence, b.sentence);
  EXPECT_EQ(a.verb, b.verb);
  EXPECT_EQ(a.in_progress, b.in_progress);
  EXPECT_EQ(a.by_agent, b.by_agent);
  EXPECT_EQ(a.state, b.state);
  EXPECT_EQ(a.finding, b.finding);
  EXPECT_EQ(a.result, b.result);
}

void expect_same(const Reading& a, const Reading& b) {
  EXPECT_EQ(a.source, b.source);
  EXPECT_EQ(a.folded, b.folded);
  EXPECT_EQ(a.stressed, b.stressed);
  EXPECT_EQ(a.cues, b.cues);
  EXPECT_EQ(a.denies, b.denies);
  EXPECT_EQ(a.lexicon, b.lexicon);
  EXPECT_EQ(a.language, b.language);
  EXPECT_EQ(a.has_code, b.has_code);
  ASSERT_EQ(a.words.size(), b.words.size());
  for (std::size_t i = 0; i < a.words.size(); ++i) {
    const auto &one = a.words[i], &other = b.words[i];
    EXPECT_EQ(one.text, other.text);
    EXPECT_EQ(one.text.data() - a.folded.data(), other.text.data() - b.folded.data());
    EXPECT_EQ(one.entry, other.entry);
    EXPECT_EQ(one.cues, other.cues);
    EXPECT_EQ(one.before, other.before);
    EXPECT_EQ(one.mark, other.mark);
    EXPECT_EQ(one.shortened, other.shortened);
    EXPECT_EQ(one.past, other.past);
  }
  ASSERT_EQ(a.sentences.size(), b.sentences.size());
  for (std::size_t i = 0; i < a.sentences.size(); ++i) {
    EXPECT_EQ(a.sentences[i].begin, b.sentences[i].begin);
    EXPECT_EQ(a.sentences[i].end, b.sentences[i].end);
    EXPECT_EQ(a.sentences[i].cues, b.sentences[i].cues);
    EXPECT_EQ(a.sentences[i].question, b.sentences[i].question);
    EXPECT_EQ(a.sentences[i].nonfactual, b.sentences[i].nonfactual);
  }
  ASSERT_EQ(a.claims.size(), b.claims.size());
  for (std::size_t i = 0; i < a.claims.size(); ++i) expect_same(a.claims[i], b.claims[i]);
  ASSERT_EQ(a.results.size(), b.results.size());
  for (std::size_t i = 0; i < a.results.size(); ++i) expect_same(a.results[i], b.results[i]);
}

TEST(ReadingMemo, WhatIsReadAgain_IsAsReadAnew) {
  ReadingMemo memo;
  for (const bool meaning_first : {false, true}) {
    const ReadingMemo::Scope scope(memo);
    for (int round = 0; round < 2; ++round) {
      for (const auto& text : kTexts) {
        for (const auto language : kLanguages) {
          SCOPED_TRACE(text + " in " + std::to_string(language));
          Reading words, meaning;
          if (meaning_first) read(text, words_in_force(), meaning, language);
          read_words(text, words_in_force(), words, language);
          if (!meaning_first) read(text, words_in_force(), meaning, language);
          Reading words_anew, meaning_anew;
          std::thread([&] {  // has no memo
            read_words(text, words_in_force(), words_anew, language);
            read(text, words_in_force(), meaning_anew, language);
          })
              .join();
          expect_same(words, words_anew);
          expect_same(meaning, meaning_anew);
        }
      }
    }
  }
}

TEST(ReadingMemo, TheLanguage_IsTheSameWithAMemo) {
  ReadingMemo memo;
  for (const auto& text : kTexts) {
    const auto anew = language_of(text, words_in_force());
    const ReadingMemo::Scope scope(memo);
    EXPECT_EQ(language_of(text, words_in_force()), anew) << text;
    EXPECT_EQ(language_of(text, words_in_force()), anew) << text;
  }
  for (const auto& text : kTexts) {
    const auto anew = language_of(text, words_in_force());
    const ReadingMemo::Scope scope(memo);
    Reading reading;
    read(text, words_in_force(), reading);
    EXPECT_EQ(language_of(text, words_in_force()), anew) << text;
  }
}

TEST(ReadingMemo, MoreTextsThanItKeeps_AreReadAllTheSame) {
  ReadingMemo memo;
  const ReadingMemo::Scope scope(memo);
  Reading reading;
  for (std::size_t i = 0; i < 2 * ReadingMemo::kMostTexts; ++i) {
    const auto text = "I've sent parcel " + std::to_string(i) + ".";
    read(text, words_in_force(), reading);
    EXPECT_EQ(reading.claims.size(), 1u) << text;
  }
  EXPECT_EQ(memo.size(), ReadingMemo::kMostTexts);
  const std::string long_text(2 * ReadingMemo::kMostBytes, 'a');
  read(long_text, words_in_force(), reading);
  EXPECT_EQ(reading.words.size(), 2u);  // its beginning and its end
  EXPECT_EQ(memo.size(), ReadingMemo::kMostTexts);
}

TEST(ReadingMemo, AScope_EndsTheUseOfItsMemo) {
  ReadingMemo memo;
  EXPECT_EQ(ReadingMemo::current(), nullptr);
  {
    const ReadingMemo::Scope scope(memo);
    EXPECT_EQ(ReadingMemo::current(), &memo);
    Reading reading;
    read("Done.", words_in_force(), reading);
    EXPECT_EQ(memo.size(), 1u);
  }
  EXPECT_EQ(ReadingMemo::current(), nullptr);
  const ReadingMemo::Scope scope(memo);
  EXPECT_EQ(memo.size(), 0u);
}

}  // namespace
}  // namespace runwarden::plugins
