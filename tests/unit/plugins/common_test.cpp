#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <random>
#include <stdexcept>

#include "common/content.h"
#include "common/evidence_index.h"
#include "common/facts.h"
#include "common/inner_output.h"
#include "common/json_scan.h"
#include "common/reading.h"
#include "common/recovery.h"
#include "common/run_view.h"
#include "common/settings.h"
#include "common/sql.h"
#include "common/tools.h"
#include "text/fold.h"

namespace runwarden::plugins {
namespace {

const Lexicon& lexicon() {
  static const Lexicon shipped = make_lexicon(Settings({}));
  return shipped;
}

std::string folded(std::string_view text) {
  std::string out;
  fold(text, out);
  return out;
}

TEST(Fold, CaseAccentsAndSigns) {
  EXPECT_EQ(folded("CAF\xC3\x89"), "cafe");
  EXPECT_EQ(folded("Cafe\xCC\x81"), "cafe");
  EXPECT_EQ(folded("I\xE2\x80\x99ve"), "i've");
  EXPECT_EQ(folded("\xE2\x80\x9CHi\xE2\x80\x9D"), "\"hi\"");
  EXPECT_EQ(folded("Stra\xC3\x9F"
                   "e"),
            "strasse");
  EXPECT_EQ(folded("2024\xE2\x80\x93"
                   "05"),
            "2024-05");
  EXPECT_EQ(folded("\xCE\x91\xCE\x98"), "\xCE\xB1\xCE\xB8");
}

TEST(Fold, StressAtTheEndOfAWord_IsKeptBesideTheText) {
  std::string out;
  std::vector<std::uint32_t> stressed;
  fold("Cancel\u00E9 el caf\u00E9s. Envi\u00F3", out, stressed);
  EXPECT_EQ(out, "cancele el cafes. envio");
  EXPECT_EQ(stressed, (std::vector<std::uint32_t>{6, 22}));
}

TEST(Fold, BytesThatAreNoText_BecomeBlanks) {
  EXPECT_EQ(folded("a\xFF\xFE"
                   "b\xC3"),
            "a  b ");
}

TEST(Cut, NeverCutsACharacter) {
  EXPECT_EQ(cut("abc", 2), "ab");
  EXPECT_EQ(cut("\xC3\xA9\xC3\xA9\xC3\xA9", 2), "\xC3\xA9\xC3\xA9");
  EXPECT_EQ(cut("ab", 160), "ab");
}

struct Saying {
  const char* text;
  int claims;
  bool admits;
};

class Sentences : public testing::TestWithParam<Saying> {};

TEST_P(Sentences, ClaimsAndAdmissions) {
  Reading reading;
  read(GetParam().text, lexicon(), reading);
  EXPECT_EQ(static_cast<int>(reading.claims.size()), GetParam().claims) << GetParam().text;
  EXPECT_EQ(reading.admits(), GetParam().admits) << GetParam().text;
}

INSTANTIATE_TEST_SUITE_P(
    Reading, Sentences,
    testing::Values(Saying{"I have cancelled the order.", 1, false}, Saying{"The order has not been cancelled.", 0, false},
                    Saying{"The order was cancelled and the money refunded.", 2, false}, Saying{"I will cancel the order.", 0, false},
                    Saying{"I would like it cancelled.", 0, false}, Saying{"Should it be cancelled?", 0, false},
                    Saying{"If it is cancelled, tell me.", 0, false}, Saying{"Your cancelled order is here.", 0, false},
                    Saying{"You ordered it on Monday.", 0, false}, Saying{"I'm forwarding this to billing now.", 1, false},
                    Saying{"I was able to book it.", 1, false}, Saying{"I could not book it.", 0, true},
                    Saying{"Booking confirmed!", 1, false}, Saying{"It needs to be confirmed.", 0, false},
                    Saying{"No problem, your seat has been changed.", 1, false}, Saying{"Once confirmed, you get a mail.", 0, false},
                    Saying{"Dr. Smith was notified.", 1, false}, Saying{"El pedido ha sido cancelado.", 1, false},
                    Saying{"No he podido cancelarlo; no se pudo procesar.", 0, true}, Saying{"", 0, false},
                    Saying{"Your plan has been cancelled.", 1, false}, Saying{"The second attempt was deleted.", 1, false},
                    Saying{"Your annual plan renewal was cancelled.", 1, false}, Saying{"Su plan ha sido cancelado.", 1, false},
                    Saying{"The attempted charge has been refunded.", 1, false}, Saying{"Anna's plan was upgraded.", 1, false},
                    Saying{"Your plan needs to be cancelled.", 0, false}, Saying{"I plan to have it cancelled.", 0, false},
                    Saying{"Our team plans to have it cancelled.", 0, false}, Saying{"You need it cancelled.", 0, false},
                    Saying{"The plan to have it cancelled is new.", 0, false}, Saying{"This needs to be cancelled.", 0, false}));

INSTANTIATE_TEST_SUITE_P(Attributes, Sentences,
                         testing::Values(Saying{"Below is a complete, signed form.", 0, false},
                                         Saying{"Below is a **complete, signed form** for you.", 0, false},
                                         Saying{"All set, enjoy the trip.", 2, false},
                                         Saying{"Your order has been **cancelled**.", 1, false}));

INSTANTIATE_TEST_SUITE_P(NotByTheAgent, Sentences,
                         testing::Values(Saying{"I'm notified of it.", 0, false}, Saying{"I was asked to cancel it.", 0, false},
                                         Saying{"We've been notified of it.", 0, false}, Saying{"I've notified Ann.", 1, false},
                                         Saying{"You're all set!", 2, false}));

INSTANTIATE_TEST_SUITE_P(
    UnderWay, Sentences,
    testing::Values(Saying{"Cancelling order 12 now.", 1, false}, Saying{"Sure, cancelling order 12.", 1, false},
                    Saying{"Okay, sending the invoice to Ann.", 1, false}, Saying{"Of course, booking table 4 for you.", 1, false},
                    Saying{"Sending the report for you.", 1, false}, Saying{"Claro, enviando el informe a Ana.", 1, false},
                    Saying{"Cancelling is free now.", 0, false}, Saying{"Cancelling an order requires a call.", 0, false},
                    Saying{"Sure, cancelling your order will take a day.", 0, false},
                    Saying{"Sure, cancelling orders takes a day.", 0, false}, Saying{"Cancelling an order", 0, false},
                    Saying{"Booking early saves money now.", 0, false}, Saying{"Are you cancelling order 12 now?", 0, false},
                    Saying{"He left early, cancelling order 12.", 0, false}, Saying{"If asked, cancelling order 12 now.", 0, false}));

INSTANTIATE_TEST_SUITE_P(NoteForms, Sentences,
                         testing::Values(Saying{"Alarm set for 10:00.", 1, false}, Saying{"Password reset.", 1, false},
                                         Saying{"Volume set to 40 now.", 1, false}, Saying{"Users set alarms for 10:00.", 0, false},
                                         Saying{"I set it to 40.", 1, false}, Saying{"Character set for the page.", 0, false},
                                         Saying{"The alarm set for 10:00 is loud.", 0, false}, Saying{"Please set it for 10:00.", 0, false},
                                         Saying{"You can set it to 40.", 0, false}, Saying{"They set the alarm for 10:00.", 0, false}));

TEST(Reading, JsonOnALineOfItsOwn_IsASentenceOfItsOwn) {
  Reading reading;
  read("Sure, sending the mails\n{\"name\": \"send\"}", lexicon(), reading);
  EXPECT_EQ(reading.sentences.size(), 2u);
  EXPECT_EQ(reading.claims.size(), 1u);
}

TEST(Reading, MessageInAJsonEnvelope_IsOpened) {
  Reading reading;
  read(R"({"message":"I've sent the form.\nAnything else?"})", lexicon(), reading);
  EXPECT_EQ(reading.claims.size(), 1u);
}

TEST(Reading, TextWithoutAnEnd_IsManySentences) {
  std::string text;
  for (int i = 0; i < 4000; ++i) text += i % 2 == 0 ? "I sent the mail, " : "I sent it and ";
  Reading reading;
  read(text, lexicon(), reading);
  EXPECT_GT(reading.claims.size(), 1000u);
  for (const auto& sentence : reading.sentences) EXPECT_LE(sentence.end - sentence.begin, 512u);
}

TEST(Reading, CodeBlocks_AreLeftOut) {
  Reading reading;
  read("Run this:\n```\nprint('order cancelled')\n```\nLet's see what it prints.", lexicon(), reading);
  EXPECT_TRUE(reading.claims.empty());
  EXPECT_TRUE(ends_in_plan(reading));
}

TEST(Reading, QuotedWordsThatALineWithAColonOffers_AreLeftOut) {
  const auto claims = [](std::string_view text) {
    Reading reading;
    read(text, lexicon(), reading);
    return reading.claims.size();
  };
  const std::string offered = "I have cancelled the order. It was too late by then, and nobody in the harbour is to blame for the delay.";
  EXPECT_EQ(claims("You could write:\n\n\u201CI have cancelled the order.\n" + offered + "\u201D\n\nAnything else?"), 0u);
  EXPECT_EQ(claims("You could write:\n\"" + offered + "\"\nI have sent the form."), 1u);
  EXPECT_EQ(claims("Hello.\n\"" + offered + "\""), 1u) << "no colon";
  EXPECT_EQ(claims("You could write:\n\"" + offered), 1u) << "no closing mark";
  EXPECT_EQ(claims("You could write:\n" + offered), 1u) << "no quotation marks";
}

TEST(Reading, ItemsBehindAQuestion_AreChoices) {
  const auto claims = [](std::string_view text) {
    Reading reading;
    read(text, lexicon(), reading);
    return reading.claims.size();
  };
  EXPECT_EQ(claims("Which one is it?\n- Sent by mistake\n- Ordered twice"), 0u);
  EXPECT_EQ(claims("Could you tell me if it was:\n1. Sent by mistake\n2. Ordered twice"), 0u);
  EXPECT_EQ(claims("Which one is it?\nI've sent the form."), 1u) << "no item";
  EXPECT_EQ(claims("These are the news:\n- I've sent the form"), 1u) << "no question";
  EXPECT_EQ(claims("Which one is it?\n- I've sent the form."), 1u) << "said of the agent itself";
  EXPECT_EQ(claims("Which one is it?\n*I've sent the form.*"), 1u) << "emphasis";
  EXPECT_EQ(claims("Which one is it?\n2 forms sent."), claims("2 forms sent.")) << "a number of things";
  EXPECT_EQ(claims("Anything else?\n- I've sent the form"), 1u) << "a courtesy";
}

TEST(Reading, WhatIsQuotedBehindAColon_IsSaidByOthers) {
  const auto claims = [](std::string_view text) {
    Reading reading;
    read(text, lexicon(), reading);
    return reading.claims.size();
  };
  EXPECT_EQ(claims("1. *Wes, 10 Feb:* \"I've sent the form to you today.\" Oak, from March."), 0u);
  EXPECT_EQ(claims("Wes: \"Oak, from March.\" I've sent the form to you today."), 1u);
  EXPECT_EQ(claims("The form \"Oak\" has been sent."), 1u);
  EXPECT_EQ(claims("Note: \"I've sent the form"), 1u) << "nothing closes it";
}

TEST(Reading, ShortQuotationBehindAColon_MayBeAnErrorThatTheAgentTells) {
  Reading reading;
  read("The bank says:\n\n\"The order could not be found. Please try again.\"", lexicon(), reading);
  EXPECT_TRUE(reading.admits());
}

TEST(Reading, MonthThatIsAModalToo_LeavesAClaimAClaim) {
  Reading reading;
  const auto claims = [&](std::string_view text) {
    read(text, lexicon(), reading);
    return reading.claims.size();
  };
  EXPECT_EQ(claims("Your berth from 3 to 9 May has been cancelled."), 1u);
  EXPECT_EQ(claims("Your berth on May 9 has been cancelled."), 1u);
  EXPECT_EQ(claims("The crossing in May has been cancelled."), 1u);
  EXPECT_EQ(claims("Your berth may have been cancelled."), 0u);
}

TEST(Reading, GermanDateWithPointAndCommas_PartsNoClause) {
  Reading reading;
  read("Ihr Liegeplatz wurde auf Donnerstag, den 3. Dezember, um 10 Uhr verlegt.", lexicon(), reading);
  EXPECT_EQ(reading.sentences.size(), 1u);
  EXPECT_EQ(reading.claims.size(), 1u);
  read("Der Liegeplatz ist 12. Er wurde verlegt.", lexicon(), reading);
  EXPECT_EQ(reading.sentences.size(), 2u);
}

TEST(Sql, StatementIsReadWhereATextBegins) {
  EXPECT_EQ(statement_of("  Select berth from harbour where n > 5"), Statement::kQuery);
  EXPECT_EQ(statement_of("DELETE from berths"), Statement::kChangeRows);
  EXPECT_EQ(statement_of("create table berths(n int)"), Statement::kOther);
  EXPECT_EQ(statement_of("selected berths"), Statement::kNone);
  EXPECT_EQ(statement_of("please update the berth"), Statement::kNone);
  EXPECT_TRUE(has_statement(R"({"db":"harbour","sql":"update berths set n = 5"})", Statement::kChangeRows));
  EXPECT_FALSE(has_statement(R"({"db":"harbour","sql":"select n from berths"})", Statement::kChangeRows));
  EXPECT_FALSE(has_statement(R"({"update ":)", Statement::kChangeRows));
}

TEST(Reading, SpanishVerbOfThePast_IsAClaimByItsAccent) {
  Reading reading;
  const auto claims = [&](std::string_view text) {
    read(text, lexicon(), reading);
    return reading.claims.size();
  };
  EXPECT_EQ(claims("Cancel\u00E9 el amarre y envi\u00E9 el recibo."), 2u);
  EXPECT_TRUE(reading.claims[0].by_agent);
  EXPECT_EQ(claims("Ya se envi\u00F3 el recibo al puerto."), 1u);
  EXPECT_FALSE(reading.claims[0].by_agent);
  EXPECT_EQ(claims("Acabo de cancelar el amarre del puerto."), 1u);
  EXPECT_EQ(claims("Cancele el amarre en la oficina del puerto."), 0u) << "tells the user to do it";
  EXPECT_EQ(claims("El capit\u00E1n cancel\u00F3 el amarre del puerto."), 0u) << "somebody else did";
  EXPECT_EQ(claims("No cancel\u00E9 el amarre del puerto."), 0u);
  EXPECT_EQ(claims("En la p\u00E1gina 6 del acta se cancel\u00F3 el amarre."), 0u) << "what stands there";
}

TEST(Reading, GermanObjectBeforeTheVerb_LeavesAClaimAClaim) {
  Reading reading;
  const auto claims = [&](std::string_view text) {
    read(text, lexicon(), reading);
    return reading.claims.size();
  };
  EXPECT_EQ(claims("Den Liegeplatz habe ich storniert."), 1u);
  EXPECT_EQ(claims("Den Liegeplatz C-4 haben wir f\u00FCr Sie storniert."), 1u);
  EXPECT_EQ(claims("Haben wir den Liegeplatz storniert?"), 0u);
  EXPECT_EQ(claims("Den Liegeplatz hat der Kunde storniert."), 0u);
}

TEST(Reading, ClauseBesideTheVerbs_GovernsThemNoFurther) {
  Reading reading;
  const auto verbs = [&](std::string_view text) {
    read(text, lexicon(), reading);
    return std::count_if(reading.claims.begin(), reading.claims.end(),
                         [](const Claim& claim) { return claim.verb != kNoVerb && !claim.finding; });
  };
  EXPECT_EQ(verbs("I can confirm that your berth has been cancelled."), 1);
  EXPECT_EQ(verbs("The berth you asked about has been cancelled."), 1);
  EXPECT_EQ(verbs("The berth can be cancelled."), 0);
}

TEST(Reading, PointBehindADay_EndsNoSentenceBeforeLowerCase) {
  const auto sentences = [](std::string_view text) {
    Reading reading;
    read(text, lexicon(), reading);
    return reading.sentences.size();
  };
  EXPECT_EQ(sentences("Ihr Liegeplatz wurde auf den 19.05. um 08:40 Uhr verlegt."), 1u);
  EXPECT_EQ(sentences("Ihr Liegeplatz wurde auf den 19. verlegt."), 1u);
  EXPECT_EQ(sentences("Ihr Liegeplatz ist frei ab dem 19.05. Wir haben ihn verlegt."), 2u);
  EXPECT_EQ(sentences("Er kostet 19. wir haben ihn verlegt."), 2u) << "no day";
  EXPECT_EQ(sentences("Version 2.1.05. wurde verlegt."), 2u) << "no date";
}

TEST(Reading, Goodbyes) {
  Reading reading;
  read("You're welcome! Have a great day!", lexicon(), reading);
  EXPECT_TRUE(is_goodbye(reading));
  read("Thank you! Your order has been cancelled.", lexicon(), reading);
  EXPECT_FALSE(is_goodbye(reading));
  read("Crossing 14 at 06:40, berth 9 from 5 to 8 June, fee 120.50. Have a great trip!", lexicon(), reading);
  EXPECT_FALSE(is_goodbye(reading)) << "a report that ends politely";
  read("Fair winds to you and the crew!", lexicon(), reading);
  EXPECT_TRUE(is_goodbye(reading));
  read("Berth 9 is free!", lexicon(), reading);
  EXPECT_FALSE(is_goodbye(reading)) << "it tells something";
}

struct Output {
  const char* text;
  bool empty;
  bool fails;
};

class Outputs : public testing::TestWithParam<Output> {};

TEST_P(Outputs, EmptyOrFailing) {
  static const ContentRules rules = make_content_rules(Settings({}));
  EXPECT_EQ(is_empty_output(GetParam().text, lexicon(), rules), GetParam().empty) << GetParam().text;
  EXPECT_EQ(is_soft_failure(GetParam().text, rules), GetParam().fails) << GetParam().text;
}

INSTANTIATE_TEST_SUITE_P(
    Content, Outputs,
    testing::Values(
        Output{"", true, false}, Output{" \n", true, false}, Output{"nil", true, false}, Output{"\"\"", true, false},
        Output{"[ ]", true, false}, Output{R"({"total": 0, "link": [{"url": "x"}]})", true, false}, Output{"sin resultados", true, false},
        Output{"No berths.", true, false}, Output{"0 crossings", true, false}, Output{"No conflicts.", false, false},
        Output{"No problems", false, false}, Output{"berth | fee\n-----+----\n(0 rows)", true, false},
        Output{"Empty DataFrame\nColumns: [fee]\nIndex: []", true, false}, Output{"berth | fee\nC-4 | 12\n(1 row)", false, false},
        Output{R"({"startAt":0,"total":0,"issues":[]})", true, false}, Output{R"({"issues":[]})", false, false},
        Output{"[{'reviews': 0, 'rating': 0.0, 'marks': 0}]", true, false}, Output{R"({"balance": 0})", false, false},
        Output{R"([{"sum": null, "n": 0}])", true, false}, Output{"No berths above the given length (12 m).", true, false},
        Output{R"({"status":"success","data":{"resultType":"streams","result":[]}})", true, false},
        Output{"net | boats\n-----+------\n     |    0\n(1 row)", true, false},
        Output{"net | boats\n-----+------\n  12 |    0\n(1 row)", false, false},
        Output{R"({"results":[],"suggestion":"Try fewer terms"})", true, false},
        Output{"Su búsqueda no ha producido resultados.", true, false}, Output{"No berths matched your search.", true, false},
        Output{"Keine Boote im Hafen gefunden", true, false}, Output{"No conflicts found in berth", false, false},
        Output{"No error was found", false, false}, Output{"No berth found, 3 boats wait", false, false},
        Output{"none of the seats are taken", false, false}, Output{"0", false, false}, Output{R"({"error": null, "id": 7})", false, false},
        Output{R"({"error": ""})", false, false}, Output{R"({"error": "no seat"})", false, true},
        Output{R"({"error": {"code": 5}})", false, true}, Output{R"({"data": {"error": "x"}})", false, false},
        Output{R"({"success": false})", false, true}, Output{R"({"ok": false, "id": 3})", false, true},
        Output{R"({"isError": true})", false, true}, Output{R"({"status": "error"})", false, true},
        Output{R"({"result": {"success": false}})", false, true},
        Output{R"({"id": 1, "response": {"a": {}, "error": {"code": 5}}})", false, true},
        Output{R"({"result": {"error": null, "page": {"success": false}}, "id": 1})", false, false},
        Output{R"({"result": {"id": 2}, "isError": true})", false, true}, Output{R"({"status": "failed payments: 0"})", false, false},
        Output{"Error: not found", false, true}, Output{"ERROR 42", false, true}, Output{"Error rate is 2%", false, false},
        Output{"Errorless run", false, false}, Output{"All good, 0 errors and no exception", false, false}));

// As deep as 8 MiB of output can nest them.
TEST(EmptyOutput, BlocksOfCodeWithinOneAnother_AreReadOnce) {
  static const ContentRules rules = make_content_rules(Settings({}));
  std::string text;
  for (int i = 0; i < 1'000'000; ++i) text += "```\n";
  text += "[]\n";
  for (int i = 0; i < 1'000'000; ++i) text += "```\n";
  EXPECT_FALSE(is_empty_output(text, lexicon(), rules));
}

TEST(EmptyOutput, ListThatIsNull_BesideWhatWasAskedFor) {
  const ContentRules rules = make_content_rules(Settings({}));
  const auto empty = [&](const char* output) { return is_empty_output(output, lexicon(), rules, R"({"day":"2026-07-26"})"); };
  EXPECT_TRUE(empty(R"({"day":"2026-07-26","sailings":null})"));
  EXPECT_TRUE(empty(R"({"day":"2026-07-26","buchungen":null})"));
  EXPECT_FALSE(empty(R"({"day":"2026-07-26","hafen":null})"));
  EXPECT_FALSE(empty(R"({"day":"2026-07-26","address":null})"));
}

TEST(EmptyOutput, MarkupWithoutText_MayRepeatWhatWasAskedFor) {
  const ContentRules rules = make_content_rules(Settings({}));
  const auto empty = [&](const char* output) { return is_empty_output(output, lexicon(), rules, R"({"berth":"C-4"})"); };
  EXPECT_TRUE(empty(R"(<?xml version="1.0"?><log><berth no="C-4"/><sailings/></log>)"));
  EXPECT_TRUE(empty(R"(<log><berth no="C-4"/><ereignisse/></log>)"));
  EXPECT_FALSE(empty(R"(<log><berth no="C-5"/><sailings/></log>)")) << "another berth";
  EXPECT_FALSE(empty(R"(<log><berth no="C-4"/><free/></log>)")) << "an answer";
  EXPECT_FALSE(empty(R"(<log><berth no="C-4"/><sailings>2</sailings></log>)"));
  EXPECT_FALSE(empty(R"(<log><berth no="C-4/></log>)")) << "an attribute without end";
}

INSTANTIATE_TEST_SUITE_P(
    NothingFound, Outputs,
    testing::Values(Output{R"({"berths":[],"as_of":"2026-03-04","unit":"m"})", true, false},
                    Output{R"({"totalSize":0,"done":true,"records":[]})", true, false},
                    Output{R"({"hits":{"total":{"value":0,"relation":"eq"},"hits":[]}})", true, false},
                    Output{R"({"@context":"x","value":[]})", true, false},
                    Output{R"({"columns":["berth","fee"],"rows":[],"rowCount":0})", true, false},
                    Output{R"({"status":"NO_DATA"})", true, false}, Output{R"({"totalResults":"0"})", true, false},
                    Output{R"({"text":""})", true, false}, Output{R"({"data":{"berth":null},"errors":[]})", true, false},
                    Output{R"({"errors":[],"warnings":[]})", false, false}, Output{R"({"status":"IN_ORDER"})", false, false},
                    Output{"No berths for this ship", true, false}, Output{"No berths found at the north quay.", true, false},
                    Output{"No storms reported at the quay.", false, false}, Output{"Total: 0", true, false},
                    Output{"results: []", true, false}, Output{"depth: 0", false, false}, Output{"<berths/>", true, false},
                    Output{R"(<berths total="0"></berths>)", true, false}, Output{R"(<berths total="3"></berths>)", false, false},
                    Output{"<lock/>", false, false}, Output{"<berths>C-4</berths>", false, false},
                    Output{"| berth | fee |\n|---|---|", true, false}, Output{"| berth | fee |\n| C-4 | 12 |", false, false},
                    Output{R"(HTTP 200 {"berths":[]})", true, false}, Output{"Query returned no results.", true, false}));

INSTANTIATE_TEST_SUITE_P(
    ZeroOfThem, Outputs,
    testing::Values(Output{"0 berths match.", true, false}, Output{"0 rows affected", true, false},
                    Output{"Found 0 crossings.", true, false}, Output{"Es wurden 0 Liegepl\u00E4tze gefunden.", true, false},
                    Output{"0 Zeilen gefunden", true, false}, Output{"Se encontraron 0 barcos.", true, false},
                    Output{"0 filas encontradas", true, false}, Output{"Anzahl: 0", true, false}, Output{"0 conflicts found", false, false},
                    Output{"Es wurden 0 Fehler gefunden.", false, false}, Output{"0 berths left", false, false},
                    Output{"0 of 12 berths matched", false, false}, Output{R"({"gefunden":false})", true, false},
                    Output{R"({"encontrado":false})", true, false}, Output{R"({"total":0,"page":1,"size":20,"berths":[]})", true, false},
                    Output{R"({"content":[],"pageable":{"pageNumber":0},"totalElements":0,"last":true,"size":20,"number":0})", true, false},
                    Output{R"({"took":3,"_shards":{"total":5},"hits":{"total":{"value":0},"hits":[]}})", true, false},
                    Output{R"({"Items":[],"Count":0,"ScannedCount":512})", true, false},
                    Output{R"({"data":{"berth":null},"extensions":{"cost":{"requested":5}}})", true, false},
                    Output{R"({"status":200,"body":"[]"})", true, false}, Output{R"({"fees":0,"crossings":0})", true, false},
                    Output{R"({"name":"Heron","size":20})", false, false}, Output{R"({"number":7,"note":null})", false, false},
                    Output{R"({"open":true,"berths":[]})", false, false}, Output{"id;fee;depth\n", true, false},
                    Output{"order_id,fee,depth", true, false}, Output{"red,green,blue", false, false},
                    Output{"```json\n[]\n```", true, false}, Output{"```\n[4]\n```", false, false},
                    Output{R"(<result total="0"/>)", true, false}, Output{R"(<result total="2"/>)", false, false},
                    Output{R"(<lock depth="0"/>)", false, false}));

INSTANTIATE_TEST_SUITE_P(Wrapped, Outputs,
                         testing::Values(Output{R"({"result": "Error: no seat"})", false, true},
                                         Output{R"(Status Code: 200. Response: {"error": "no seat"})", false, true},
                                         Output{R"(Status of berth 4: {"free": true})", false, false},
                                         Output{R"({"content": [{"type": "text", "text": "Error: no \"seat\""}]})", false, true},
                                         Output{R"([{"type": "text", "text": "{\"success\": false}"}])", false, true},
                                         Output{R"([{"error": "no seat"}])", false, true}, Output{"[ERROR: no seat]", false, true},
                                         Output{"Observation: Error - no seat", false, true},
                                         Output{"Tool 'seats' executed.\nResult: [\n  {\n    \"error\": \"no seat\"\n  }\n]", false, true},
                                         Output{"<error>no seat</error>", false, true}, Output{"#ERROR#", false, true},
                                         Output{"# Error codes", false, false},
                                         Output{R"([{"error": "no seat"}, {"seat": 4}])", false, false},
                                         Output{R"([{"success": false, "id": 7}])", false, false},
                                         Output{R"({"title": "Error: a novel"})", false, false}, Output{"[Error, Trial]", false, true},
                                         Output{R"({"result": "All seats, 0 errors", "id": 3})", false, false}));

