#include "http/gunzip.h"

#include <zlib.h>

#include <new>

namespace runwarden::http {

Gunzip::Gunzip(Coding coding) : stream_(std::make_unique<z_stream>()) {
  *stream_ = {};
  constexpr int kGzipOnly = 16 + MAX_WBITS;
  if (inflateInit2(stream_.get(), coding == Coding::deflate ? MAX_WBITS : kGzipOnly) != Z_OK) throw std::bad_alloc();
}

Gunzip::~Gunzip() {
  inflateEnd(stream_.get());
}

Gunzip::Step Gunzip::step(std::string_view in, char* out, std::size_t room) {
  if (at_end_) {
    if (in.empty()) return {};
    inflateReset(stream_.get());
    at_end_ = false;
  }
  stream_->next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
  stream_->avail_in = static_cast<uInt>(in.size());
  stream_->next_out = reinterpret_cast<Bytef*>(out);
  stream_->avail_out = static_cast<uInt>(room);
  const int result = inflate(stream_.get(), Z_NO_FLUSH);
  Step done{in.size() - stream_->avail_in, room - stream_->avail_out, false};
  at_end_ = result == Z_STREAM_END;
  done.corrupt = result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR;
  return done;
}

}  // namespace runwarden::http
