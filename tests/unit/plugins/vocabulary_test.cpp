#include "common/vocabulary.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <memory>

#include "common/call_names.h"
#include "common/facts.h"
#include "common/reading.h"
#include "common/settings.h"
#include "common/shared_rules.h"
#include "evidence/artifacts.h"
#include "evidence/commands.h"
#include "evidence/unrecorded.h"
#include "evidence/wrapped_call.h"
#include "false_success/false_success.h"
#include "missing_tool_call/missing_tool_call.h"
#include "run_builder.h"
#include "schema_ghost/schema_ghost.h"
#include "text/fold.h"
#include "vocabulary_file.h"

namespace runwarden::plugins {
namespace {

// A made-up language: "mi ga X" is "I have X", "no" is "nub", and verbs end in -o, -ad and -ing.
constexpr const char* kTalossan = R"(
language: tzl
selves: [mi]
auxiliaries: [ga, estu]
passives: [estu]
negations: [nub]
admissions: [nub puvo]
nothing_found: [nub trovad]
determiners: [la, ta]
prepositions: [da, por]
months: [unal, dual, trial, quadral, cinqal, sexal, septal, octal, nonal, decal, unzal, duzal]
failure_openings: [zerror da]
read_prefixes: [vido]
records: [cuartu]
verbs:
  cancel: calo | calad | caling
  refund: rendo | rendad | rending
action_nouns:
  refund: rendun
)";

RunBuilder refund(const char* told) {
  RunBuilder run;
  run.request("Rendo ta mu doro.").failed("issue_refund", R"({"order":"8842"})", "502").outcome(told);
  return run;
}

template <class D>
Verdict judged(RunBuilder run, const std::string& settings = "{}") {
  return D(settings).evaluate(run.run());
}

TEST(Vocabulary, RunToldInALanguageOfTheOperators_IsJudged) {
  const VocabularyFile file(kTalossan);
  constexpr auto kClaim = "Mi ga rendad ta doro da vu.";
  EXPECT_TRUE(judged<FalseSuccess>(refund(kClaim)).findings.empty()) << "nobody knows the words";
  EXPECT_EQ(judged<FalseSuccess>(refund(kClaim), file.settings()).findings.size(), 1u);
  EXPECT_TRUE(judged<FalseSuccess>(refund("Mi nub ga rendad ta doro da vu."), file.settings()).findings.empty());
  const auto admitted = judged<FalseSuccess>(refund("Ta doro estu rendad. Mi nub puvo calo ta cuartu."), file.settings());
  ASSERT_FALSE(admitted.suppressed.empty());
  EXPECT_EQ(admitted.suppressed[0].rule, "admission");
}

TEST(Vocabulary, RequestInALanguageOfTheOperators_IsHeard) {
  const VocabularyFile file(kTalossan);
  RunBuilder run;
  run.request("Calo ta cuartu por mi.").outcome("Mi ga calad ta cuartu.").model("Mi ga calad ta cuartu.");
  EXPECT_TRUE(judged<MissingToolCall>(run).findings.empty());
  EXPECT_EQ(judged<MissingToolCall>(run, file.settings()).findings.size(), 1u);
}

TEST(Vocabulary, DatesOfALanguageOfTheOperators_AreFacts) {
  const VocabularyFile file(kTalossan);
  RunBuilder run;
  run.request("Cand?").tool("vido_train", R"({"on":"2026-11-07"})", R"({"on":"2026-11-07"})").tool("vido_train", "{}", "null");
  run.model("Ta train da la cuartu estu por la 7 unzal, nub por mi cuartu da la train estu.");
  EXPECT_TRUE(judged<SchemaGhost>(run, file.settings()).findings.empty()) << "7 unzal is 2026-11-07";
}

TEST(Vocabulary, FileAddsToAShippedLanguage) {
  const VocabularyFile file("language: en\nadmissions: [No joy with]\n");
  const auto told = "Your refund has been processed, no joy with the receipt.";
  EXPECT_EQ(judged<FalseSuccess>(refund(told)).findings.size(), 1u);
  EXPECT_TRUE(judged<FalseSuccess>(refund(told), file.settings()).findings.empty());
}

TEST(Vocabulary, FileMayHoldSeveralLanguages) {
  const VocabularyFile file("language: en\nadmissions: [no joy]\n---\nlanguage: fr\nadmissions: [impossible de]\n");
  const Vocabulary words({"en", "es"}, file.path());
  EXPECT_EQ(words.languages(), (std::vector<std::string>{"en", "es", "fr"}));
}

TEST(Vocabulary, ChosenLanguages_AreAllThereAre) {
  const auto told = "Su reembolso ha sido procesado.";
  EXPECT_EQ(judged<FalseSuccess>(refund(told)).findings.size(), 1u);
  EXPECT_TRUE(judged<FalseSuccess>(refund(told), R"({"languages":["en","de"]})").findings.empty());
}

struct Refused {
  const char* text;
  const char* fault;
};

class RefusedFile : public testing::TestWithParam<Refused> {};

TEST_P(RefusedFile, IsNamedWithLineKeyAndRemedy) {
  const VocabularyFile file(GetParam().text);
  try {
    (void)Settings(file.settings());
    FAIL() << "was taken";
  } catch (const std::invalid_argument& fault) {
    EXPECT_EQ(fault.what(), "/vocabulary: " + file.path() + GetParam().fault);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Vocabulary, RefusedFile,
    testing::Values(
        Refused{"language: en\nadmision: [x]\n", ":2: admision: unknown key; the nearest known one is admissions"},
        Refused{"language: en\nadmissions: [x,\n  \"\"]\n", ":3: admissions: an empty text would match everything; remove it"},
        Refused{"failure_lines: [\"  \"]\n", ":1: failure_lines: an empty text would match everything; remove it"},
        Refused{"language: en\nadmissions: [\"\xE2\x80\x8B\"]\n", ":2: admissions: an empty text would match everything; remove it"},
        Refused{"language: en\nempty_words: [null]\n",
                ":2: empty_words: an empty text; remove it, or quote a word that YAML reads as null: \"null\""},
        Refused{"language: en\nadmissions: oops\n", ":2: admissions: expected a list of words; write `admissions: [word, ...]`"},
        Refused{"language: en\nadmissions: [a]\nadmissions: [b]\n", ":3: admissions: duplicate key; merge the two"},
        Refused{"admissions: [a]\n", ":1: the language of `admissions` is missing; write `language: en`, or another code"},
        Refused{"language: E N\n", ":1: language: expected a code such as \"en\" or \"pt-br\", got \"E N\""},
        Refused{"language: en\nmonths: [jan]\n", ":2: months: expected twelve months, got 1; write all spellings of a month in one item"},
        Refused{"language: en\ngrammar: [odd]\n", ":2: grammar: unknown trait \"odd\"; the only one is verb_last"},
        Refused{"language: en\nverbs: [book]\n", ":2: verbs: expected a mapping; write a line `lemma: words` for each verb"},
        Refused{"language: en\nverbs:\n  Book: book\n", ":3: verbs: \"Book\" is not a lemma; write a verb's name in lower-case letters"},
        Refused{"language: en\nverbs:\n  book: a | b | c | d\n",
                ":3: verbs: book: expected \"base forms | done forms | doing forms\", got \"a | b | c | d\""},
        Refused{"request_verbs: [book 2]\n", ":1: request_verbs: \"2\" is not a lemma; write one in lower-case letters, as under `verbs`"},
        Refused{"- a\n", ":1: expected a mapping of keys to words; write `key: [word, ...]`"},
        Refused{"", ":1: the file is empty; write `language:` and words, or remove the file"},
        Refused{"language: en\nadmissions: [a\n", ":3: end of sequence flow not found; write it as YAML"}));

std::string fault_of(const std::string& settings) {
  try {
    (void)FalseSuccess(settings);
  } catch (const std::invalid_argument& fault) {
    return fault.what();
  }
  return "was taken";
}

TEST(Vocabulary, LanguageOfTheFile_MayBeChosen) {
  const VocabularyFile file(kTalossan);
  const auto settings = [&](const std::string& codes) { return R"({"languages":[)" + codes + R"(],"vocabulary":")" + file.path() + "\"}"; };
  constexpr auto kClaim = "Mi ga rendad ta doro da vu.";
  EXPECT_EQ(judged<FalseSuccess>(refund(kClaim), settings(R"("en","tzl")")).findings.size(), 1u);
  EXPECT_EQ(judged<FalseSuccess>(refund(kClaim), settings(R"("tzl")")).findings.size(), 1u);
  EXPECT_EQ(fault_of(settings(R"("tzl","zz")")),
            "/languages/1: unknown language \"zz\"; shipped are en, es, de; any other needs a file named in `vocabulary`, and " +
                file.path() + " has no words of it");
  const VocabularyFile name("language: english\nadmissions: [ay]\n");
  EXPECT_NE(fault_of(name.settings()).find("expected a code such as \"en\" or \"pt-br\", got \"english\""), std::string::npos);
}

TEST(Vocabulary, WrongSettings_AreRefusedWithTheRemedy) {
  EXPECT_EQ(fault_of(R"({"languages":["en","fr"]})"),
            "/languages/1: unknown language \"fr\"; shipped are en, es, de; any other needs a file named in `vocabulary`");
  EXPECT_EQ(fault_of(R"({"vocabulary":"words.yaml"})"), "/vocabulary: expected an absolute path, got \"words.yaml\"; start it with /");
  EXPECT_NE(fault_of(R"({"vocabulary":"/nowhere/words.yaml"})").find("/vocabulary: /nowhere/words.yaml: cannot be read"),
            std::string::npos);
  EXPECT_NE(fault_of(R"({"vocabulary":"/"})").find("it is not a regular file"), std::string::npos);
  const VocabularyFile file("language: es\nadmissions: [ay]\n");
  EXPECT_EQ(fault_of(R"({"languages":["en"],"vocabulary":")" + file.path() + "\"}"),
            "/vocabulary: " + file.path() + ":1: `languages` lacks \"es\"; add it there, or remove its words here");
  const VocabularyFile endings("language: es\nown_past_endings: [e]\n");
  EXPECT_EQ(fault_of(endings.settings()),
            "/vocabulary: own_past_endings: expected \"ending=participle's ending\", as in \"e=ado\", got \"e\"");
}

