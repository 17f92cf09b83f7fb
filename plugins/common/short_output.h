#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/json_scan.h"
#include "common/name_set.h"
#include "common/vocabulary.h"

namespace runwarden::plugins {

/// What a short output says about its call.
enum class ShortSign : std::uint8_t {
  kNone,
  kFailed,        // the call failed, whatever the tool
  kRefused,       // likewise, but for a look-up it may be the beginning of the result: at most, the look-up found nothing
  kActionFailed,  // a failure if the tool acts; for a look-up it is the answer: {"status":"failed"}
  kNotThere,      // the thing asked for does not exist: a failure if the tool acts, an empty result for a look-up
};

/// A tool's name, the arguments of a call, and what it returned.
struct ToolCall {
  std::string_view tool;
  std::string_view input;
  std::string_view output;
};

/// How short outputs report a failure, as lists that settings fill. Filled once by create, then read-only: any thread may read.
class ShortSigns {
 public:
  /// A longer output is content, whatever words it begins with.
  static constexpr std::size_t kLongest = 400;

  /// Until this is called, every output reads as kNone.
  void turn_on() { on_ = true; }

  /// Sets the words that may or may not follow an opening, the values of a status, and the names of members.
  void set_words(const Vocabulary& vocabulary);

  /// Adds an opening: an output that begins "connection refused" has failed. With " ..." at its end, any word may follow; otherwise only a
  /// punctuation mark or a word such as "for" or "while".
  void add_opening(std::string_view text, ShortSign sign);

  /// Adds a phrase such as "does not exist" that, near the beginning of an output, means that it found nothing; " ..." as above.
  void add_not_there(std::string_view text);

  /// Adds a phrase such as "timed out" that means failure near the beginning of an output, behind a machine: "weather API timed out".
  void add_machine_failure(std::string_view text);

  /// Adds a phrase such as "is already taken" that, near the beginning of an output, tells why nothing was done; " ..." as above.
  void add_refused_state(std::string_view text);

  /// Names of members and labels that may hold an answer as a text: "result", "content".
  [[nodiscard]] const NameSet& text_envelopes() const { return text_envelopes_; }

  /// True when the outcome in an output is what the call was for: {"state": "blocked"} of "block_card", or of a call that sets a state
  /// to "blocked".
  [[nodiscard]] bool is_result_of(const ToolCall& call) const;

  /// Classifies an output. Linear; the first bytes decide most of them.
  [[nodiscard]] ShortSign read(std::string_view output) const;

 private:
  struct Opening {
    std::string text;  // folded
    ShortSign sign = ShortSign::kNone;
    bool any_word = false;
  };

  [[nodiscard]] std::string_view without_marks(std::string_view text) const;
  [[nodiscard]] bool is_traceback(std::string_view text) const;
  [[nodiscard]] ShortSign read_text(std::string_view text) const;
  [[nodiscard]] std::optional<ShortSign> read_member(std::string_view key, JsonScanner::Token value, std::string_view content) const;
  [[nodiscard]] ShortSign read_json(std::string_view text) const;
  [[nodiscard]] static Opening opening(std::string_view text, ShortSign sign);
  /// Phrases by the lowest five bits of their first byte; `seconds` has one bit per lowest five bits of a second byte.
  struct Phrases {
    std::array<std::vector<Opening>, 32> by_letter;
    std::array<std::uint32_t, 32> seconds{};

    void add(Opening opening);
  };

  /// The phrase that the text begins with; null when there is none.
  [[nodiscard]] const Opening* at_beginning(const Phrases& phrases, std::string_view folded) const;
  [[nodiscard]] bool goes_on(std::string_view rest, bool any_word) const;
  [[nodiscard]] bool opens_with_status(std::string_view text) const;

  [[nodiscard]] ShortSign sign_of(std::string_view folded) const;
  [[nodiscard]] std::size_t near_beginning(const Phrases& phrases, std::string_view folded) const;
  [[nodiscard]] static bool opens_with_number(std::string_view text);
  [[nodiscard]] bool is_refusal(std::string_view folded) const;
  [[nodiscard]] bool refuses(std::string_view code) const;
  [[nodiscard]] bool denies_by_code(std::string_view code) const;
  [[nodiscard]] bool machine_fails(std::string_view folded) const;

  bool on_ = false;
  Phrases openings_;
  Phrases not_there_;
  Phrases machine_failures_;
  Phrases refused_states_;
  NameSet machines_;                         // "service"
  std::vector<std::string> continuations_;   // "timed out after"
  std::vector<std::string> stops_;           // "failed to be"
  std::vector<std::string> refused_by_;      // "declined by"
  std::vector<std::string> exceptions_;      // "Error": how the names of exceptions end
  std::vector<std::string> tracebacks_;      // "Traceback (most recent call last)"
  NameSet failed_statuses_;                  // {"status": "failed"}
  NameSet absent_statuses_;                  // {"status": "not_found"}
  NameSet denying_code_words_;               // "INVOICE_NOT_VOIDABLE"
  NameSet refusing_words_;                   // {"code": "SEAT_TAKEN"}
  std::vector<std::string> reason_phrases_;  // "not found"
  std::vector<std::string> status_labels_;   // "http", in order
  std::uint32_t status_letters_ = 0;         // the lowest five bits of their first letters, one bit each
  NameSet call_members_;                     // "message"
  NameSet code_members_;                     // "code"
  NameSet outcome_members_;                  // "result"
  NameSet message_members_;                  // "message", again
  NameSet text_envelopes_;                   // "result"
  NameSet known_members_;                    // all of these members
  NameSet done_statuses_;                    // {"status": "success"}
};

/// True when the last line of a text names an exception: "IndentationError: expected an indented block". `endings` are those of the names
/// of exceptions. Linear; any thread.
[[nodiscard]] bool ends_with_class(std::string_view text, const std::vector<std::string>& endings);

/// True for the number of an HTTP error status, 400 to 599.
[[nodiscard]] bool is_failed_status(std::string_view digits);

}  // namespace runwarden::plugins
