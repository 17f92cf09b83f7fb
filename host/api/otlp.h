// What OTLP asks of an HTTP server beyond the rest of the API: its encodings, its answers, its ways of sending a key
// (opentelemetry-proto, "OTLP/HTTP"). Pure; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/admission.h"
#include "base/result.h"
#include "http/server.h"
#include "ingest/trace_ingest.h"

namespace runwarden::api {

// An ExportTraceServiceResponse, or that of metrics or logs, in that encoding (json or protobuf).
http::Reply otlp_reply(Media media, const ingest::TraceAnswer& answer);

// A google.rpc.Status in that encoding, with the HTTP status of the error. Nothing tells an exporter to wait longer than it does.
http::Reply otlp_problem(Media media, Error error);

// The encoding that a Content-Type names; Media::none: neither.
Media otlp_media(std::string_view content_type);

// What the request says of its key, as Authorization would: its Authorization where that is Bearer, also with its blank as %20; else the
// password of a Basic one, else x-api-key.
std::vector<std::string> otlp_credentials(const http::RequestHead& head);

}  // namespace runwarden::api
