// Makes several HTTP requests at once, with libcurl's multi interface. One thread, except for wake().
//
// Names are looked up for each connection, and every address is judged where the socket is opened, so a name that leads elsewhere the next
// time is followed and finds the same rules. A connection takes further requests for kConnectionLifeS at most. No proxies, no redirects, no
// cookies; of an answer at most kMostAnswerBytes are read, and nothing but its status and Retry-After is kept, unless the request asks for
// its body.
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
  std::string url;  // as check_url() took it
  std::vector<std::string> headers;
  std::string body;
  std::size_t keep_bytes = 0;  // of the answer's body, which is an error where it is longer; 0: none is kept
  bool new_connection = false;  // do not reuse an open connection
};

struct SendResult {
  std::uint64_t id = 0;
  int status = 0;           // of the answer; 0: there was none within the time
  std::string error;        // a short code; empty: a 2xx, or a URL whose addresses are allowed
  std::string retry_after;  // the field's value
  std::string body = {};    // of the answer, as far as it was to be kept
};

class HttpSender {
 public:
  // Throws std::runtime_error where libcurl cannot be set up.
  HttpSender(AddressRules rules, std::int64_t timeout_ms, std::int64_t connection_life_s = kConnectionLifeS);
  ~HttpSender();
  HttpSender(const HttpSender&) = delete;
  HttpSender& operator=(const HttpSender&) = delete;

  const AddressRules& rules() const;
  void post(std::uint64_t id, SendRequest request);
  // Looks the URL's host up and judges its addresses; connects to none. A name that does not resolve is not an error: it may later.
  void check(std::uint64_t id, const std::string& url);
  std::size_t in_flight() const;

  // Works for at most that long; returns early with what ended, or when it is woken.
  std::vector<SendResult> work(std::int64_t most_ms);
  // Any thread.
  void wake();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// check() by itself: waits for its end.
std::string check_addresses(const AddressRules& rules, const std::string& url);

}  // namespace runwarden::http_client
