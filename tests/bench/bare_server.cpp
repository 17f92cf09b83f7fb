// This project's HTTP server with a handler that does nothing: what the server alone costs, next to bench_stock_pistache.
//
//   bench_bare_server [THREADS]     prints its port, serves until SIGINT or SIGTERM
#include <signal.h>

#include <cstdio>
#include <cstdlib>

#include "http/handler.h"
#include "http/reply.h"
#include "http/request_head.h"
#include "http/responder.h"
#include "http/server.h"

namespace {

using namespace runwarden::http;

class BareRequestHandler final : public RequestHandler {
 public:
  void on_body(std::string body, Responder responder) override {
    Reply reply;
    reply.status = body.empty() ? 400 : 201;
    reply.body = R"({"runId":"run_1","state":"resolved","failures":[],"detectors":[],"policies":[]})";
    responder.send(std::move(reply));
  }
  void on_lines(LineBatch, Responder) override {}
};

class BareHandler final : public Handler {
 public:
  std::variant<Reply, Accepted> on_head(const RequestHead&) override {
    Accepted accepted;
    accepted.request_handler = std::make_unique<BareRequestHandler>();
    accepted.max_body_bytes = 16 * 1024 * 1024;
    return accepted;
  }
  void on_answered(const AccessRecord&) override {}
};

}  // namespace

int main(int argc, char** argv) {
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGINT);
  sigaddset(&stop, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &stop, nullptr);

  BareHandler handler;
  ServerSettings settings;
  settings.address = "127.0.0.1:0";
  settings.threads = argc > 1 ? std::atoi(argv[1]) : 2;
  auto server = Server::start(settings, handler);
  if (!server) {
    std::fprintf(stderr, "%s\n", server.error().detail.c_str());
    return 1;
  }
  std::printf("%u\n", static_cast<unsigned>((*server)->port()));
  std::fflush(stdout);
  int caught = 0;
  sigwait(&stop, &caught);
  (*server)->drain();
}
