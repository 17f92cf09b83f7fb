// An exported ledger that was tampered with in any way is found out.
#include "ledger/file_verifier.h"

#include <gmock/gmock.h>

#include "base/digest.h"
#include "ledger/bodies.h"

namespace runwarden::ledger {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kBegunMs = 1'790'000'000'000;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

std::string text_of(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

// What is wrong with a file; empty: nothing.
std::string wrong(const std::string& text, FileVerifier::Trust trust = {}) {
  FileVerifier verifier(std::move(trust));
  for (const std::string& line : lines_of(text)) {
    if (const Status taken = verifier.take(line); !taken.ok()) return taken.error().detail;
  }
  const auto summary = verifier.finish();
  return summary.ok() ? std::string() : summary.error().detail;
}

class LedgerFile : public ::testing::Test {
 protected:
  model::RunRecord run(int number) {
    model::RunRecord record;
    record.key = {kBegunMs + number, static_cast<std::uint64_t>(number)};
    record.run_id = "run \"" + std::to_string(number) + "\" é";
    record.document = "{\"number\":" + std::to_string(number) + "}";
    record.failures_json = record.detectors_json = "[]";
    record.policies_json = R"([{"policy":"refunds","revision":"3"}])";
    record.policy_contents = {sha256("{}")};
    return record;
  }
  EntryLine entry(Kind kind, std::string body) {
    EntryLine line;
    line.index = entries_.size();
    line.told = EntryLine::Content{make_salt(), std::move(body)};
    line.entry = {kBegunMs + static_cast<std::int64_t>(line.index), kind, commit_to(line.told->salt, line.told->body)};
    return line;
  }
  void add_run() {
    const model::RunRecord record = run(static_cast<int>(entries_.size()));
    entries_.push_back(entry(Kind::run, run_body(record, CameBy::itself)));
    entries_.back().parts = Parts{record.document, record.failures_json, record.detectors_json};
  }
  void add_receipt(Kind kind, std::uint64_t first, std::uint64_t last) {
    Receipt receipt{kBegunMs, {{"run", last - first + 1}}, {}};
    receipt.entries.add(first, last);
    entries_.push_back(entry(kind, receipt_body(receipt)));
  }
  void erase(std::uint64_t index) {
    entries_[index].told.reset();
    entries_[index].parts.reset();
  }
  Checkpoint checkpoint(std::uint64_t size) const {
    RightEdge tree;
    for (std::uint64_t i = 0; i < size; ++i) tree.append(leaf_of(entries_[i].entry));
    return {origin_, {size, tree.root()}};
  }
  std::string note(std::uint64_t size, const SigningKey& key) const {
    const SigningKey* const keys[] = {&key};
    return signed_note(checkpoint(size), keys);
  }
  std::string file() const {
    std::string text = line_of(HeaderLine{origin_, key_.public_key(), entries_.size()}) + "\n";
    for (const EntryLine& one : entries_) text += line_of(one) + "\n";
    return text + checkpoint_line(note(entries_.size(), key_)) + "\n";
  }
  // Some of everything.
  void fill() {
    entries_.push_back(entry(Kind::start, start_body({{{"runs", 4}}, Start::Previous{"runwarden/acme/old", {4, sha256("old")}}})));
    for (int i = 0; i < 5; ++i) add_run();
    erase(1);
    erase(2);
    add_receipt(Kind::expiry, 1, 2);
    entries_.push_back(entry(Kind::key, key_body(key_.public_key(), std::string(32, 'f'))));
    entries_.push_back(entry(Kind::triage, triage_body({"cl_1", "resolve", "ann", "{}"}, CameBy::import)));
    add_run();
  }

  SigningKey key_ = SigningKey::make();
  std::string origin_ = "runwarden/acme/7c1f0a2be93d44c8";
  std::vector<EntryLine> entries_;
};

TEST_F(LedgerFile, AsItWasWritten_IsGood) {
  EXPECT_EQ(wrong(file()), "") << "nothing is in it";
  fill();
  EXPECT_EQ(wrong(file()), "");
  EXPECT_EQ(wrong(file(), {key_.public_key(), {}}), "");
}

TEST_F(LedgerFile, EverySingleBitTurned_IsFound) {
  fill();
  const std::string good = file();
  for (std::size_t bit = 0; bit + 8 < good.size() * 8; ++bit) {
    std::string turned = good;
    turned[bit / 8] = static_cast<char>(turned[bit / 8] ^ (1 << bit % 8));
    ASSERT_NE(wrong(turned), "") << "bit " << bit % 8 << " of byte " << bit / 8 << ": " << good.substr(bit / 8, 60);
  }
}

TEST_F(LedgerFile, EveryLineDroppedRepeatedOrSwapped_IsFound) {
  fill();
  const auto good = lines_of(file());
  for (std::size_t i = 0; i < good.size(); ++i) {
    auto lines = good;
    lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(i));
    EXPECT_NE(wrong(text_of(lines)), "") << "without line " << i;
    lines = good;
    lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(i), good[i]);
    EXPECT_NE(wrong(text_of(lines)), "") << "line " << i << " twice";
    for (std::size_t other = i + 1; other < good.size(); ++other) {
      lines = good;
      std::swap(lines[i], lines[other]);
      EXPECT_NE(wrong(text_of(lines)), "") << i << " and " << other;
    }
  }
}

