// An expected outcome: a value, or an Error with separate texts for the client and the log. Values; any thread.
#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace runwarden {

// The error codes. Clients see the snake_case name (code_name) as `code`; names never change.
enum class Code {
  malformed_json,
  bad_request,
  unauthorized,
  forbidden,
  not_found,
  method_not_allowed,
  request_timeout,
  conflict,
  payload_too_large,
  unsupported_media_type,
  validation_failed,
  rate_limited,
  headers_too_large,
  internal,
  unavailable,
};

// The stable snake_case name of a code.
const char* code_name(Code code);

// The HTTP status (RFC 9110, RFC 6585) of a code.
int http_status(Code code);

// One fault in a well-formed document: its location (JSON Pointer, RFC 6901), its code and the remedy.
// FieldFault::code of a member that has no meaning: what is wrong is its name.
constexpr const char* kUnknownSetting = "unknown_setting";

struct FieldFault {
  std::string pointer;
  std::string code;
  std::string detail;
};

struct Error {
  Code code = Code::internal;
  std::string detail;              // for the client: names the thing, the value, the limit and the remedy
  std::string log;                 // for the operator; empty: the same as detail
  std::vector<FieldFault> faults;  // with validation_failed: all faults found
  int retry_after_s = 1;           // with rate_limited and unavailable: when to retry
};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}
  Result(Error error) : state_(std::move(error)) {}

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  T& value() { return std::get<0>(state_); }
  const T& value() const { return std::get<0>(state_); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  T& operator*() { return value(); }
  const T& operator*() const { return value(); }

  Error& error() { return std::get<1>(state_); }
  const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

struct Nothing {};
using Status = Result<Nothing>;

}  // namespace runwarden
