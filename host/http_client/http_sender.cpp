#include "http_client/http_sender.h"

#include <curl/curl.h>
#include <sys/socket.h>

#include <algorithm>
#include <map>
#include <stdexcept>

#include "base/ascii.h"

namespace runwarden::http_client {
namespace {

constexpr long kCheckMs = 5000;
constexpr long kMostConnections = 64;  // kept open for the next request
constexpr const char* kAnswerTooLong = "answer_too_long";

// Must run before any thread uses libcurl. Lasts for the life of the process.
void set_up_libcurl() {
  static const CURLcode done = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (done != CURLE_OK) throw std::runtime_error(std::string("libcurl: ") + curl_easy_strerror(done));
}

struct Transfer {
  enum class Kind : std::uint8_t { post, check };

  Transfer() = default;
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;
  ~Transfer() {
    curl_easy_cleanup(easy);
    curl_slist_free_all(headers);
  }

  std::uint64_t id = 0;
  Kind kind = Kind::post;
  const AddressRules* rules = nullptr;
  std::string host;
  SendRequest request;
  CURL* easy = nullptr;
  curl_slist* headers = nullptr;
  bool refused = false;  // an address of the host is not allowed
  std::size_t read = 0;
  std::string retry_after;
  std::string kept;

  std::size_t most_bytes() const { return kMostAnswerBytes + request.keep_bytes; }
};

curl_socket_t open_socket(void* with, curlsocktype, curl_sockaddr* address) {
  auto& transfer = *static_cast<Transfer*>(with);
  const bool allowed = transfer.rules->allows(transfer.host, address->addr);
  transfer.refused = transfer.refused || !allowed;
  if (!allowed || transfer.kind == Transfer::Kind::check) return CURL_SOCKET_BAD;
  return ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

std::size_t take_body(char* text, std::size_t, std::size_t bytes, void* with) {
  auto& transfer = *static_cast<Transfer*>(with);
  transfer.read += bytes;
  const std::size_t keep_bytes = transfer.request.keep_bytes;
  if (keep_bytes == 0) return transfer.read <= kMostAnswerBytes ? bytes : 0;
  if (bytes > keep_bytes - transfer.kept.size()) return 0;
  transfer.kept.append(text, bytes);
  return bytes;
}

std::size_t take_header(char* text, std::size_t, std::size_t bytes, void* with) {
  constexpr std::string_view kName = "retry-after:";
  auto& transfer = *static_cast<Transfer*>(with);
  transfer.read += bytes;
  if (transfer.read > transfer.most_bytes()) return 0;
  const std::string line(text, bytes);
  if (ascii::to_lower(line.substr(0, kName.size())) != kName) return bytes;
  const auto begin = line.find_first_not_of(" \t", kName.size());
  const auto end = line.find_last_not_of(" \t\r\n");
  transfer.retry_after = begin == std::string::npos || end < begin ? "" : line.substr(begin, end - begin + 1);
  return bytes;
}

void list_headers(Transfer& transfer) {
  for (std::string& field : transfer.request.headers) {
    // A line break in a value would start another field.
    std::replace_if(
        field.begin(), field.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
    transfer.headers = curl_slist_append(transfer.headers, field.c_str());
  }
}

void set_callbacks(Transfer& transfer) {
  CURL* const easy = transfer.easy;
  curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
  curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, &transfer);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_body);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &transfer);
  curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, take_header);
  curl_easy_setopt(easy, CURLOPT_HEADERDATA, &transfer);
}

void set_content(const Transfer& transfer) {
  CURL* const easy = transfer.easy;
  curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(transfer.request.body.size()));
  curl_easy_setopt(easy, CURLOPT_POSTFIELDS, transfer.request.body.data());
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, transfer.headers);
}

const char* code_of(CURLcode fault) {
  switch (fault) {
    case CURLE_COULDNT_RESOLVE_HOST: return "name_not_resolved";
    case CURLE_OPERATION_TIMEDOUT: return "timeout";
    case CURLE_COULDNT_CONNECT: return "connection_failed";
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_SSL_CACERT_BADFILE: return "tls_failed";
    default: return "connection_broken";
  }
}

// The result of a finished transfer. An answer longer than the read limit still has its status.
SendResult result_of(Transfer& transfer, CURLcode code) {
  SendResult result{transfer.id, 0, {}, transfer.retry_after};
  if (transfer.kind == Transfer::Kind::check) {
    if (transfer.refused) result.error = kAddressNotAllowed;
    return result;
  }
  long status = 0;
  curl_easy_getinfo(transfer.easy, CURLINFO_RESPONSE_CODE, &status);
  const bool cut = code == CURLE_WRITE_ERROR;
  if (code != CURLE_OK && !cut) {
    const bool refused = transfer.refused && code == CURLE_COULDNT_CONNECT;
    result.error = refused ? kAddressNotAllowed : code_of(code);
    if (code == CURLE_OPERATION_TIMEDOUT) result.status = static_cast<int>(status);  // of an answer that did not end
    return result;
  }
  result.status = static_cast<int>(status);
  if (status / 100 == 3) result.error = "redirect_refused";
  if (status / 100 != 2 && status / 100 != 3) result.error = "http_status";
  if (result.error.empty() && cut && transfer.request.keep_bytes > 0) result.error = kAnswerTooLong;
  result.body = std::move(transfer.kept);
  return result;
}

}  // namespace