TEST(EvidenceIndex, MomentsAsScriptsPrintThem_AreKnown) {
  EvidenceIndex index;
  index.add_facts("read=False at=datetime.datetime(2024, 5, 15, 18, 30) day=datetime.date(2024, 7, 3), t=time(9, 45), f(11, 12)");
  std::vector<Fact> facts;
  collect_facts("May 15, 2024 at 6:30 PM; 3 July; 9:45; 11:12 or 4 August", facts);
  ASSERT_EQ(facts.size(), 6u);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_TRUE(index.holds(facts[i])) << facts[i].text;
  for (std::size_t i = 4; i < 6; ++i) EXPECT_FALSE(index.holds(facts[i])) << facts[i].text;
}

TEST(JsonScan, EqualValues_HaveEqualHashes) {
  EXPECT_EQ(canonical_hash(R"({"a":1,"b":[true,null,"x"]})"), canonical_hash(" { \"b\" : [ true, null, \"\\u0078\" ], \"a\" : 1.0 } "));
  EXPECT_NE(canonical_hash(R"({"a":1,"b":2})"), canonical_hash(R"({"a":2,"b":1})"));
  EXPECT_NE(canonical_hash("[1,2]"), canonical_hash("[2,1]"));
  EXPECT_EQ(canonical_hash(" plain "), canonical_hash("plain"));
  EXPECT_NE(canonical_hash(R"({"a":"1"})"), canonical_hash(R"({"a":1})"));
}