TEST_F(LedgerFile, CutOffAnywhere_IsFound) {
  fill();
  const std::string good = file();
  for (std::size_t bytes = 0; bytes + 1 < good.size(); ++bytes) ASSERT_NE(wrong(good.substr(0, bytes)), "") << bytes;
}

TEST_F(LedgerFile, AnEntryIsNamed) {
  fill();
  auto lines = lines_of(file());
  lines[4].replace(lines[4].find("\\\"revision\\\":1"), 14, "\\\"revision\\\":2");
  EXPECT_THAT(wrong(text_of(lines)), HasSubstr("entry 3 was changed"));
  lines = lines_of(file());
  lines[4].replace(lines[4].find(R"({\"number\":3})"), 14, R"({\"number\":4})");
  EXPECT_THAT(wrong(text_of(lines)), HasSubstr("entry 3 was changed: its document"));
}

TEST_F(LedgerFile, ReceiptThatCoversTooLittle_IsFound) {
  for (int i = 0; i < 4; ++i) add_run();
  erase(1);
  erase(2);
  EXPECT_THAT(wrong(file()), HasSubstr("entry 1 was erased, but no receipt covers it"));
  add_receipt(Kind::purge, 1, 1);
  EXPECT_THAT(wrong(file()), HasSubstr("entry 2 was erased, but no receipt covers it"));
  add_receipt(Kind::purge, 2, 2);
  EXPECT_EQ(wrong(file()), "");
}

TEST_F(LedgerFile, AReceiptDoesNotCoverWhatComesLater) {
  add_receipt(Kind::purge, 0, 9);
  add_run();
  erase(1);
  EXPECT_THAT(wrong(file()), HasSubstr("entry 1 was erased"));
}

TEST_F(LedgerFile, AnErasedReceipt_IsNoErasedRecord) {
  add_run();
  add_receipt(Kind::purge, 0, 0);
  add_receipt(Kind::purge, 1, 1);
  erase(1);
  EXPECT_THAT(wrong(file()), HasSubstr("entry 1 is of kind purge and has no body"));
}

TEST_F(LedgerFile, SignedByAnother_IsFound) {
  fill();
  const SigningKey other = SigningKey::make();
  EXPECT_THAT(wrong(file(), {other.public_key(), {}}), HasSubstr("--public-key"));
  auto lines = lines_of(file());
  lines.back() = checkpoint_line(note(entries_.size(), other));
  EXPECT_THAT(wrong(text_of(lines)), HasSubstr("not signed by the key"));
}

TEST_F(LedgerFile, AnotherHistoryOfTheSameSize_IsFoundByAnOlderCheckpoint) {
  fill();
  const auto after = *read_note(note(4, key_));
  EXPECT_EQ(wrong(file(), {{}, after}), "");
  for (const std::uint64_t size : {std::uint64_t{0}, std::uint64_t{1}, static_cast<std::uint64_t>(entries_.size())}) {
    EXPECT_EQ(wrong(file(), {{}, *read_note(note(size, key_))}), "") << size;
  }
  entries_[3] = entry(Kind::run, run_body(run(77), CameBy::itself));
  entries_[3].index = 3;
  EXPECT_THAT(wrong(file(), {{}, after}), HasSubstr("the history was rewritten"));
}