struct HttpSender::State {
  State(AddressRules with, std::int64_t most_ms, std::int64_t life_s)
      : rules(std::move(with)), timeout_ms(most_ms), connection_life_s(life_s) {
    set_up_libcurl();
    multi = curl_multi_init();
    if (multi == nullptr) throw std::runtime_error("libcurl is out of memory");
    curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, kMostConnections);
  }
  ~State() {
    for (const auto& [easy, transfer] : transfers) curl_multi_remove_handle(multi, easy);
    transfers.clear();
    curl_multi_cleanup(multi);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  void start(std::unique_ptr<Transfer> transfer);
  void set_connection(const Transfer& transfer) const;

  AddressRules rules;
  std::int64_t timeout_ms;
  std::int64_t connection_life_s;
  CURLM* multi = nullptr;
  std::map<CURL*, std::unique_ptr<Transfer>> transfers;
  std::vector<SendResult> failed_at_once;
};

void HttpSender::State::start(std::unique_ptr<Transfer> transfer) {
  CheckedUrl url = check_url(transfer->request.url, rules);
  CURL* const easy = curl_easy_init();
  if (url.fault || easy == nullptr) {
    curl_easy_cleanup(easy);
    failed_at_once.push_back({transfer->id, 0, url.fault ? "url_not_allowed" : "connection_failed", {}});
    return;
  }
  Transfer& with = *transfer;
  with.easy = easy;
  with.host = std::move(url.host);
  with.request.url = std::move(url.url);
  with.rules = &rules;
  list_headers(with);
  set_connection(with);
  set_callbacks(with);
  if (with.kind == Transfer::Kind::post) set_content(with);
  transfers.emplace(easy, std::move(transfer));
  curl_multi_add_handle(multi, easy);
}

void HttpSender::State::set_connection(const Transfer& transfer) const {
  CURL* const easy = transfer.easy;
  const bool check = transfer.kind == Transfer::Kind::check;
  curl_easy_setopt(easy, CURLOPT_URL, transfer.request.url.c_str());
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, rules.allows_http() ? "https,http" : "https");
  curl_easy_setopt(easy, CURLOPT_PROXY, "");
  curl_easy_setopt(easy, CURLOPT_NOPROXY, "*");
  curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(easy, CURLOPT_NETRC, static_cast<long>(CURL_NETRC_IGNORED));
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, check ? kCheckMs : static_cast<long>(timeout_ms));
  curl_easy_setopt(easy, CURLOPT_DNS_CACHE_TIMEOUT, 0L);
  curl_easy_setopt(easy, CURLOPT_MAXLIFETIME_CONN, static_cast<long>(connection_life_s));
  curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, check || transfer.request.new_connection ? 1L : 0L);
}

HttpSender::HttpSender(AddressRules rules, std::int64_t timeout_ms, std::int64_t connection_life_s)
    : state_(std::make_unique<State>(std::move(rules), timeout_ms, connection_life_s)) {}
HttpSender::~HttpSender() = default;

const AddressRules& HttpSender::rules() const {
  return state_->rules;
}

void HttpSender::post(std::uint64_t id, SendRequest request) {
  auto transfer = std::make_unique<Transfer>();
  transfer->id = id;
  transfer->request = std::move(request);
  state_->start(std::move(transfer));
}

void HttpSender::check(std::uint64_t id, const std::string& url) {
  auto transfer = std::make_unique<Transfer>();
  transfer->id = id;
  transfer->kind = Transfer::Kind::check;
  transfer->request.url = url;
  state_->start(std::move(transfer));
}

std::size_t HttpSender::in_flight() const {
  return state_->transfers.size();
}

std::vector<SendResult> HttpSender::work(std::int64_t most_ms) {
  std::vector<SendResult> ended = std::exchange(state_->failed_at_once, {});
  int running = 0;
  curl_multi_perform(state_->multi, &running);
  if (ended.empty() && static_cast<std::size_t>(running) == state_->transfers.size()) {
    curl_multi_poll(state_->multi, nullptr, 0, static_cast<int>(most_ms), nullptr);
    curl_multi_perform(state_->multi, &running);
  }
  int left = 0;
  while (const CURLMsg* const message = curl_multi_info_read(state_->multi, &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    CURL* const easy = message->easy_handle;
    const CURLcode code = message->data.result;
    const auto found = state_->transfers.find(easy);
    ended.push_back(result_of(*found->second, code));
    curl_multi_remove_handle(state_->multi, easy);
    state_->transfers.erase(found);
  }
  return ended;
}

void HttpSender::wake() {
  curl_multi_wakeup(state_->multi);
}

std::string check_addresses(const AddressRules& rules, const std::string& url) {
  HttpSender sender(rules, kCheckMs);
  sender.check(0, url);
  for (;;) {
    const auto ended = sender.work(1000);
    if (!ended.empty()) return ended.front().error;
  }
}

}  // namespace runwarden::http_client