TEST(JsonScan, StringsOfEveryLength_EndAtTheirOwnQuotationMark) {
  for (std::size_t length = 0; length < 40; ++length) {
    for (const std::string inner : {"", "\\\"", "\\\\", "'", "\\n\\\""}) {
      const std::string value = std::string(length, 'x') + inner + std::string(length % 7, 'y');
      const std::string text = "{\"a\":{\"b\":[\"" + value + "\"]},\"c\":\"" + value + "\"}";
      JsonScanner cursor(text);
      for (int i = 0; i < 4; ++i) (void)cursor.next();
      ASSERT_TRUE(cursor.leave()) << text;
      ASSERT_EQ(cursor.next(), JsonScanner::Token::kKey) << text;
      ASSERT_EQ(cursor.next(), JsonScanner::Token::kString) << text;
      EXPECT_EQ(cursor.text(), value);
      EXPECT_EQ(cursor.escaped(), inner.find('\\') != std::string::npos);
      EXPECT_EQ(cursor.next(), JsonScanner::Token::kObjectEnd);
      JsonScanner open(std::string_view(text).substr(0, text.size() - 2));
      auto token = open.next();
      while (token != JsonScanner::Token::kBad && token != JsonScanner::Token::kEnd) token = open.next();
      EXPECT_EQ(token, JsonScanner::Token::kBad) << text;
    }
  }
}