TEST_F(LedgerFile, AnOlderCheckpoint_OfALargerTreeAnotherOriginOrAnotherKey_IsFound) {
  fill();
  const auto larger = *read_note(note(entries_.size(), key_));
  const std::string before = origin_;
  origin_ = "runwarden/acme/0000000000000000";
  const auto elsewhere = *read_note(note(2, key_));
  origin_ = before;
  EXPECT_THAT(wrong(file(), {{}, elsewhere}), HasSubstr("different origin"));
  EXPECT_THAT(wrong(file(), {{}, *read_note(note(2, SigningKey::make()))}), HasSubstr("not signed by a key of this ledger"));
  entries_.pop_back();
  EXPECT_THAT(wrong(file(), {{}, larger}), HasSubstr("this file has"));
}

// The key that an entry of the file names as the previous one may have signed the older checkpoint.
TEST_F(LedgerFile, AnOlderCheckpointOfTheFormerKey_IsTaken) {
  const SigningKey previous = SigningKey::make();
  add_run();
  const auto after = *read_note(note(1, previous));
  EXPECT_THAT(wrong(file(), {{}, after}), HasSubstr("not signed by a key of this ledger"));
  entries_.push_back(entry(Kind::key, key_body(key_.public_key(), previous.public_key())));
  EXPECT_EQ(wrong(file(), {{}, after}), "");
}

TEST(LedgerBodies, OfRunsInTurn_HaveTheDigestsOfTheirOwnTexts) {
  model::RunRecord run;
  run.policies_json = "[]";
  const std::string longer = "[" + std::string(5000, ' ');
  for (const char* const failures : {"[]", "[]", "[1]", "[]"}) {
    for (const std::string& detectors : std::vector<std::string>{"[]", "[2]", "[2]", longer + "]", longer + "2]", "[2]"}) {
      run.failures_json = failures;
      run.detectors_json = detectors;
      EXPECT_THAT(run_body(run, CameBy::itself), ::testing::HasSubstr(R"("failures":")" + runwarden::to_hex(sha256(failures)) +
                                                                      R"(","detectors":")" + runwarden::to_hex(sha256(detectors)) + "\""));
    }
  }
}

TEST(LedgerBodies, AreAsDesigned) {
  model::RunRecord run;
  run.key = {kBegunMs, 1};
  run.run_id = "r1";
  run.revision = 2;
  run.executed_ms = kBegunMs - 1000;
  run.document = "{}";
  run.failures_json = "[]";
  run.detectors_json = "[]";
  run.policies_json = R"([{"policy":"refunds","revision":"3"}])";
  run.policy_contents = {sha256("x")};
  EXPECT_EQ(
      run_body(run, CameBy::itself),
      R"({"v":1,"runId":"r1","revision":2,"receivedAt":"2026-09-21T14:13:20.000Z","executedAt":"2026-09-21T14:13:19.000Z","document":")" +
          runwarden::to_hex(sha256("{}")) + R"(","failures":")" + runwarden::to_hex(sha256("[]")) + R"(","detectors":")" +
          runwarden::to_hex(sha256("[]")) + R"(","policies":[{"policy":"refunds","revision":"3","contentSha256":")" +
          runwarden::to_hex(sha256("x")) + R"("}]})");
  EXPECT_EQ(run_body(run, CameBy::itself, sha256("{}")), run_body(run, CameBy::itself));
  run.policies_json = "[]";
  EXPECT_THAT(run_body(run, CameBy::import), ::testing::EndsWith(R"("policies":[],"imported":true})"));
  Receipt receipt{std::nullopt, {{"run", 3}}, {}};
  receipt.entries.add(2, 4);
  EXPECT_EQ(receipt_body(receipt), R"({"v":1,"before":null,"counts":{"run":3},"entries":[[2,4]]})");
  EXPECT_EQ(receipt_body({5, {}, {}, {{"runs", 3}}}),
            R"({"v":1,"before":"1970-01-01T00:00:00.005Z","counts":{},"entries":[],"deleted":{"runs":3}})");
  EXPECT_EQ(triage_body({"cl_1", "resolve", "ann", "{}"}, CameBy::itself),
            R"({"v":1,"clusterId":"cl_1","action":"resolve","author":"ann","document":")" + runwarden::to_hex(sha256("{}")) + "\"}");
}

}  // namespace
}  // namespace runwarden::ledger
