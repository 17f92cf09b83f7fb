#include "store/postgres/dsn.h"

#include <arpa/inet.h>
#include <libpq-fe.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "base/secret_file.h"

namespace runwarden::store::postgres {
namespace {

constexpr const char* kCertificates = "/etc/ssl/certs/ca-certificates.crt";

// `of`: how faults of the key begin.
Error fault(const std::string& of, const std::string& text) {
  return {Code::validation_failed, of + text, {}, {}};
}

struct FreeOptions {
  void operator()(PQconninfoOption* options) const { PQconninfoFree(options); }
};
using Options = std::unique_ptr<PQconninfoOption, FreeOptions>;
using Words = std::map<std::string, std::string>;

void add_words(const PQconninfoOption* option, Words& words) {
  for (; option != nullptr && option->keyword != nullptr; ++option) {
    if (option->val != nullptr && *option->val != '\0') words.emplace(option->keyword, option->val);
  }
}

// The first keyword with a secret, as libpq marks them; empty: none.
std::string secret_in(const PQconninfoOption* option) {
  for (; option != nullptr && option->keyword != nullptr; ++option) {
    const bool is_set = option->val != nullptr && *option->val != '\0';
    if (is_set && option->dispchar != nullptr && *option->dispchar == '*') return option->keyword;
  }
  return {};
}

std::vector<std::string> parts(const std::string& list) {
  std::vector<std::string> found;
  std::istringstream in(list);
  for (std::string part; std::getline(in, part, ',');) found.push_back(part);
  return found;
}

// A host name may begin like an address.
bool is_here(const std::string& host) {
  in_addr address{};
  const bool loopback = host.starts_with("127.") && ::inet_pton(AF_INET, host.c_str(), &address) == 1;
  return host.empty() || host.front() == '/' || host.front() == '@' || host == "localhost" || loopback || host == "::1";
}

std::vector<std::string> parts_of(const Words& words, const char* key) {
  const auto found = words.find(key);
  return found == words.end() ? std::vector<std::string>() : parts(found->second);
}

// The first host on another machine; empty: none. A host that comes with an address is only a name for the certificate.
std::string host_elsewhere(const Words& words) {
  std::vector<std::string> hosts = parts_of(words, "host");
  const std::vector<std::string> addresses = parts_of(words, "hostaddr");
  hosts.resize(std::max(hosts.size(), addresses.size()));
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    const std::string& reached = i < addresses.size() && !addresses[i].empty() ? addresses[i] : hosts[i];
    if (!is_here(reached)) return reached;
  }
  return {};
}

Status check_secret(const std::string& keyword, const PostgresTarget& place) {
  if (keyword.empty()) return Nothing{};
  if (keyword == "password")
    return fault(place.dsn_fault, "it contains a password; put that into a file of mode 0600, and name it in store.password_file");
  return fault(place.dsn_fault, "it contains a secret, " + keyword +
                                    "=; for a client certificate, name in sslkey= a key file of mode 0600 without a password");
}

Status check_words(const Words& words, const PostgresTarget& place) {
  if (words.contains("service"))
    return fault(place.dsn_fault, "service= is not supported, because it hides the database's address; write host, user and dbname");
  const auto mode = words.find("sslmode");
  const std::string elsewhere = host_elsewhere(words);
  if (elsewhere.empty() || place.allow_plaintext || mode == words.end() || mode->second == "verify-full") return Nothing{};
  return fault(place.dsn_fault, "sslmode=" + mode->second + " does not verify the server at \"" + elsewhere +
                                    "\"; write sslmode=verify-full, or set store.allow_plaintext: true");
}

}  // namespace

Result<ConnectSettings> connect_settings(const PostgresTarget& place) {
  if (place.dsn.empty())
    return fault(place.dsn_fault,
                 "required by driver postgres: the database's address, such as \"host=db.internal user=runwarden dbname=runwarden\"");
  char* told = nullptr;
  const Options options(PQconninfoParse(place.dsn.c_str(), &told));
  if (!options) {
    std::string why = told == nullptr ? "it cannot be read" : told;
    PQfreemem(told);
    while (!why.empty() && why.back() == '\n') why.pop_back();
    return fault(place.dsn_fault, why);
  }
  if (Status status = check_secret(secret_in(options.get()), place); !status.ok()) return std::move(status.error());
  Words words;
  add_words(options.get(), words);
  if (Status status = check_words(words, place); !status.ok()) return std::move(status.error());
  const Options defaults(PQconndefaults());  // including those from the environment
  Words all = words;
  add_words(defaults.get(), all);
  ConnectSettings settings;
  settings.dsn = place.dsn;
  settings.connect_timeout = std::chrono::milliseconds(place.connect_timeout_ms);
  settings.prepared = place.prepared;
  if (!place.allow_plaintext && !host_elsewhere(all).empty()) {
    settings.words.emplace_back("sslmode", "verify-full");
    if (!words.contains("sslrootcert")) settings.words.emplace_back("sslrootcert", kCertificates);
  }
  const bool several = parts(all["host"]).size() > 1 || parts(all["hostaddr"]).size() > 1;
  if (several && !words.contains("target_session_attrs")) settings.words.emplace_back("target_session_attrs", "read-write");
  if (!place.password_file.empty()) {
    auto password = read_secret_file(place.password_file);
    if (!password.ok()) return fault(place.password_file_fault, password.error().detail);
    settings.password = std::move(*password);
  }
  return settings;
}

}  // namespace runwarden::store::postgres