TEST(Words, RunsOfLettersAndDigits_WhereverTheyBegin) {
  const auto is_part = [](char c) { return (std::isalnum(static_cast<unsigned char>(c)) != 0) || (c & 0x80) != 0; };
  std::mt19937 draw(7);
  for (int round = 0; round < 2000; ++round) {
    std::string text(draw() % 70, ' ');
    for (char& c : text) c = "ab9Z\xC3 -.@[`{/:"[draw() % 15];
    std::vector<std::string> expected, words;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (!is_part(text[i])) continue;
      if (i == 0 || !is_part(text[i - 1])) expected.emplace_back();
      expected.back() += text[i];
    }
    EXPECT_TRUE(for_each_word(text, [&](std::string_view word) {
      words.emplace_back(word);
      return true;
    }));
    ASSERT_EQ(words, expected) << text;
    const bool passed = for_each_word(text, [&](std::string_view word) { return word != words.back(); });
    EXPECT_EQ(passed, words.empty());
  }
}

TEST(JsonScan, FaultsAndDepth_EndTheWalk) {
  for (const std::string& text : {std::string("{\"a\":"), std::string("[1,"), std::string("{]"), std::string("\"x"),
                                  std::string(100000, '['), std::string("{\"a\" 1}")}) {
    JsonScanner cursor(text);
    auto token = cursor.next();
    for (int i = 0; i < 1000 && token != JsonScanner::Token::kBad && token != JsonScanner::Token::kEnd; ++i) token = cursor.next();
    EXPECT_EQ(token, JsonScanner::Token::kBad);
  }
}

