// Decodes a compressed body incrementally into bounded output. One owner, one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

struct z_stream_s;

namespace runwarden::http {

// Content codings (RFC 9110, section 8.4.1). `deflate` is the zlib format (RFC 1950).
enum class Coding : std::uint8_t { identity, gzip, deflate };

class Gunzip {
 public:
  explicit Gunzip(Coding coding = Coding::gzip);  // not identity
  ~Gunzip();
  Gunzip(const Gunzip&) = delete;
  Gunzip& operator=(const Gunzip&) = delete;

  struct Step {
    std::size_t taken = 0;  // of the input
    std::size_t made = 0;   // bytes of output
    bool corrupt = false;
  };
  // Both zero: more input is needed. Accepts concatenated members of gzip (RFC 1952, 2.2).
  Step step(std::string_view in, char* out, std::size_t room);
  // True if the stream ended with a complete member, or is empty.
  bool whole() const { return at_end_; }

 private:
  std::unique_ptr<z_stream_s> stream_;
  bool at_end_ = true;  // of a member
};

}  // namespace runwarden::http