TEST(Vocabulary, FileOfMoreThanAMebibyte_IsRefused) {
  const VocabularyFile file("language: en\n#" + std::string(1024 * 1024, 'x'));
  EXPECT_NE(fault_of(file.settings()).find("larger than 1 MiB"), std::string::npos);
}

TEST(Vocabulary, PreviousSettings_AreRefusedWithWhatTookTheirPlace) {
  EXPECT_EQ(fault_of(R"({"admissions":["x"]})"),
            "/admissions: `admissions` was removed: shipped lists can be extended but not replaced; put the phrases under `admissions:` in "
            "a file "
            "and name it in `vocabulary:`");
  EXPECT_EQ(fault_of(R"({"recovery":false})"), "/recovery: `recovery` was removed: write `rules: {recovery: true}` or false");
  EXPECT_EQ(fault_of(R"({"handover":false})"),
            "/handover: `handover` was removed: it is part of rule `admission`; write `rules: {admission: true}` or false");
  EXPECT_EQ(fault_of(R"({"modal_nouns":false})"), "/modal_nouns: `modal_nouns` was removed: sentences are always read this way; remove it");
  EXPECT_EQ(fault_of(R"({"tone":1})"), "/tone: unknown setting; this detector has sensitivity, languages, vocabulary, rules");
  EXPECT_EQ(fault_of(R"({"rules":{"recovry":true}})"), "/rules/recovry: unknown rule; the nearest known one is recovery");
  EXPECT_EQ(fault_of(R"({"rules":{"recovery":1}})"), "/rules/recovery: expected true or false, got 1");
}

