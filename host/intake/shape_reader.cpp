#include "intake/shape_reader.h"

#include <algorithm>
#include <charconv>

#include "base/json_pointer.h"
#include "base/time_text.h"
#include "base/utf8.h"
#include "intake/decimal_text.h"
#include "intake/member_names.h"
#include "intake/shape.h"

namespace runwarden::intake {
namespace {

// Limits on unknown names compared with known ones, and on recorded typos in open objects, because a document may have very many.
constexpr std::size_t kMostNamesJudged = 64;
constexpr std::size_t kMostSlips = 64;
constexpr std::size_t kLongestValue = 64;  // bytes of a value that distinguish it from others

constexpr std::int64_t kMaxCount = 9007199254740992;  // 2^53: the largest range in which doubles hold every integer (RFC 8259, section 6)

std::string_view name_of(JsonScalar::Type type) {
  switch (type) {
    case JsonScalar::Type::null: return "null";
    case JsonScalar::Type::boolean: return "a boolean";
    case JsonScalar::Type::number: return "a number";
    case JsonScalar::Type::string: return "a string";
  }
  return "a value";
}

std::string_view name_of(Want want) {
  switch (want) {
    case Want::text: return "a string";
    case Want::boolean: return "true or false";
    case Want::code: return "a string or a number";
    case Want::count: return "an integer from 0 to 9007199254740992";
    case Want::amount: return "a number >= 0";
    case Want::time: return "a time such as 2026-11-20T15:00:00Z (RFC 3339 with Z or an offset)";
    case Want::object: return "an object";
    case Want::array_of_objects: return "an array of objects";
    default: return "a value";
  }
}

// Most names differ in length or first letter, which is cheaper to check than a call.
bool same_name(std::string_view known, std::string_view name) {
  return known.size() == name.size() && known.front() == name.front() && known == name;
}

bool takes_json(Want want) {
  return want == Want::text_or_json || want == Want::text_or_json_null || want == Want::json;
}

bool lenient(Want want) {
  return want == Want::lenient_count || want == Want::lenient_amount || want == Want::lenient_object || want == Want::lenient_count_held;
}

std::string json_of(const JsonScalar& value) {
  std::string text;
  JsonWriter out(text);
  write_json_scalar(out, value);
  return text;
}

// From the text, because a double that is a count may have been rounded to one.
std::optional<std::int64_t> as_count(const JsonScalar& value) {
  if (value.type != JsonScalar::Type::number) return std::nullopt;
  const std::string text = decimal_text(value.text);
  std::int64_t count = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), count);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size() || count < 0 || count > kMaxCount) return std::nullopt;
  return count;
}

}  // namespace

Status ShapeReader::read(std::string_view json, int max_depth) {
  document_.reserve(json.size() + json.size() / 8);
  begin();
  if (Status parsed = parse_json(json, max_depth, *this); !parsed.ok()) return parsed;
  if (stopped_) return std::move(*stopped_);
  if (fault_count_ == 0) {
    add_warnings();
    return Nothing{};
  }
  std::string detail = std::to_string(fault_count_) + (fault_count_ == 1 ? " fault" : " faults") +
                       " found; the first: " + (faults_[0].pointer.empty() ? "the document" : faults_[0].pointer) + " " + faults_[0].detail;
  if (fault_count_ > faults_.size()) detail += " (the first " + std::to_string(faults_.size()) + " are listed)";
  return Error{Code::validation_failed, std::move(detail), {}, std::move(faults_)};
}

void ShapeReader::fault(std::string_view name, std::string code, std::string detail) {
  ++fault_count_;
  if (faults_.size() < kMaxFaults) faults_.push_back({pointer_to(name), std::move(code), std::move(detail)});
}

void ShapeReader::missing(std::string_view name, std::string detail) {
  const std::string pointer = pointer_to(name);
  const bool told = std::any_of(faults_.begin(), faults_.end(), [&](const FieldFault& one) { return one.pointer == pointer; });
  if (!told) fault(name, "required", std::move(detail));
}

std::string ShapeReader::pointer_to(std::string_view name) const {
  std::string pointer;
  for (const Frame& frame : frames_) {
    if (frame.array) {
      pointer.append("/").append(frame.as->name);
    } else if (frame.as != nullptr && frame.as->want == Want::array_of_objects) {
      pointer.append("/").append(std::to_string(frame.index));
    } else if (frame.as != nullptr) {
      pointer.append("/").append(frame.as->name);
    }
  }
  if (!name.empty()) pointer.append("/").append(name);
  return pointer;
}