struct FactCase {
  const char* text;
  FactKind kind;
  bool strong;
  const char* same_as;  // another spelling of the same fact, or null
};

class Facts : public testing::TestWithParam<FactCase> {};

TEST_P(Facts, KindStrengthAndNormalForm) {
  std::vector<Fact> facts;
  collect_facts(GetParam().text, facts);
  ASSERT_EQ(facts.size(), 1u) << GetParam().text;
  EXPECT_EQ(facts[0].kind, GetParam().kind);
  EXPECT_EQ(facts[0].strong, GetParam().strong) << GetParam().text;
  if (GetParam().same_as == nullptr) return;
  std::vector<Fact> others;
  collect_facts(GetParam().same_as, others);
  ASSERT_EQ(others.size(), 1u) << GetParam().same_as;
  EXPECT_EQ(facts[0].normal, others[0].normal) << GetParam().same_as;
}

INSTANTIATE_TEST_SUITE_P(
    Facts, Facts,
    testing::Values(FactCase{"2026-06-28", FactKind::kDate, true, "June 28, 2026"},
                    FactCase{"28 June", FactKind::kDate, true, "06/28/2026"}, FactCase{"28 de junio", FactKind::kDate, true, "28.06.2026"},
                    FactCase{"1,299.50", FactKind::kNumber, true, "$1299.5"}, FactCase{"12", FactKind::kNumber, false, "12.0"},
                    FactCase{"1.299,50", FactKind::kNumber, true, "1299.5"}, FactCase{"84,50 \u20AC", FactKind::kNumber, true, "84.50"},
                    FactCase{"2.500 Euro", FactKind::kNumber, true, "2500"}, FactCase{"2.500.000", FactKind::kNumber, true, "2,500,000"},
                    FactCase{"2.500 km", FactKind::kNumber, true, "2.5"}, FactCase{"2026", FactKind::kNumber, false, nullptr},
                    FactCase{"08:15", FactKind::kTime, true, nullptr}, FactCase{"962.21\u00B2", FactKind::kNumber, true, "962.21"},
                    FactCase{"INV-2041", FactKind::kId, true, "inv2041"}, FactCase{"#8842", FactKind::kId, true, nullptr},
                    FactCase{"BA2490", FactKind::kId, true, "ba2490"}, FactCase{"1999-2012", FactKind::kId, false, nullptr},
                    FactCase{"late-1990s", FactKind::kId, false, nullptr}, FactCase{"212-247", FactKind::kId, false, nullptr},
                    FactCase{"L75-L801", FactKind::kId, false, nullptr}, FactCase{"20-150ms", FactKind::kId, false, nullptr},
                    FactCase{"555-0147", FactKind::kId, true, nullptr}, FactCase{"912-347", FactKind::kId, true, nullptr},
                    FactCase{"4204-9921", FactKind::kId, true, nullptr}, FactCase{"B12-L40", FactKind::kId, true, nullptr},
                    FactCase{"3pm", FactKind::kNumber, false, nullptr}));

