// The right to answer one request once. Movable; usable from any thread, even after the client or the server is gone.
#pragma once

#include <memory>
#include <utility>

#include "http/reply.h"

namespace runwarden::http {

class Responder {
 public:
  class Route;  // leads back to the worker that owns the connection
  Responder() = default;
  explicit Responder(std::shared_ptr<Route> route) : route_(std::move(route)) {}
  Responder(Responder&&) noexcept = default;
  Responder& operator=(Responder&&) noexcept = default;

  void send(Reply reply);  // at most once, and last
  void hang_up();          // closes the connection without an answer, so that the client cannot mistake anything for one
  void read_more();        // BodyForm::lines only: asks for the next batch instead of answering

 private:
  std::shared_ptr<Route> route_;
};

}  // namespace runwarden::http
