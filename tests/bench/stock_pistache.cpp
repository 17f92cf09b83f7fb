// The yardstick: a bare handler on Pistache's stock endpoint, which reads a POST and answers 201 with a small fixed body.
//
//   bench_stock_pistache [THREADS]     prints its port, serves until SIGINT or SIGTERM
#include <pistache/endpoint.h>
#include <pistache/http.h>
#include <signal.h>

#include <cstdio>
#include <cstdlib>

namespace {

class Bare final : public Pistache::Http::Handler {
 public:
  HTTP_PROTOTYPE(Bare)
  void onRequest(const Pistache::Http::Request& request, Pistache::Http::ResponseWriter response) override {
    if (request.body().empty()) {
      response.send(Pistache::Http::Code::Bad_Request);
      return;
    }
    response.send(Pistache::Http::Code::Created, R"({"runId":"run_1","state":"resolved","failures":[],"detectors":[],"policies":[]})",
                  MIME(Application, Json));
  }
};

}  // namespace

int main(int argc, char** argv) {
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGINT);
  sigaddset(&stop, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &stop, nullptr);

  const int threads = argc > 1 ? std::atoi(argv[1]) : 2;
  Pistache::Http::Endpoint endpoint(Pistache::Address("127.0.0.1", Pistache::Port(0)));
  endpoint.init(
      Pistache::Http::Endpoint::options().threads(threads).maxRequestSize(16 * 1024 * 1024).flags(Pistache::Tcp::Options::ReuseAddr));
  endpoint.setHandler(Pistache::Http::make_handler<Bare>());
  endpoint.serveThreaded();
  std::printf("%u\n", static_cast<unsigned>(static_cast<std::uint16_t>(endpoint.getPort())));
  std::fflush(stdout);
  int caught = 0;
  sigwait(&stop, &caught);
  endpoint.shutdown();
}