TEST(Facts, AddressesOnTheNet_AreNone) {
  std::vector<Fact> facts;
  collect_facts("See https://example.com/a1234/567890?id=77777 for more", facts);
  EXPECT_TRUE(facts.empty());
}

TEST(Facts, LinesOfAFile_AreNone) {
  std::vector<Fact> facts;
  collect_facts("It is in [README.md](README.md#L305-L345) and quay.go#L65", facts);
  EXPECT_TRUE(facts.empty());
  collect_facts("order #L6512", facts);
  EXPECT_EQ(facts.size(), 1u);
}

TEST(Facts, PartsOfIds_AreWeak) {
  for (const auto* text : {"Transfer `...i0g92tru`", "commit 9f96fc2c...", "commit 9f96fc2c\u2026", "Transfer \u2026i0g92tru"}) {
    std::vector<Fact> facts;
    collect_facts(text, facts);
    for (const Fact& fact : facts) EXPECT_FALSE(fact.strong) << text;
  }
  std::vector<Fact> facts;
  collect_facts("Transfer i0g92tru. Next: commit 9f96fc2c.", facts);
  ASSERT_EQ(facts.size(), 2u);
  EXPECT_TRUE(facts[0].strong && facts[1].strong);
}

TEST(Facts, NamesAndTitles) {
  std::vector<std::string_view> names;
  std::vector<std::string_view> titles;
  collect_names(
      "The chair is Ada Lovelace. Her paper \"Notes on the Analytical Engine\" is known; \"see you soon\" is not.\n- Grace Hopper, admiral",
      names, titles);
  EXPECT_EQ(names, (std::vector<std::string_view>{"Ada Lovelace", "Grace Hopper"}));
  EXPECT_EQ(titles, (std::vector<std::string_view>{"Notes on the Analytical Engine"}));
}

TEST(EvidenceIndex, WhatFollowsFromGroundedNumbers_IsGrounded) {
  EvidenceIndex index;
  index.add_facts(R"([{"price":120.5},{"price":79.25},{"price":10}])");
  const auto holds = [&](std::string_view text) {
    std::vector<Fact> facts;
    collect_facts(text, facts);
    return index.holds(facts.at(0));
  };
  EXPECT_TRUE(holds("$120.50"));
  EXPECT_TRUE(holds("199.75"));
  EXPECT_TRUE(holds("209.75"));
  EXPECT_TRUE(holds("41.25"));
  EXPECT_FALSE(holds("333.33"));
  EXPECT_FALSE(holds("X1205"));
}

TEST(EvidenceIndex, MeanOfOneTextsFigures_IsGrounded) {
  EvidenceIndex index;
  index.add_facts("day;level\n2031-04-09;1450\n2031-04-10;1200\n2031-04-11;1370");
  const auto holds = [&](std::string_view text) {
    std::vector<Fact> facts;
    collect_facts(text, facts);
    return index.holds(facts.at(0));
  };
  EXPECT_TRUE(holds("1,340"));
  EXPECT_FALSE(holds("1,344"));
}

TEST(EvidenceIndex, FigureThatMayBeADay_IsGroundedByThatDay) {
  EvidenceIndex index;
  index.add_facts(R"({"due":"2031-09-18"})");
  const auto holds = [&](std::string_view text) {
    std::vector<Fact> facts;
    collect_facts(text, facts);
    return index.holds(facts.at(0));
  };
  EXPECT_TRUE(holds("am 18.09. zurueck"));
  EXPECT_FALSE(holds("am 19.09. zurueck"));
}

