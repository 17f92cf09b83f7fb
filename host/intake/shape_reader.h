// Reads a JSON document of a known shape in one pass: passes known members on by type, writes the normalized document (with unknown members
// unchanged), and records each fault with its JSON Pointer. Optionally warns of unknown members that resemble known ones.
//
// One reader per document; one thread. Shapes are tables (shape.h); derived classes define the meaning of members.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json_events.h"
#include "base/json_text.h"
#include "base/result.h"
#include "base/text_arena.h"
#include "base/warning.h"
#include "intake/shape.h"

namespace runwarden::intake {

class ShapeReader : private JsonEvents {
 public:
  // Further faults are counted but not stored.
  static constexpr std::size_t kMaxFaults = 1000;

  // The most warnings for one document. The same name in many objects of a kind is one warning.
  static constexpr std::size_t kMaxWarnings = 10;

  // Appends to `warnings`, which outlives the reader; null: no warnings.
  ShapeReader(const Shape& root, TextArena& arena, std::vector<Warning>* warnings = nullptr)
      : root_(root), arena_(arena), document_writer_(document_), warnings_(warnings) {}

 protected:
  // Returns malformed_json, or validation_failed with all faults, or success.
  Status read(std::string_view json, int max_depth);

  virtual bool knows(const Field&) const { return true; }  // false: treat the member as unknown
  virtual bool may_repeat(const Field&) const { return false; }  // whether a member that the current object has had may come again
  virtual void begin() {}  // a document starts or restarts: discard everything so far
  virtual void enter(const Shape&) {}
  virtual void enter_array(const Field&) {}
  virtual void take(const Shape&, const Field&, const FieldValue&) {}
  virtual bool warns_of(const Shape&) const { return true; }  // whether to check names in the object that is about to close
  virtual void leave(const Shape&) {}                         // the object is about to close: members may still be added

  // Records a fault of that member of the current object; an empty name means the object itself.
  void fault(std::string_view name, std::string code, std::string detail);
  // Warns that a member of the current object is probably a mistake. The same `key` in many objects of a kind is one
  // warning.
  void warn(std::string_view member, std::string_view key, std::string detail);
  // Warns if a member's value is probably a slip for one of the words.
  void warn_of_value(std::string_view member, std::string_view value, std::span<const std::string_view> words);
  bool warns() const { return warnings_ != nullptr; }
  // Whether the current object has had that known member.
  bool has(std::string_view name) const;
  // Records that a required member is missing, unless that member already has a fault.
  void missing(std::string_view name, std::string detail);

  JsonWriter& document() { return document_writer_; }
  std::string& document_text() { return document_; }
  std::size_t index_in_array() const { return frames_.empty() ? 0 : frames_.back().index; }

 private:
  enum class Mode : std::uint8_t { shape, copy, capture, skip };

  struct Frame {
    const Shape* shape;
    const Field* as;     // the member that contains it; null for the root
    bool array;          // the array around the objects of `shape`
    std::size_t index;   // array: elements begun; object in an array: its index
    std::uint64_t seen;  // known members seen, by index in the table
    std::size_t slips;   // size of slips_ when it began
  };

  // An unknown member that resembles a known one. Kept until the object ends, because it may also have the known one.
  struct Slip {
    std::string name;
    const Field* meant;             // null: it has its place elsewhere
    std::string_view pointer = {};  // that place
  };
  struct FoundSlip {
    const Shape* shape;
    std::string key;
    std::string pointer;  // of the first
    std::string detail;
    std::size_t count;
  };
  struct JudgedName {
    const Shape* shape;
    std::string name;
    const Field* meant;  // null: none
  };

  enum class Bracket : std::uint8_t { object, array };

  bool scalar(const JsonScalar& value) override;
  bool open_object() override { return open(Bracket::object); }
  bool open_array() override { return open(Bracket::array); }
  bool key(std::string_view name) override;
  bool close() override;
  void restart() override;

  bool open(Bracket bracket);
  void open_member(Bracket bracket);
  void begin_value(Mode mode, Bracket bracket);
  void push(const Shape& shape, bool array, Bracket bracket);
  void finish_capture();
  void shape_scalar(const JsonScalar& value);
  void member_scalar(const Field& field, const JsonScalar& value);
  void take_text(const Field& field, std::string_view text);
  void take_number(const Field& field, const JsonScalar& value);
  void take_time(const Field& field, std::string_view text);
  void keep_alias(const Field& field, const JsonScalar& value);
  void wrong_type(const Field& field, std::string_view got);
  void give(const Field& field, const FieldValue& value) { take(*frames_.back().shape, field, value); }
  std::string pointer_to(std::string_view name) const;
  void note_unknown(std::string_view name);
  const Field* meant_by(const Shape& shape, std::string_view name);
  void end_slips(const Frame& frame);
  void add_warnings();

  const Shape& root_;
  TextArena& arena_;
  std::string document_;
  JsonWriter document_writer_;
  std::string captured_;
  std::optional<JsonWriter> capture_writer_;
  std::vector<Frame> frames_;
  Mode mode_ = Mode::shape;
  int depth_ = 0;                       // nesting inside a copied, captured or skipped value
  std::vector<Bracket> open_brackets_;  // of those containers
  const Field* member_ = nullptr;       // the member whose value is next; null: unknown
  std::vector<FieldFault> faults_;
  std::size_t fault_count_ = 0;
  std::optional<Error> stopped_;
  std::vector<Warning>* warnings_;
  std::vector<Slip> slips_;             // of open objects
  std::vector<FoundSlip> found_slips_;  // of closed objects
  std::vector<JudgedName> judged_names_;
  std::vector<std::pair<std::string, std::string_view>> judged_values_;  // a value, and the word that was meant
};

}  // namespace runwarden::intake
