// Decodes a gzip stream piece by piece, never more than asked for. One owner, one thread.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

struct z_stream_s;

namespace runwarden::http {

class Gunzip {
 public:
  Gunzip();
  ~Gunzip();
  Gunzip(const Gunzip&) = delete;
  Gunzip& operator=(const Gunzip&) = delete;

  struct Step {
    std::size_t taken = 0;  // of the input
    std::size_t made = 0;   // bytes of output
    bool corrupt = false;
  };
  // Both zero: nothing to be had without more input. Members may follow one another (RFC 1952, 2.2).
  Step step(std::string_view in, char* out, std::size_t room);
  // True when the stream ended with a whole member.
  bool whole() const { return started_ && at_end_; }

 private:
  std::unique_ptr<z_stream_s> stream_;
  bool started_ = false;
  bool at_end_ = false;
};

}  // namespace runwarden::http
