// Makes several HTTP requests at once, with libcurl's multi interface. One thread, except for wake().
//
// Resolves names for each connection and checks every address when it opens the socket, so a name that resolves elsewhere the next time is
// subject to the same rules. Reuses a connection for at most kConnectionLifeS. No proxies, no redirects, no cookies. Reads at most
// kMostAnswerBytes of an answer and keeps only its status and Retry-After, unless the request asks for its body.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "http_client/address_rules.h"

namespace runwarden::http_client {

constexpr std::size_t kMostAnswerBytes = 64 * 1024;
constexpr std::int64_t kConnectionLifeS = 60;
constexpr const char* kAddressNotAllowed = "address_not_allowed";

struct SendRequest {
  std::string url;  // accepted by check_url()
  std::vector<std::string> headers;
  std::string body;
  std::size_t keep_bytes = 0;   // of the answer's body; a longer body is an error; 0: keep none
  bool new_connection = false;  // do not reuse an open connection
};

struct SendResult {
  std::uint64_t id = 0;
  int status = 0;           // of the answer, also if its body did not end in time; 0: none within the timeout
  std::string error;        // a short code; empty: a 2xx answer or, for check(), allowed addresses
  std::string retry_after;  // the field's value
  std::string body = {};    // of the answer, at most keep_bytes
};

class HttpSender {
 public:
  // Throws std::runtime_error if libcurl cannot be initialized.
  HttpSender(AddressRules rules, std::int64_t timeout_ms, std::int64_t connection_life_s = kConnectionLifeS);
  ~HttpSender();
  HttpSender(const HttpSender&) = delete;
  HttpSender& operator=(const HttpSender&) = delete;

  const AddressRules& rules() const;
  void post(std::uint64_t id, SendRequest request);
  // Resolves the URL's host and checks its addresses, without connecting. A name that does not resolve is not an error: it may later.
  void check(std::uint64_t id, const std::string& url);
  std::size_t in_flight() const;

  // Runs transfers for at most that long. Returns those that ended; returns early if any did, or on wake().
  std::vector<SendResult> work(std::int64_t most_ms);
  // Any thread.
  void wake();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Runs check() and waits for its result, an error code or empty text.
std::string check_addresses(const AddressRules& rules, const std::string& url);

}  // namespace runwarden::http_client
