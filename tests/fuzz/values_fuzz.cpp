// Values of the store that rotted: a decoder says so, and never makes a record of what was not written.
#include "fuzz/fuzz.h"
#include "store/change_codec.h"
#include "store/envelope.h"
#include "store/event_codec.h"
#include "store/record_codec.h"

namespace runwarden::test {
namespace {

constexpr const char* kKey = "a key";

template <class Decode>
void decode(std::string_view value, Decode decoder) {
  try {
    decoder(kKey, value);
  } catch (const store::BadValue&) {
  }
}

void decode_as_all(std::string_view value) {
  decode(value, store::decode_run);
  decode(value, store::decode_failure);
  decode(value, store::decode_key);
  decode(value, store::decode_place);
  decode(value, store::decode_events);
  decode(value, store::decode_answer);
  decode(value, store::decode_change);
  decode(value, store::decode_policy);
}

store::StoredRun sample_run() {
  store::StoredRun stored;
  stored.run.run_id = "run_1";
  stored.run.document = R"({"runId":"run_1","steps":[]})";
  stored.run.failures_json = "[]";
  stored.run.fired = {"false_success"};
  stored.failures = {{1, 2}};
  return stored;
}

}  // namespace

std::vector<std::string> fuzz_seeds() {
  model::FailureRecord failure;
  failure.id = "fail_1";
  failure.detector_key = "false_success";
  failure.json = "{}";
  model::ChangeRecord change;
  change.kind = "code";
  return {store::encode_run(kKey, sample_run()), store::encode_failure(kKey, failure), store::encode_change(kKey, change),
          store::encode_place(kKey, {1, 2}), store::encode_events(kKey, 1, std::vector<std::string>{"{}", "{\"type\":\"x\"}"})};
}

std::vector<std::string> fuzz_words() {
  return {std::string(1, '\0'), "\xff", "\x01", "\x08", "\x12", "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", std::string(8, '\xff')};
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  decode_as_all(bytes);
  // The checksum keeps most of these from the decoders; with a good one around them they get there.
  decode_as_all(store::seal(kKey, bytes));
  decode_as_all(store::seal(kKey, bytes, bytes));
  return 0;
}

}  // namespace runwarden::test