TEST(Vocabulary, ShippedLanguages_HaveEveryKeyAndFoldedWords) {
  const Vocabulary words;
  EXPECT_EQ(words.languages(), (std::vector<std::string>{"en", "es", "de"}));
  for (const auto& list : shipped_lists()) {
    if (info(list.key).form == KeyForm::kPrinted) continue;
    for (const auto text : list.items) {
      std::string folded;
      fold(text, folded);
      EXPECT_EQ(folded, text);
    }
  }
}

const Lexicon& lexicon() {
  static const Lexicon shipped = make_lexicon(Settings({}));
  return shipped;
}

TEST(Language, IsToldByItsWords) {
  const auto code = [](std::string_view text) -> std::string {
    const auto language = language_of(text, lexicon());
    return language == kAnyLanguage ? "any" : Vocabulary().languages()[language];
  };
  EXPECT_EQ(code("The refund for your order has been processed."), "en");
  EXPECT_EQ(code("El reembolso de su pedido ha sido procesado."), "es");
  EXPECT_EQ(code("Die Erstattung f\xC3\xBCr Ihre Bestellung wurde veranlasst."), "de");
  EXPECT_EQ(code("The bat was sold, and the hat that the man ordered was also sent to him fast."), "en");
  EXPECT_EQ(code("8842"), "any");
  EXPECT_EQ(code(""), "any");
}

