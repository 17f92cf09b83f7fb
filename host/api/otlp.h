// The parts of the HTTP API specific to OTLP (opentelemetry-proto, "OTLP/HTTP"): encodings, answers, and ways to send a key. Pure; any
// thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/admission.h"
#include "base/result.h"
#include "http/reply.h"
#include "http/request_head.h"
#include "ingest/trace_ingest.h"

namespace runwarden::api {

// An ExportTraceServiceResponse, or the one for metrics or logs, in that encoding (json or protobuf).
http::Reply otlp_reply(Media media, const ingest::TraceAnswer& answer);

// A google.rpc.Status in that encoding, with the HTTP status of the error. Limits the retry delay to one that exporters accept.
http::Reply otlp_problem(Media media, Error error);

// True for the path that exporters are given as their endpoint, and those below it.
bool is_otlp_path(std::string_view raw_path);

// The encoding that a Content-Type names; Media::none if it is neither.
Media otlp_media(std::string_view content_type);

// The request's key as values of Authorization: from a Bearer field (also with its space as %20), from the password of a Basic field, or
// from x-api-key.
std::vector<std::string> otlp_credentials(const http::RequestHead& head);

}  // namespace runwarden::api