void ShapeReader::restart() {
  document_.clear();
  document_writer_ = JsonWriter(document_);
  frames_.clear();
  open_brackets_.clear();
  mode_ = Mode::shape;
  member_ = nullptr;
  faults_.clear();
  fault_count_ = 0;
  stopped_.reset();
  slips_.clear();
  found_slips_.clear();
  begin();
}

bool ShapeReader::key(std::string_view name) {
  if (mode_ == Mode::copy) document_writer_.key(name);
  if (mode_ == Mode::capture) capture_writer_->key(name);
  if (mode_ != Mode::shape) return true;
  Frame& frame = frames_.back();
  member_ = nullptr;
  for (std::size_t i = 0; i < frame.shape->fields.size(); ++i) {
    const Field& field = frame.shape->fields[i];
    if (!same_name(field.name, name) || !knows(field)) continue;
    const std::uint64_t bit = std::uint64_t{1} << i;
    if ((frame.seen & bit) != 0 && !may_repeat(field)) {
      stopped_ = Error{Code::malformed_json, "the member " + pointer_to(name) + " appears twice; send it once", {}, {}};
      return false;
    }
    frame.seen |= bit;
    member_ = &field;
    return true;
  }
  document_writer_.key(name);
  if (warnings_ != nullptr) note_unknown(name);
  return true;
}

void ShapeReader::note_unknown(std::string_view name) {
  if (slips_.size() == kMostSlips) return;
  const Shape& shape = *frames_.back().shape;
  if (const Field* meant = meant_by(shape, name)) {
    slips_.push_back({std::string(name), meant});
    return;
  }
  for (const Elsewhere& one : shape.elsewhere) {
    if (one.name == name) slips_.push_back({std::string(name), nullptr, one.pointer});
  }
}

// Steps mostly repeat the same unknown names, so cache the results.
const Field* ShapeReader::meant_by(const Shape& shape, std::string_view name) {
  for (const JudgedName& one : judged_names_) {
    if (one.shape == &shape && one.name == name) return one.meant;
  }
  if (judged_names_.size() == kMostNamesJudged) return nullptr;
  judged_names_.push_back({&shape, std::string(name), meant_field(shape, name)});
  return judged_names_.back().meant;
}

void ShapeReader::end_slips(const Frame& frame) {
  for (std::size_t i = warns_of(*frame.shape) ? frame.slips : slips_.size(); i < slips_.size(); ++i) {
    const Slip& slip = slips_[i];
    if (slip.meant == nullptr) {
      warn(slip.name, slip.name, "is stored as an unknown member; it is read from " + std::string(slip.pointer));
    } else if ((frame.seen & std::uint64_t{1} << (slip.meant - frame.shape->fields.data())) == 0) {
      warn(slip.name, slip.name, "is stored as an unknown member; if you meant \"" + std::string(slip.meant->name) + "\", use that name");
    }
  }
  slips_.resize(frame.slips);
}

bool ShapeReader::has(std::string_view name) const {
  const Frame& frame = frames_.back();
  for (std::size_t i = 0; i < frame.shape->fields.size(); ++i) {
    if (frame.shape->fields[i].name == name) return (frame.seen >> i & 1) != 0;
  }
  return false;
}

void ShapeReader::warn(std::string_view member, std::string_view key, std::string detail) {
  if (warnings_ == nullptr) return;
  const Shape* shape = frames_.back().shape;
  const auto same =
      std::find_if(found_slips_.begin(), found_slips_.end(), [&](const FoundSlip& one) { return one.shape == shape && one.key == key; });
  if (same != found_slips_.end()) {
    ++same->count;
  } else if (found_slips_.size() < kMaxWarnings) {
    found_slips_.push_back({shape, std::string(key), pointer_to("") + "/" + pointer_token(member), std::move(detail), 1});
  }
}

void ShapeReader::warn_of_value(std::string_view member, std::string_view value, std::span<const std::string_view> words) {
  if (warnings_ == nullptr) return;
  const std::string key = std::string(member) + "=" + std::string(value.substr(0, kLongestValue));
  auto judged = std::find_if(judged_values_.begin(), judged_values_.end(), [&](const auto& one) { return one.first == key; });
  if (judged == judged_values_.end()) {
    if (judged_values_.size() == kMostNamesJudged) return;
    judged = judged_values_.insert(judged, {key, meant_word(words, value)});
  }
  const std::string_view meant = judged->second;
  if (!meant.empty())
    warn(member, key, "\"" + std::string(value) + "\" is stored unchanged; if you meant \"" + std::string(meant) + "\", send that");
}