TEST(Language, OfAPartIsThatOfTheText_AndTheWholeTellsItsOwn) {
  constexpr std::string_view kText = "Wann wird meine Bestellung geliefert, und wie viel habe ich daf\u00FCr bezahlt? Cancel it.";
  const auto german = language_of(kText, lexicon());
  const Vocabulary vocabulary;
  ASSERT_EQ(vocabulary.languages()[german], "de");
  TextLanguage language(kText, lexicon());
  EXPECT_EQ(language.of_part(kText), kAnyLanguage) << "reading it finds the language";
  EXPECT_EQ(language.of_part(kText.substr(kText.find("Cancel"))), german);
  EXPECT_EQ(language.of_part(kText), german) << "known by now";
  EXPECT_EQ(TextLanguage(kText, lexicon()).get(), german);
}

TEST(Language, WordsOfAnother_MeanNothingInAText) {
  Reading reading;
  read("The hat was sent to the man. Also, the war film was fast, so he bat an eye at the last part.", lexicon(), reading);
  const auto cues_of = [&](std::string_view text) {
    const auto word = std::find_if(reading.words.begin(), reading.words.end(), [&](const auto& other) { return other.text == text; });
    return word == reading.words.end() ? ~std::uint64_t{0} : word->cues;
  };
  EXPECT_EQ(cues_of("hat"), 0u);
  EXPECT_EQ(cues_of("war"), 0u);
  read("Der Hut hat mir nicht gefallen, und der Krieg war schnell vorbei.", lexicon(), reading);
  EXPECT_TRUE(has(cues_of("hat"), kCueAuxiliary));
}

TEST(Language, AbbreviationsEndNoSentenceInTheirLanguageAlone) {
  Reading reading;
  read("The tower is on the str. It was built by the man of the house.", lexicon(), reading);
  EXPECT_EQ(reading.sentences.size(), 2u);
  read("Ihre Bestellung Nr. 12 wurde bzw. wird an die neue Str. geliefert.", lexicon(), reading);
  EXPECT_EQ(reading.sentences.size(), 1u);
}

