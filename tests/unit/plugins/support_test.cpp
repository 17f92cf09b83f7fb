#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "common/settings.h"
#include "evidence/acknowledgement.h"
#include "evidence/origin.h"
#include "evidence/support.h"
#include "evidence/withheld.h"

namespace runwarden::plugins {
namespace {

class Answers : public testing::Test {
 protected:
  Unsupported read(std::string_view text, bool given = true) { return support.read_answer(text, given); }

  Lexicon lexicon = make_lexicon(Settings({}));
  Support support{lexicon};
};

TEST_F(Answers, ValuesOfSourcesAreSupported) {
  support.add_source(R"({"berth": "K-204", "fee": 118.40, "until": "2025-03-09"})");
  EXPECT_EQ(read("Berth K-204 costs 118.40 until March 9, 2025.").missing, 0u);
  const auto made_up = read("Berth K-204 costs 131.75 until March 9, 2025.");
  EXPECT_EQ(made_up.missing, 1u);
  EXPECT_EQ(made_up.stated, 3u);
  EXPECT_EQ(made_up.value, "131.75");
}

TEST_F(Answers, OnlyAShortAnswerIsHeldToEveryFigure) {
  support.add_source("How many kayaks are left?");
  EXPECT_EQ(read("Kayaks left: 17").missing, 1u);
  EXPECT_EQ(read("There are two sheds by the lake, and of the kayaks that we keep there 17 are left for the weekend.").missing, 0u);
}

TEST_F(Answers, NothingIsNoCountWhereNothingWasGiven) {
  support.add_source("How many kayaks cost less than 300?");
  EXPECT_EQ(read("Answer: 0", false).missing, 1u);
  EXPECT_EQ(read("Answer: 0", true).missing, 0u);
}

TEST_F(Answers, StepsOfACalculationSupportEachOther) {
  support.add_source("12 crates of 37.25 each, 10 % off, and 19.80 for the ferry");
  support.add_thought("12 * 37.25 = 447.00, less 44.70 is 402.30");
  EXPECT_EQ(read("Total: 422.10").missing, 0u);
  EXPECT_EQ(read("Total: 611.93").missing, 1u);
}

TEST_F(Answers, WhatTheAgentMadeUpBeforeSupportsNothing) {
  support.add_source("What does the ferry cost?");
  support.add_thought("I think the ferry costs 84.35.");
  EXPECT_EQ(read("The ferry costs 84.35.").missing, 1u);
}

TEST_F(Answers, QuestionsOffersAndConditionsStateNothing) {
  support.add_source("What does the ferry cost?");
  EXPECT_EQ(read("Is it the ferry at 14:35 for 84.35?").stated, 0u);
  EXPECT_EQ(read("If the ferry costs 84.35, it is too dear.").stated, 0u);
  EXPECT_EQ(read("Let me know if 84.35 would be fine.").stated, 0u);
}

TEST_F(Answers, UnrelatedOutputsGiveNoData) {
  support.expect("A mooring at the north pier costs 84.35.");
  EXPECT_FALSE(support.relates("rain until dusk"));
  EXPECT_TRUE(support.relates("the north pier has 12 places"));
  EXPECT_TRUE(support.relates(std::string(2000, 'x')));
}

TEST(Origin, CountsWordsThatNoUserSaid) {
  const Lexicon lexicon = make_lexicon(Settings({}));
  WordOrigins origins;
  origins.add_said("Which old hut is open?");
  origins.add_given(R"(["Kestrel", "Fjellstua"])");
  const auto origin = origins.read("Try the Kestrel hut, the Fjellstua or the old Chalet", lexicon);
  EXPECT_EQ(origin.own, 3u);
  EXPECT_EQ(origin.drawn, 2u);
}

TEST(Acknowledgement, IsAFewWordsAroundTheToolsName) {
  EXPECT_TRUE(only_acknowledges("You executed 'find_berths' successfully.", "find_berths"));
  EXPECT_TRUE(only_acknowledges("find_berths: ok", "harbour__find_berths"));
  EXPECT_FALSE(only_acknowledges("find_berths: 4 of 12 are free", "find_berths"));
  EXPECT_FALSE(only_acknowledges("ok", "find_berths"));
  EXPECT_FALSE(only_acknowledges("find_berths knows the piers north and south of the old customs house", "find_berths"));
}

TEST_F(Answers, LabelsOfLookedUpFiguresAreToldAsTheyWereFound) {
  support.add_source(R"({"name":"Fjellstua","price":84.5,"beds":2})");
  EXPECT_EQ(read("Hut: Fjellstua\nPrice: 84.50\nGuest score: 4.7/5").labels, (std::vector<std::string>{"Guest score"}));
  EXPECT_TRUE(read("Hut: Fjellstua\nPrice: 84.50\nBeds: 2").labels.empty());
}

TEST(Withheld, IsAShortNoteInBrackets) {
  const std::vector<std::string> words{"redacted", "omitted"};
  EXPECT_TRUE(is_withheld("<Rows omitted by policy 7>", words));
  EXPECT_TRUE(is_withheld(" [REDACTED] ", words));
  EXPECT_FALSE(is_withheld("[\"redacted\", \"open\"]", words));
  EXPECT_FALSE(is_withheld("<rows>omitted</rows>", words));
  EXPECT_FALSE(is_withheld("The middle name was omitted", words));
  EXPECT_FALSE(is_withheld("[]", words));
}

}  // namespace
}  // namespace runwarden::plugins