void ShapeReader::add_warnings() {
  for (FoundSlip& one : found_slips_) {
    if (one.count > 1) one.detail += " (" + std::to_string(one.count) + " times in this document)";
    warnings_->push_back({std::move(one.pointer), std::move(one.detail)});
  }
}

bool ShapeReader::scalar(const JsonScalar& value) {
  if (mode_ == Mode::copy) write_json_scalar(document_writer_, value);
  if (mode_ == Mode::capture) write_json_scalar(*capture_writer_, value);
  if (mode_ == Mode::shape) shape_scalar(value);
  return true;
}

void ShapeReader::shape_scalar(const JsonScalar& value) {
  if (frames_.empty()) {
    fault("", "wrong_type", "must be " + std::string(root_.noun) + " (a JSON object), got " + std::string(name_of(value.type)));
    return;
  }
  Frame& frame = frames_.back();
  if (frame.array) {
    fault(std::to_string(frame.index++), "wrong_type",
          "must be " + std::string(frame.shape->noun) + " (a JSON object), got " + std::string(name_of(value.type)));
    return;
  }
  if (member_ == nullptr) {
    write_json_scalar(document_writer_, value);
    return;
  }
  member_scalar(*member_, value);
}

void ShapeReader::member_scalar(const Field& field, const JsonScalar& value) {
  if (field.want == Want::ignored) return;
  if (lenient(field.want)) return keep_alias(field, value);
  if (field.want == Want::json) {
    const std::string text = json_of(value);
    document_writer_.key(field.name).raw(text);
    return give(field, {.text = arena_.copy(text)});
  }
  if (value.type == JsonScalar::Type::null) {
    if (field.want == Want::text_or_json_null) take_text(field, "null");
    return;
  }
  switch (field.want) {
    case Want::text:
    case Want::code:
    case Want::text_or_json:
    case Want::text_or_json_null:
      if (value.type == JsonScalar::Type::string) return take_text(field, value.text);
      if (field.want == Want::code && value.type == JsonScalar::Type::number) return take_text(field, decimal_text(value.text));
      if (takes_json(field.want))
        return take_text(field, value.type == JsonScalar::Type::boolean ? (value.boolean ? "true" : "false") : value.text);
      break;
    case Want::boolean:
      if (value.type != JsonScalar::Type::boolean) break;
      document_writer_.key(field.name).boolean(value.boolean);
      return give(field, {.boolean = value.boolean});
    case Want::count:
    case Want::amount: return take_number(field, value);
    case Want::time:
      if (value.type == JsonScalar::Type::string) return take_time(field, value.text);
      break;
    default: break;
  }
  wrong_type(field, name_of(value.type));
}

void ShapeReader::take_text(const Field& field, std::string_view text) {
  document_writer_.key(field.name).string(text);
  give(field, {.text = arena_.copy(text)});
}

void ShapeReader::take_number(const Field& field, const JsonScalar& value) {
  const std::string got = value.type == JsonScalar::Type::number ? std::string(value.text.substr(0, 40)) : std::string(name_of(value.type));
  if (field.want == Want::count) {
    const auto count = as_count(value);
    if (!count) return wrong_type(field, got);
    document_writer_.key(field.name).integer(*count);
    return give(field, {.integer = *count});
  }
  if (value.type != JsonScalar::Type::number || value.number < 0) return wrong_type(field, got);
  document_writer_.key(field.name).raw(value.text);
  give(field, {.number = value.number});
}

void ShapeReader::take_time(const Field& field, std::string_view text) {
  const auto time = parse_time(text);
  if (!time) {
    return fault(field.name, "invalid_time",
                 "must be " + std::string(name_of(Want::time)) + ", got \"" + std::string(utf8_prefix(text, 64)) + "\"");
  }
  document_writer_.key(field.name).string(format_time(*time));
  give(field, {.integer = *time});
}

void ShapeReader::keep_alias(const Field& field, const JsonScalar& value) {
  const bool counts = field.want == Want::lenient_count || field.want == Want::lenient_count_held;
  const auto count = counts ? as_count(value) : std::nullopt;
  if (field.want == Want::lenient_count_held && !count) return give(field, {.text = arena_.copy(json_of(value))});
  document_writer_.key(field.name);
  write_json_scalar(document_writer_, value);
  if (count) give(field, {.integer = *count});
  if (field.want == Want::lenient_amount && value.type == JsonScalar::Type::number && value.number >= 0)
    give(field, {.number = value.number});
}

