#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "evidence/call_entities.h"
#include "evidence/derivation.h"
#include "evidence/payload.h"
#include "evidence/stated_values.h"

namespace runwarden::plugins {
namespace {

struct Written {
  const char* text;
  double number;
  std::size_t decimals;
  bool money;
};

class Figures : public testing::TestWithParam<Written> {};

TEST_P(Figures, AreReadAsTheyAreWritten) {
  StatedValue value;
  ASSERT_TRUE(read_figure(GetParam().text, 0, value)) << GetParam().text;
  EXPECT_DOUBLE_EQ(value.number, GetParam().number);
  EXPECT_EQ(value.decimals, GetParam().decimals);
  EXPECT_EQ(value.money, GetParam().money);
}

INSTANTIATE_TEST_SUITE_P(Grounding, Figures,
                         testing::Values(Written{"41", 41, 0, false}, Written{"1,204", 1204, 0, false},
                                         Written{"1,204.75 left", 1204.75, 2, false}, Written{"1.204,75 EUR", 1204.75, 2, true},
                                         Written{"6,40", 6.4, 2, false}, Written{"$18", 18, 0, true}, Written{"\u20ac 7.5", 7.5, 1, true},
                                         Written{"3.8/5", 3.8, 1, false}, Written{"900+", 900, 0, false}, Written{"12km", 12, 0, false},
                                         Written{"63%", 63, 0, false}, Written{"200 USD.", 200, 0, true},
                                         Written{"30-60 days", 30, 0, false}));

TEST(Figures, PartsOfDatesTimesIdsAndVersions_AreNone) {
  StatedValue value;
  for (const std::string_view text : {"2026-03-14", "28.06.2026", "10:45", "12ab7", "7_left", "1.4.2", "3/4/2026", "555-0199-2", "route"}) {
    EXPECT_FALSE(read_figure(text, 0, value)) << text;
  }
  EXPECT_FALSE(read_figure("ORD-17", 4, value));
  EXPECT_FALSE(read_figure("#17", 1, value));
}

std::vector<std::string> labelled(std::string_view text) {
  std::vector<StatedValue> values;
  collect_labelled_values(text, values);
  std::vector<std::string> out;
  for (const auto& value : values) out.push_back(std::string(value.label) + "=" + std::string(value.text));
  return out;
}

TEST(LabelledValues, LinesCellsAndMembers_AreCollected) {
  EXPECT_EQ(labelled("- **Beds free:** 14\n* Mean wait: ~35 min\nDepth | 3.25 | m"),
            (std::vector<std::string>{"Beds free=14", "Mean wait=35", "Depth=3.25"}));
  EXPECT_EQ(labelled("{\"berths\": 9, \"fee\": 12.50}"), (std::vector<std::string>{"berths=9", "fee=12.50"}));
}

TEST(LabelledValues, SentencesDatesAndClocks_AreNone) {
  EXPECT_TRUE(labelled("Opened: 2026-03-14\nFrom: 10:45\nNo figure: here").empty());
}

struct Answer {
  const char* text;
  PlainAnswer form;
};

class PlainAnswers : public testing::TestWithParam<Answer> {};

TEST_P(PlainAnswers, AreToldByTheirForm) {
  std::vector<StatedValue> values;
  EXPECT_EQ(read_plain_answer(GetParam().text, values), GetParam().form) << GetParam().text;
}

INSTANTIATE_TEST_SUITE_P(Grounding, PlainAnswers,
                         testing::Values(Answer{"418.75", PlainAnswer::kBare}, Answer{"**Result:** 418.75", PlainAnswer::kBare},
                                         Answer{"Total: $90 each (out of season)", PlainAnswer::kBare},
                                         Answer{"A night there is \u20ac64.", PlainAnswer::kSentence},
                                         Answer{"Das Zimmer kostet 64 Euro.", PlainAnswer::kSentence},
                                         Answer{"Is it 12?", PlainAnswer::kNone}, Answer{"I looked. It is 12.", PlainAnswer::kNone},
                                         Answer{"Nothing to report.", PlainAnswer::kNone}, Answer{"{\"total\": 12}", PlainAnswer::kNone},
                                         Answer{"12, 14 and 19 are free", PlainAnswer::kNone},
                                         Answer{"first line\n12", PlainAnswer::kNone}));

bool follows(const std::vector<std::string>& texts, double value, std::size_t decimals) {
  Derivation derivation;
  for (const auto& text : texts) derivation.add(text);
  return derivation.reaches(value, decimals);
}

TEST(Derivation, OneAndTwoSteps_Follow) {
  EXPECT_TRUE(follows({"rent 640", "heating 85.50"}, 725.5, 2));
  EXPECT_TRUE(follows({"12 seats at 18.25"}, 219, 2));
  EXPECT_TRUE(follows({"a deposit of 20 percent on 1450"}, 290, 0));
  EXPECT_TRUE(follows({"fee 19.90", "4 percent of 812"}, 52.38, 2));
  EXPECT_FALSE(follows({"rent 640", "heating 85.50"}, 731.2, 2));
  EXPECT_FALSE(follows({}, 17, 0));
}

TEST(Derivation, TotalsMeansAndCountsOfTables_Follow) {
  const std::string berths = R"([{"len": 7, "fee": 31.20}, {"len": 11, "fee": 44.85}, {"len": 9, "fee": 27.35}])";
  EXPECT_TRUE(follows({berths}, 103.40, 2));
  EXPECT_TRUE(follows({berths}, 34.47, 2));
  EXPECT_TRUE(follows({berths}, 7 * 31.20 + 11 * 44.85 + 9 * 27.35, 2));
  EXPECT_TRUE(follows({berths, "mooring 15.75 extra"}, 103.40 + 15.75, 2));
  EXPECT_FALSE(follows({berths}, 388.12, 2));
}

TEST(Derivation, DaysBetweenDates_Follow) {
  EXPECT_TRUE(follows({"from 2026-02-03 to 2026-05-19"}, 105, 0));
  EXPECT_TRUE(follows({"from 2026-02-03 to 2026-05-19"}, 106, 0));
  EXPECT_FALSE(follows({"from 2026-02-03 to 2026-05-19"}, 88, 0));
}

TEST(Derivation, TimesAStretchApart_Follow) {
  Derivation derivation;
  derivation.add("leave at 9:30");
  derivation.add(R"({"minutes":101,"km":166})");
  EXPECT_TRUE(derivation.reaches_time(9 * 60 + 30));
  EXPECT_TRUE(derivation.reaches_time(11 * 60 + 11));
  EXPECT_FALSE(derivation.reaches_time(11 * 60)) << "no figure says so";
  for (int i = 0; i < 20; ++i) derivation.add(std::to_string(1000 + 7 * i));
  EXPECT_FALSE(derivation.reaches_time(11 * 60 + 11)) << "so many figures reach any time";
}

/// The only date of a text.
Fact date_in(std::string_view text) {
  std::vector<Fact> facts;
  collect_facts(text, facts);
  std::erase_if(facts, [](const Fact& fact) { return fact.kind != FactKind::kDate; });
  return facts.size() == 1 ? facts.front() : Fact{};
}

TEST(Derivation, DatesAFigureOfDaysAway_Follow) {
  Derivation derivation;
  derivation.add("10 business days from Monday 6 October 2025");
  EXPECT_TRUE(derivation.reaches_date(date_in("2025-10-20"))) << "working days";
  EXPECT_TRUE(derivation.reaches_date(date_in("2025-10-16"))) << "days of any kind";
  EXPECT_TRUE(derivation.reaches_date(date_in("2025-09-26"))) << "days before";
  EXPECT_TRUE(derivation.reaches_date(date_in("20 October")));
  EXPECT_FALSE(derivation.reaches_date(date_in("2024-10-20"))) << "another year";
  EXPECT_FALSE(derivation.reaches_date(date_in("2025-10-21")));
  derivation.add("15 days");
  EXPECT_TRUE(derivation.reaches_date(date_in("2025-10-21"))) << "a figure that came later";
  for (int i = 0; i < 20; ++i) derivation.add(std::to_string(1000 + 7 * i));
  EXPECT_FALSE(derivation.reaches_date(date_in("2025-10-20"))) << "so many figures reach any date";
  derivation.clear();
  EXPECT_FALSE(derivation.reaches_date(date_in("2025-10-20")));
}

TEST(Derivation, AnotherUnitRounded_Follows) {
  EXPECT_TRUE(follows({"distance 28993"}, 29, 0));
  EXPECT_TRUE(follows({"size 1834022"}, 1.8, 1));
}

TEST(Derivation, AFigureAndItselfMakeNoNewOne) {
  EXPECT_FALSE(follows({"1 error"}, 100, 0));
  EXPECT_TRUE(follows({"a share of 0.35"}, 35, 0));
}

TEST(Derivation, TooManyFigures_AreSaid) {
  Derivation derivation;
  for (int i = 0; i < 200; ++i) derivation.add("row " + std::to_string(1000 + i * 7));
  EXPECT_TRUE(derivation.crowded());
  derivation.clear();
  EXPECT_FALSE(derivation.crowded());
  EXPECT_EQ(derivation.size(), 0u);
}

std::vector<std::string> entities(std::string_view input) {
  std::vector<CallEntity> found;
  collect_call_entities(input, CallNames::shipped(), found);
  std::vector<std::string> out;
  for (const auto& entity : found) out.emplace_back(entity.text);
  return out;
}

TEST(CallEntities, MailsAccountsIdsAndLinks_AreCollected) {
  EXPECT_EQ(entities(R"({"to": "mia@harbour.test, jo@harbour.test", "cc": []})"),
            (std::vector<std::string>{"mia@harbour.test", "jo@harbour.test"}));
  EXPECT_EQ(entities(R"({"recipient": "DE89370400440532013000", "amount": 12})"),
            (std::vector<std::string>{"DE89370400440532013000", "12"}));
  EXPECT_EQ(entities(R"({"berth_id": "B-204", "tripNumber": "KX4471"})"), (std::vector<std::string>{"B-204", "KX4471"}));
  EXPECT_EQ(entities(R"({"link": "https://clips.example/watch?v=a8Rk2Zt0Qw4"})"),
            (std::vector<std::string>{"https://clips.example/watch?v=a8Rk2Zt0Qw4"}));
}

TEST(CallEntities, CoordinatesAndAmounts_AreCollected) {
  EXPECT_EQ(entities(R"({"lat": 54.3233, "lon": "10.1394", "zoom": 12, "depth": 3.25})"), (std::vector<std::string>{"54.3233", "10.1394"}));
  EXPECT_EQ(entities(R"({"total_amount": "45.50", "limit": 20, "price": 0})"), (std::vector<std::string>{"45.50"}));
}

TEST(CallEntities, WhatAClientMakesUpAndRunningText_AreNone) {
  EXPECT_TRUE(entities(R"({"idempotency_id": "a7-2291", "request_id": "r-88213", "width": "100", "note": "B-204"})").empty());
  EXPECT_TRUE(entities(R"({"body": "Write to mia@harbour.test soon", "link": "https://docs.example/guide/first-steps"})").empty());
  EXPECT_TRUE(entities("mia@harbour.test").empty());
}

TEST(CallEntities, DomainsKeptForExamples_AreMarked) {
  std::vector<CallEntity> found;
  collect_call_entities(R"({"to": "a.b@example.org", "cc": "a.b@mail.example", "bcc": "a.b@harbour.org"})", CallNames::shipped(), found);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_TRUE(found[0].reserved);
  EXPECT_TRUE(found[1].reserved);
  EXPECT_FALSE(found[2].reserved);
}

TEST(Contacts, AreMailsChannelsAndTelephoneNumbers) {
  constexpr std::string_view kText = "Mail jo@quay.example. or #harbour-9, call +4755501470; not @jo, jo@quay, # 9, #9, C-4 or 2026.";
  std::vector<std::pair<Contact::Kind, std::string_view>> found;
  std::size_t at = 0;
  for (auto contact = next_contact(kText, at); !contact.text.empty(); contact = next_contact(kText, at)) {
    found.emplace_back(contact.kind, contact.text);
  }
  EXPECT_EQ(found, (std::vector<std::pair<Contact::Kind, std::string_view>>{{Contact::Kind::kMail, "jo@quay.example"},
                                                                            {Contact::Kind::kChannel, "#harbour-9"},
                                                                            {Contact::Kind::kNumber, "+4755501470"}}));
  for (const auto* text : {"jo@quay.example", "#harbour", "555-0147"}) EXPECT_TRUE(may_hold_contact(text)) << text;
  EXPECT_FALSE(may_hold_contact("Berth C-4 is free from 5 to 8 June."));
  std::vector<std::string_view> mails;
  collect_mails("555-0147, a@quay.example, b@quay.example and c@quay.example", 2, mails);
  EXPECT_EQ(mails, (std::vector<std::string_view>{"a@quay.example", "b@quay.example"}));
}

TEST(CallEntities, AreNamedInTextsWhateverTheCase) {
  EXPECT_TRUE(names_entity("mail Mia@Harbour.test please", "mia@harbour.TEST"));
  EXPECT_FALSE(names_entity("mail jo@harbour.test please", "mia@harbour.test"));
  EXPECT_TRUE(names_entity("what berth", "HAT"));
  EXPECT_FALSE(names_word("what berth", "HAT"));
  EXPECT_TRUE(names_word("what a hat", "HAT")) << "the first place is part of a word, the second is not";
}

TEST(Payload, NullsAndEmptyTexts_HoldNothing) {
  for (const std::string_view output :
       {"null", "None", R"({"result": null})", R"({"stdout": "", "stderr": ""})", R"({"reply": {"text": " "}})"}) {
    EXPECT_TRUE(holds_nothing(output)) << output;
  }
  for (const std::string_view output :
       {"", "{}", R"({"result": 0})", R"({"ok": true, "result": null})", R"({"stdout": "7"})", "[null]", "nullable"}) {
    EXPECT_FALSE(holds_nothing(output)) << output;
  }
}

}  // namespace
}  // namespace runwarden::plugins