TEST(Language, ParticipleFarFromItsAuxiliary_ClaimsInGerman) {
  Reading reading;
  read("Ich habe die Rechnung RE-2207 heute mit allen Anlagen f\xC3\xBCr Sie an die Buchhaltung geschickt.", lexicon(), reading);
  ASSERT_EQ(reading.claims.size(), 1u);
  EXPECT_TRUE(reading.claims[0].by_agent);
  read("Ich kann die Rechnung heute nicht an die Buchhaltung schicken.", lexicon(), reading);
  EXPECT_TRUE(reading.claims.empty());
}

TEST(Facts, GermanDates) {
  std::vector<Fact> facts;
  collect_facts("am 28. Juni 2026, 3. M\xC3\xA4rz, 12. Maerz und 5. J\xC3\xA4nner", facts);
  ASSERT_EQ(facts.size(), 4u);
  EXPECT_EQ(facts[0].normal, normal_date(6, 28));
  EXPECT_EQ(facts[0].year, 2026);
  EXPECT_EQ(facts[1].normal, normal_date(3, 3));
  EXPECT_EQ(facts[2].normal, normal_date(3, 12));
  EXPECT_EQ(facts[3].normal, normal_date(1, 5));
}

TEST(Facts, PointBehindANumber_MakesNoEnglishDate) {
  std::vector<Fact> facts;
  collect_facts("I paid 28. May I have a receipt?", facts);
  ASSERT_EQ(facts.size(), 1u);
  EXPECT_EQ(facts[0].kind, FactKind::kNumber);
}

/// What the compiler says of these files, with its status in front.
std::string compiled(const std::vector<const VocabularyFile*>& files) {
  const VocabularyFile out("");
  std::string command = RUNWARDEN_LANGUAGE_COMPILER " " + out.path();
  for (const auto* file : files) command += " " + file->path();
  std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen((command + " 2>&1").c_str(), "r"), ::pclose);
  std::string said;
  std::array<char, 512> buffer{};
  while (std::fgets(buffer.data(), buffer.size(), pipe.get()) != nullptr) said += buffer.data();
  const int status = ::pclose(pipe.release());
  return std::to_string(WEXITSTATUS(status)) + " " + said;
}

TEST(LanguageCompiler, ChecksWhatFilesMustHaveInCommon) {
  const VocabularyFile actions("request_verbs: [book]\n");
  const VocabularyFile first("language: en\nadmissions: [oops]\nverbs:\n  book: book\n");
  const VocabularyFile second("language: xx\nadmissions: []\nverbs:\n  book: libro\n");
  EXPECT_EQ(compiled({&actions, &first, &second}), "0 ");
  const VocabularyFile lacking("language: xx\nverbs:\n  book: libro\n");
  EXPECT_EQ(compiled({&actions, &first, &lacking}), "1 " + lacking.path() + ":1: the key admissions, which " + first.path() +
                                                        " has, is missing; add it, `admissions: []` if the language has nothing for it\n");
  const VocabularyFile unfolded("language: xx\nadmissions: [S\xC3\xAD]\nverbs:\n  book: libro\n");
  EXPECT_EQ(compiled({&actions, &first, &unfolded}),
            "1 " + unfolded.path() + ":2: admissions: \"S\xC3\xAD\" is not folded; write \"si\"\n");
  const VocabularyFile stranger("language: xx\nadmissions: []\nverbs:\n  bok: libro\n");
  EXPECT_EQ(compiled({&actions, &first, &stranger}),
            "1 " + stranger.path() + ":4: verbs: no verb has the lemma \"bok\"; the nearest known one is book\n");
  const VocabularyFile misplaced("language: xx\nadmissions: []\nverbs:\n  book: libro\nrequest_verbs: [book]\n");
  EXPECT_EQ(compiled({&actions, &first, &misplaced}),
            "1 " + misplaced.path() + ":5: request_verbs: belongs to no language; move it to actions.yaml\n");
  const VocabularyFile printed("failure_lines: [\"STOP: \"]\n");
  EXPECT_EQ(compiled({&printed, &first, &second}), "0 ") << "with its case and blanks";
  const VocabularyFile names("language: xx\nadmissions: []\nverbs:\n  book: libro\nwrapper_words: [call]\n");
  EXPECT_EQ(compiled({&actions, &first, &names}),
            "1 " + names.path() + ":5: wrapper_words: belongs to no language; move it to actions.yaml\n");
}