void ShapeReader::wrong_type(const Field& field, std::string_view got) {
  fault(field.name, "wrong_type", "must be " + std::string(name_of(field.want)) + ", got " + std::string(got));
}

bool ShapeReader::open(Bracket bracket) {
  if (mode_ == Mode::shape) {
    open_member(bracket);
    return true;
  }
  ++depth_;
  open_brackets_.push_back(bracket);
  JsonWriter* out = mode_ == Mode::copy ? &document_writer_ : mode_ == Mode::capture ? &*capture_writer_ : nullptr;
  if (out != nullptr) bracket == Bracket::object ? out->begin_object() : out->begin_array();
  return true;
}

void ShapeReader::open_member(Bracket bracket) {
  const std::string_view got = bracket == Bracket::object ? "an object" : "an array";
  if (frames_.empty()) {
    if (bracket == Bracket::object) return push(root_, false, bracket);
    fault("", "wrong_type", "must be " + std::string(root_.noun) + " (a JSON object), got an array");
    return begin_value(Mode::skip, bracket);
  }
  Frame& frame = frames_.back();
  if (frame.array) {
    if (bracket == Bracket::object) return push(*frame.shape, false, bracket);
    fault(std::to_string(frame.index++), "wrong_type", "must be " + std::string(frame.shape->noun) + " (a JSON object), got an array");
    return begin_value(Mode::skip, bracket);
  }
  if (member_ == nullptr) return begin_value(Mode::copy, bracket);
  const Want want = member_->want;
  if (want == Want::ignored) return begin_value(Mode::skip, bracket);
  if (takes_json(want) || want == Want::lenient_count_held) return begin_value(Mode::capture, bracket);
  const bool object = want == Want::object || want == Want::lenient_object;
  if ((object && bracket == Bracket::object) || (want == Want::array_of_objects && bracket == Bracket::array)) {
    document_writer_.key(member_->name);
    return push(*member_->inner, bracket == Bracket::array, bracket);
  }
  if (lenient(want)) {
    document_writer_.key(member_->name);
    return begin_value(Mode::copy, bracket);
  }
  wrong_type(*member_, got);
  begin_value(Mode::skip, bracket);
}

void ShapeReader::push(const Shape& shape, bool array, Bracket bracket) {
  const bool element = !frames_.empty() && frames_.back().array;
  const Field* as = element ? frames_.back().as : member_;
  const std::size_t index = element ? frames_.back().index++ : 0;
  bracket == Bracket::object ? document_writer_.begin_object() : document_writer_.begin_array();
  frames_.push_back({&shape, frames_.empty() ? nullptr : as, array, array ? 0 : index, 0, slips_.size()});
  array ? enter_array(*as) : enter(shape);
}

void ShapeReader::begin_value(Mode mode, Bracket bracket) {
  mode_ = mode;
  depth_ = 0;
  if (mode == Mode::capture) {
    captured_.clear();
    capture_writer_.emplace(captured_);
  }
  open(bracket);
}

bool ShapeReader::close() {
  if (mode_ == Mode::shape) {
    if (frames_.back().array) {
      document_writer_.end_array();
    } else {
      if (slips_.size() > frames_.back().slips) end_slips(frames_.back());
      leave(*frames_.back().shape);
      document_writer_.end_object();
    }
    frames_.pop_back();
    return true;
  }
  --depth_;
  JsonWriter* out = mode_ == Mode::copy ? &document_writer_ : mode_ == Mode::capture ? &*capture_writer_ : nullptr;
  if (out != nullptr) open_brackets_.back() == Bracket::object ? out->end_object() : out->end_array();
  open_brackets_.pop_back();
  if (depth_ > 0) return true;
  if (mode_ == Mode::capture) finish_capture();
  mode_ = Mode::shape;
  return true;
}

void ShapeReader::finish_capture() {
  const Field& field = *member_;
  if (field.want == Want::lenient_count_held) return give(field, {.text = arena_.copy(captured_)});
  if (field.want == Want::json) {
    document_writer_.key(field.name).raw(captured_);
    return give(field, {.text = arena_.copy(captured_)});
  }
  take_text(field, captured_);
}

}  // namespace runwarden::intake