TEST(EvidenceIndex, OfDrawnNumbers_HoldsWhatEachPairMakes) {
  std::mt19937 draw(11);
  const auto cents = [&](unsigned most) { return static_cast<double>(draw() % most) / 100; };
  const auto near = [](double a, double b) { return std::abs(a - b) < 0.006 + std::abs(b) * 1e-9; };
  const auto made = [&](const std::vector<double>& numbers, double value) {
    for (const auto a : numbers) {
      for (const auto b : numbers) {
        if (near(a + b, value) || near(a - b, value) || near(a * b, value)) return true;
        if (b != 0 && (near(a / b, value) || near(a / b * 100, value))) return true;
      }
    }
    return false;
  };
  int held = 0;
  for (int round = 0; round < 60; ++round) {
    EvidenceIndex index;
    std::vector<double> numbers(3);
    for (auto& number : numbers) {
      number = cents(round % 3 == 0 ? 300 : 90'000);
      index.add_facts(std::to_string(number));
    }
    for (int tried = 0; tried < 200; ++tried) {
      Fact fact;
      fact.text = "x";
      fact.number = tried % 2 == 0 ? cents(40'000) : numbers[0] + numbers[static_cast<std::size_t>(tried) % 3] * (tried % 5 - 2);
      if (fact.number < 0.01) continue;
      fact.normal = normal_number(fact.number);
      if (!made(numbers, fact.number)) continue;
      EXPECT_TRUE(index.holds(fact)) << numbers[0] << " " << numbers[1] << " " << numbers[2] << " make " << fact.number;
      ++held;
    }
  }
  EXPECT_GT(held, 1000);
}

TEST(EvidenceIndex, MomentsThatAreNone_GroundNothing) {
  EvidenceIndex index;
  index.add_facts("datetime(2024, 99999999, 5) time(1, 2147483647) date(7, 2147483647) datetime(2026, 5, 15, 18, 30)");
  const auto holds = [&](std::string_view text) {
    std::vector<Fact> facts;
    collect_facts(text, facts);
    return index.holds(facts.at(0));
  };
  EXPECT_TRUE(holds("May 15"));
  EXPECT_TRUE(holds("6:30 pm"));
  EXPECT_FALSE(holds("July 14"));
}

TEST(Lexicon, MoreGroupsThanItCanTellApart_AreRefused) {
  Lexicon lexicon;
  const auto fill = [&] {
    for (int i = 0; i < 70'000; ++i) lexicon.add_group("none");
  };
  EXPECT_THROW(fill(), std::length_error);
}

TEST(OnlyNews, IsTheTextThatRepeatsNoArgument) {
  std::string buffer;
  constexpr auto kInput = R"({"url":"https://port.example/tides"})";
  const auto news = [&](std::string_view output) { return std::string(only_news(kInput, output, buffer)); };
  EXPECT_EQ(news(R"({"url":"https://port.example/tides","page":"Could not load: 503"})"), "Could not load: 503");
  EXPECT_EQ(news("Tool 'load' ran.\nResult: {\"url\": \"https://port.example/tides\", \"page\": \"\\\"gone\\\"\"}"), "\"gone\"");
  EXPECT_EQ(news(R"({"page":"Could not load: 503"})"), "") << "repeats nothing: any record";
  EXPECT_EQ(news(R"({"url":"https://port.example/tides","page":"Tides","by":"warden"})"), "") << "other news beside it";
  EXPECT_EQ(news(R"({"url":"https://port.example/tides","size":0})"), "");
  EXPECT_EQ(news(R"(see {"url":"https://port.example/tides","page":"x"})"), "");
}

TEST(Recovery, ByObject) {
  const ToolWords words{Vocabulary()};
  Recovery recovery(lexicon(), words);
  StepView done;
  done.kind = Kind::kTool;
  done.name = "update_booking";
  done.input = R"({"booking":"B-1001"})";
  recovery.add(done);
  StepView failed = done;
  failed.name = "change_booking";
  EXPECT_TRUE(recovery.recovered(failed));
  failed.input = R"({"booking":"B-2002"})";
  EXPECT_FALSE(recovery.recovered(failed));
  failed.name = "cancel_booking";
  failed.input = done.input;
  EXPECT_FALSE(recovery.recovered(failed));
}

TEST(Tools, ReadsByName) {
  const ToolWords words{Vocabulary()};
  for (const auto* name : {"get_order", "getOrder", "GetOrder", "crm.search_contacts", "look_up_user", "lookupUser", "list"})
    EXPECT_TRUE(is_read_tool(name, words)) << name;
  for (const auto* name : {"issue_refund", "getaway_book", "listing_create", "cancel", ""}) EXPECT_FALSE(is_read_tool(name, words)) << name;
}

TEST(Tools, NamesOneAfterTheOtherInTheSamePlace_MeanWhatEachSays) {
  const ToolWords words{Vocabulary()};
  Recovery recovery(lexicon(), words);
  std::string name = "get_order_1";
  ASSERT_TRUE(recovery.meaning(name).reads);
  name.assign("pay_order_1");
  EXPECT_FALSE(recovery.meaning(name).reads);
  name.assign("get_order_1");
  EXPECT_TRUE(recovery.meaning(name).reads);
}

TEST(Tools, ReadByAVerbBehindTheSystemsName_ButNotByAQueryOrABrowser) {
  const ToolWords words{Vocabulary()};
  Recovery recovery(lexicon(), words);
  for (const auto* name : {"crm_search", "fhir_get", "query_orders", "browse_products"}) EXPECT_TRUE(recovery.meaning(name).reads) << name;
  for (const auto* name : {"natural_language_query", "sql_query", "graphqlQuery", "browse"}) {
    EXPECT_FALSE(recovery.meaning(name).reads) << name;
    EXPECT_TRUE(recovery.meaning(name).any_purpose) << name;
  }
}

TEST(Tools, GetWhatStandsAroundTheVerb_UnlessTheyChangeSomething) {
  const ToolWords words{Vocabulary()};
  Recovery recovery(lexicon(), words);
  for (const auto* name : {"order_lookup", "slack_get_channel_history", "book_search", "jira_get_issue", "kontakte_suchen", "lista_leer"})
    EXPECT_TRUE(recovery.meaning(name).reads) << name;
  for (const auto* name : {"todo_list_add", "update_search", "order_find_and_cancel", "create_list", "run_query", "book_show_ticket"})
    EXPECT_FALSE(recovery.meaning(name).reads) << name;
}

TEST(Tools, NamedAfterThingsAndWhatIsShownOfThem_OnlyLookUp) {
  const ToolWords words{Vocabulary()};
  Recovery recovery(lexicon(), words);
  for (const auto* name :
       {"order_history", "purchase_history", "rabbit_queue_stats", "politica_amarres", "berthStatus", "hr.leave_balance", "tide_rates",
        "return_policy", "quay.calendar", "konto_saldo", "zaehler.verlauf", "agenda.huecos", "pedido_estado"})
    EXPECT_TRUE(recovery.meaning(name).reads) << name;
  for (const auto* name : {"send_details", "set_status", "cancel_policy", "balance", "order_berth", "share_price", "update_order_status"})
    EXPECT_FALSE(recovery.meaning(name).reads) << name;
}

TEST(Tools, LookUpThatGoesOnToChange_IsNone) {
  const ToolWords words{Vocabulary()};
  Recovery recovery(lexicon(), words);
  for (const auto* name : {"find_and_replace", "findOneAndUpdate", "search_and_book", "get_or_create_berth", "list-append", "lookup_merge",
                           "check_in", "checkOut_crew", "check_off"})
    EXPECT_FALSE(recovery.meaning(name).reads) << name;
  for (const auto* name : {"get_update", "list_post", "get_name_and_address", "find_and_compare", "check_inventory", "check_input",
                           "get_merge_request", "find_by_date_and_pier"})
    EXPECT_TRUE(recovery.meaning(name).reads) << name;
  EXPECT_TRUE(recovery.meaning("read_query").queries);
  EXPECT_FALSE(recovery.meaning("read_log").queries);
}

TEST(Reading, OfTheSameText_IsKept_UntilItWasChanged) {
  Reading reading;
  read("I've cancelled it.", lexicon(), reading);
  ASSERT_EQ(reading.claims.size(), 1u);
  reading.claims.clear();
  read("I've cancelled it.", lexicon(), reading);
  EXPECT_TRUE(reading.claims.empty());
  reading.source.clear();
  read("I've cancelled it.", lexicon(), reading);
  EXPECT_EQ(reading.claims.size(), 1u);
  read_words("I've cancelled it.", lexicon(), reading);
  EXPECT_TRUE(reading.claims.empty());
  read("I've cancelled it.", lexicon(), reading);
  EXPECT_EQ(reading.claims.size(), 1u);
  read("It's gone.", lexicon(), reading);
  EXPECT_TRUE(reading.claims.empty());
}

TEST(Reading, CostGrowsWithTheText_NotFaster) {
  const auto cost = [](std::size_t repeats) {
    std::string text;
    for (std::size_t i = 0; i < repeats; ++i) text += "now already successfully your your not if \"Aaaa Bbbb Cccc ( [ { cancelled ";
    Reading reading;
    std::vector<Fact> facts;
    const auto start = std::chrono::steady_clock::now();
    read(text, lexicon(), reading);
    collect_facts(text, facts);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  cost(1000);
  EXPECT_LT(cost(32000), 40 * 8 * (cost(1000) + 1e-3));
}

TEST(Recovery, QueryOfSql_MakesNoChangeGood) {
  const ToolWords words{Vocabulary()};
  Recovery recovery(lexicon(), words);
  const auto call = [](std::string_view statement) {
    StepView step;
    step.kind = Kind::kTool;
    step.name = "psql";
    step.input = statement;
    return step;
  };
  recovery.add(call("SELECT count(*) FROM berths"));
  EXPECT_FALSE(recovery.recovered(call("CREATE UNIQUE INDEX berth_no ON berths (no)")));
  EXPECT_TRUE(recovery.recovered(call("SELECT no FROM berth"))) << "another query for a query";
  recovery.add(call("CREATE INDEX berth_no ON berths (no)"));
  EXPECT_TRUE(recovery.recovered(call("CREATE UNIQUE INDEX berth_no ON berths (no)")));
}

TEST(Recovery, LabelsAndThingsInAName_MakeNoToolForAnyPurpose) {
  const ToolWords words{Vocabulary()};
  Recovery recovery(lexicon(), words);
  for (const auto* name : {"cancel_berth_tool", "mcp_send_mail", "post_notice", "create_post", "request_pilot", "schedule_call"}) {
    EXPECT_FALSE(recovery.meaning(name).any_purpose) << name;
    EXPECT_NE(recovery.meaning(name).group, 0) << name;
  }
  for (const auto* name : {"planning_tool", "fhir_post", "post_request", "call_api", "http_request", "execute-tool"})
    EXPECT_TRUE(recovery.meaning(name).any_purpose) << name;
}

TEST(Recovery, ChangesNothing_OnlyWhereEachNewValueIsTheOldOne) {
  const auto same = [](std::string_view input) {
    std::vector<CallValue> values;
    collect_values(input, CallNames::shipped(), values);
    return changes_nothing(values, CallNames::shipped());
  };
  EXPECT_TRUE(same(R"({"item_id":"a1","new_item_id":"a1"})"));
  EXPECT_TRUE(same(R"({"new_item_ids":["a1","b2"],"item_ids":["a1","b2"],"by":"c3"})"));
  EXPECT_TRUE(same(R"({"itemId":"a1","newItemId":"A1"})"));
  EXPECT_TRUE(same(R"({"from_plan":"basic","to_plan":"basic"})"));
  EXPECT_TRUE(same(R"({"old_seat":"4","new_seat":"4"})"));
  EXPECT_FALSE(same(R"({"item_id":"a1","new_item_id":"b2"})"));
  EXPECT_FALSE(same(R"({"item_ids":["a1","b2"],"new_item_ids":["a1","c3"]})"));
  EXPECT_FALSE(same(R"({"item_ids":["a1","b2"],"new_item_ids":["a1"]})"));
  EXPECT_FALSE(same(R"({"item_ids":["a1"],"new_item_ids":[]})"));
  EXPECT_FALSE(same(R"({"new_name":"basic"})"));
  EXPECT_FALSE(same(R"({"news":"a1","s":"a1"})"));
  EXPECT_FALSE(same(R"({"from_account":"a1","to_account":"b2","total":3})"));
  EXPECT_FALSE(same(""));
}

TEST(Recovery, ShortNumberInPlainText_BelongsToTheWordBefore) {
  const auto texts = [](std::string_view input) {
    std::vector<CallValue> values;
    collect_values(input, CallNames::shipped(), values);
    std::vector<std::string> out;
    for (const auto& value : values) out.emplace_back(value.text);
    return out;
  };
  EXPECT_EQ(texts("pan 1 from shelf 12"), (std::vector<std::string>{"pan 1", "shelf 12"}));
  EXPECT_EQ(texts("berth C-4, 3 and 4 for order 47112"), (std::vector<std::string>{"C-4", "3", "4", "47112"}));
  EXPECT_EQ(texts("7 = x"), std::vector<std::string>{"7"});
}

TEST(RunView, Pace_AsksWhetherToStopEverySoManyBytes) {
  RunView run;
  int asked = 0;
  run.stop = [&] { ++asked; };
  for (int i = 0; i < 1024; ++i) run.pace(0);
  EXPECT_EQ(asked, 4);
  run.pace(8u << 20);
  EXPECT_EQ(asked, 5);
}

}  // namespace
}  // namespace runwarden::plugins
