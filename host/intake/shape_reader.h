// Reads a JSON document of a known shape from events, in one pass: hands known members on by type, writes the normalized
// document beside it (unknown members kept as they came), and notes every fault with its JSON Pointer. If asked, it also warns of
// unknown members whose names are near those of known ones.
//
// A reader is used for one document, on one thread. Shapes are tables; who derives says what the members mean.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_events.h"
#include "base/json_text.h"
#include "base/result.h"
#include "base/text_arena.h"
#include "base/warning.h"

namespace runwarden::intake {

// What a member may be. A member that is `lenient` is an alias: of another type it is just an unknown member.
enum class Want : std::uint8_t {
  text,
  text_or_json,       // a string, or any JSON value, kept as its compact text; null is absent
  text_or_json_null,  // the same, but null is the text "null"
  json,               // any JSON value, kept as its compact text (a string with its quotes)
  boolean,
  code,    // string, or a number kept as its decimal text
  count,   // integer from 0 to 2^53
  amount,  // number >= 0
  time,    // RFC 3339, normalized to UTC milliseconds
  object,
  array_of_objects,
  ignored,  // server-owned: dropped, whatever it is
  lenient_count,
  lenient_amount,
  lenient_object,
};

struct Shape;

struct Field {
  std::string_view name;
  Want want;
  std::uint8_t slot;             // which member it is, to who derives
  const Shape* inner = nullptr;  // of objects and arrays of objects
};

// Another word for a known member, which clients may try. It has no meaning: they are told of the known one.
struct Alias {
  std::string_view name;
  std::string_view field;
};

struct Shape {
  std::span<const Field> fields;  // at most 64
  std::string_view noun;          // for error texts: "a step"
  std::span<const Alias> aliases = {};
  bool free_names = false;  // clients put members of their own there: a name that is only similar is no slip
};

struct FieldValue {
  std::string_view text = {};  // kept in the arena
  bool boolean = false;
  std::int64_t integer = 0;  // a count, or UTC milliseconds
  double number = 0;
};

class ShapeReader : private JsonEvents {
 public:
  // Faults beyond this many are counted but not kept.
  static constexpr std::size_t kMaxFaults = 1000;

  // Warnings of one document at most; names that are the same in many objects of a kind are one warning.
  static constexpr std::size_t kMaxWarnings = 10;

  // `warnings`: where to add them; null: nobody wants them. It has to outlive the reader.
  ShapeReader(const Shape& root, TextArena& arena, std::vector<Warning>* warnings = nullptr)
      : root_(root), arena_(arena), document_writer_(document_), warnings_(warnings) {}

 protected:
  // malformed_json, or validation_failed with every fault, or nothing wrong.
  Status read(std::string_view json, int max_depth);

  virtual void begin() {}  // a document begins, or begins anew: whatever was taken so far counts for nothing
  virtual void enter(const Shape&) {}
  virtual void enter_array(const Field&) {}
  virtual void take(const Shape&, const Field&, const FieldValue&) {}
  virtual bool warns_of(const Shape&) const { return true; }  // whether the names in the object that is about to be closed are judged
  virtual void leave(const Shape&) {}                         // the object is about to be closed: members may still be added

  // A fault of the member of that name in the object being read; an empty name means the object itself.
  void fault(std::string_view name, std::string code, std::string detail);

  JsonWriter& document() { return document_writer_; }
  std::string& document_text() { return document_; }
  std::size_t index_in_array() const { return frames_.empty() ? 0 : frames_.back().index; }

 private:
  enum class Mode : std::uint8_t { shape, copy, capture, skip };

  struct Frame {
    const Shape* shape;
    const Field* as;     // the member it was entered by; null for the root
    bool array;          // the array around the objects of `shape`
    std::size_t index;   // array: elements begun; object in an array: its own place
    std::uint64_t seen;  // known members seen, by place in the table
    std::size_t slips;   // how many slips_ there were when it began
  };

  // An unknown member whose name is near that of a known one, until the object ends: it may have the known one, too.
  struct Slip {
    std::string name;
    const Field* meant;
  };
  struct FoundSlip {
    Slip slip;
    const Shape* shape;
    std::string pointer;  // of the first
    std::size_t count;
  };
  struct JudgedName {
    const Shape* shape;
    std::string name;
    const Field* meant;  // null: near none
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
  int depth_ = 0;                       // of containers within a copied, captured or skipped value
  std::vector<Bracket> open_brackets_;  // of those containers
  const Field* member_ = nullptr;       // whose value comes next; null: an unknown member
  std::vector<FieldFault> faults_;
  std::size_t fault_count_ = 0;
  std::optional<Error> stopped_;
  std::vector<Warning>* warnings_;
  std::vector<Slip> slips_;             // of the objects that are open
  std::vector<FoundSlip> found_slips_;  // of those that have ended
  std::vector<JudgedName> judged_names_;
};

}  // namespace runwarden::intake