TEST(CallNames, FileAddsToThem) {
  const VocabularyFile file(
      "wrapper_words: [Relay]\nwrapped_name_members: [toolRef]\nquiet_commands: [robocopy]\nmoney_signs: [\"\xE2\x82\xBA\"]\n"
      "currency_codes: [CHF]\ncommand_members: [befehl]\nleading_commands: [doas]\nsite_endings: [.test]\n");
  const Vocabulary vocabulary({"en"}, file.path());
  const CallNames names(vocabulary);
  RunBuilder builder;
  builder.tool("RELAY", R"({"toolref":"send_mail","params":{"to":"a@b.c"}})", "ok");
  auto run = builder.run();
  unwrap_calls(run, names);
  EXPECT_EQ(run.steps[0].name, "send_mail");
  EXPECT_TRUE(prints_nothing_by_design("robocopy a b && mkdir c", names));
  const FactWords fact_words(vocabulary);
  EXPECT_EQ(fact_words.money_sign("\xE2\x82\xBA 12"), 3u);
  EXPECT_EQ(fact_words.currency_code("CHF 12"), 3u);
  EXPECT_TRUE(fact_words.ends_with_currency("for CHF "));
  EXPECT_FALSE(fact_words.ends_with_currency("for chf "));
  EXPECT_TRUE(prints_nothing_by_design(R"({"befehl":"mkdir c"})", names));
  EXPECT_TRUE(only_look("doas ls", names));
  EXPECT_TRUE(names_site("quay.test", names));
  EXPECT_FALSE(names_site("quay.test/tides", names));
}

TEST(NameSet, IgnoresCaseAlone) {
  const NameSet names({"id", "error_code", "a_name_longer_than_all_the_rows_of_the_table"});
  for (const auto* known : {"id", "ID", "Error_Code", "a_NAME_longer_than_all_the_rows_of_the_table"})
    EXPECT_TRUE(names.contains(known)) << known;
  for (const auto* other : {"", "i", "ids", "errorcode", "if", "a_name_longer_than_all_the_rows_of_the_tables"}) {
    EXPECT_FALSE(names.contains(other)) << other;
  }
  EXPECT_FALSE(NameSet().contains("id"));
}

struct SomeRules {
  explicit SomeRules(const Settings& settings) : admissions(settings.vocabulary().words(Key::kAdmissions)) {}
  std::vector<std::string> admissions;
};

std::shared_ptr<const SomeRules> some_rules(const std::string& settings_json) {
  return shared_rules<SomeRules>(settings_json, Settings(settings_json));
}

TEST(SharedRules, OfTheSameSettings_AreMadeOnce) {
  const auto first = some_rules(R"({"languages":["en"]})");
  EXPECT_EQ(some_rules(R"({"languages":["en"]})"), first);
  const auto other = some_rules(R"({"languages":["de"]})");
  EXPECT_NE(other, first);
  EXPECT_NE(other->admissions, first->admissions);
}

TEST(SharedRules, OfAFile_AreReadEachTime) {
  const VocabularyFile file("language: tzl\nadmissions: [nub puvo]\n");
  const auto has = [](const SomeRules& rules, const char* words) {
    return std::count(rules.admissions.begin(), rules.admissions.end(), words) == 1;
  };
  EXPECT_TRUE(has(*some_rules(file.settings()), "nub puvo"));
  std::ofstream(file.path()) << "language: tzl\nadmissions: [nub trovo]\n";
  const auto changed = some_rules(file.settings());
  EXPECT_TRUE(has(*changed, "nub trovo"));
  EXPECT_FALSE(has(*changed, "nub puvo"));
}

}  // namespace
}  // namespace runwarden::plugins
