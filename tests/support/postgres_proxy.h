// Stands between a client and a PostgreSQL of a test, on a socket of its own, and can keep back what a client sends. Any thread.
#pragma once

#include <array>
#include <filesystem>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "support/temp_folder.h"

namespace runwarden::test {

class PostgresProxy {
 public:
  explicit PostgresProxy(std::filesystem::path server_socket);
  ~PostgresProxy();
  PostgresProxy(const PostgresProxy&) = delete;
  PostgresProxy& operator=(const PostgresProxy&) = delete;

  std::string dsn(const std::string& database) const { return "host=" + folder_.path().string() + " user=runwarden dbname=" + database; }

  // The next message with that text is kept back, and who sent it loses its connection; the server knows of nothing. Then `then` is called, on
  // the proxy's thread.
  void keep_back(std::string text, std::function<void()> then) { set(kept_, std::move(text), std::move(then)); }
  // Calls `then` when a client has sent that text, once; on the proxy's thread.
  void when_sent(std::string text, std::function<void()> then) { set(seen_, std::move(text), std::move(then)); }
  // What was kept back goes to the server, whose answers nobody reads but answer(). On the proxy's thread or any other.
  void send_kept() { tell('s'); }
  // The server's connection is closed, and it gets nothing of it.
  void drop_kept() { tell('d'); }
  // What the server said to what was kept back, so far.
  std::string answer() const;

 private:
  struct Watched {
    std::string text;
    std::function<void()> then;
  };
  struct Pair {
    int client = -1;
    int server = -1;
    std::string kept;
    bool keeps = false;
  };

  void set(Watched& watched, std::string text, std::function<void()> then);
  void tell(char what);
  static void close_pair(Pair& pair);
  // Whether it is in there; then it is waited for no longer, and `then` is what is to be called.
  bool takes(Watched& watched, std::string_view bytes, std::function<void()>& then);

  void from_client(Pair& pair, std::string_view bytes);
  void from_server(Pair& pair, std::string_view bytes);
  bool take_order();
  void work();

  TempFolder folder_;
  const std::filesystem::path server_;
  int listener_ = -1;
  std::array<int, 2> wake_{-1, -1};
  mutable std::mutex mutex_;
  Watched kept_;
  Watched seen_;
  std::string answer_;
  std::list<Pair> pairs_;
  std::thread thread_;
};

}  // namespace runwarden::test
