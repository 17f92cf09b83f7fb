#include "store/change_codec.h"

#include "store/fields.h"

namespace runwarden::store {
namespace {

// Field numbers are part of the format: never change or reuse them.
namespace field {
enum Change { change_time = 1, change_seq, change_id, kind, change_received };
enum Policy { policy_time = 1, policy_seq, policy_id, policy, revision, author, content, policy_received };
enum Body { document = 1 };
}  // namespace field

std::string encode_document(std::string_view document) {
  std::string body;
  Writer out(body);
  add_view(out, field::document, document);
  return body;
}

std::string decode_document(std::string_view key, std::string_view value) {
  std::string document;
  read_fields(open_body(key, value), [&](Reader& in) {
    if (in.tag() != field::document) return false;
    document = in.get_string();
    return true;
  });
  return document;
}

}  // namespace

std::string encode_change(std::string_view key, const model::ChangeRecord& change) {
  std::string head;
  Writer out(head);
  out.add_sint64(field::change_time, change.key.time_ms);
  out.add_uint64(field::change_seq, change.key.seq);
  out.add_string(field::change_id, change.id);
  out.add_string(field::kind, change.kind);
  out.add_sint64(field::change_received, change.received_ms);
  return seal(key, head, encode_document(change.document));
}

model::ChangeRecord decode_change_head(std::string_view key, std::string_view value) {
  model::ChangeRecord change;
  read_fields(open_head(key, value), [&](Reader& in) {
    switch (in.tag()) {
      case field::change_time: change.key.time_ms = in.get_sint64(); return true;
      case field::change_seq: change.key.seq = in.get_uint64(); return true;
      case field::change_id: change.id = in.get_string(); return true;
      case field::kind: change.kind = in.get_string(); return true;
      case field::change_received: change.received_ms = in.get_sint64(); return true;
      default: return false;
    }
  });
  return change;
}

model::ChangeRecord decode_change(std::string_view key, std::string_view value) {
  model::ChangeRecord change = decode_change_head(key, value);
  change.document = decode_document(key, value);
  return change;
}

std::string encode_policy(std::string_view key, const model::PolicyRecord& policy) {
  std::string head;
  Writer out(head);
  out.add_sint64(field::policy_time, policy.key.time_ms);
  out.add_uint64(field::policy_seq, policy.key.seq);
  out.add_string(field::policy_id, policy.id);
  out.add_string(field::policy, policy.policy);
  out.add_string(field::revision, policy.revision);
  out.add_string(field::author, policy.author);
  add_digest(out, field::content, policy.content);
  out.add_sint64(field::policy_received, policy.received_ms);
  return seal(key, head, encode_document(policy.document));
}

model::PolicyRecord decode_policy_head(std::string_view key, std::string_view value) {
  model::PolicyRecord policy;
  read_fields(open_head(key, value), [&](Reader& in) {
    switch (in.tag()) {
      case field::policy_time: policy.key.time_ms = in.get_sint64(); return true;
      case field::policy_seq: policy.key.seq = in.get_uint64(); return true;
      case field::policy_id: policy.id = in.get_string(); return true;
      case field::policy: policy.policy = in.get_string(); return true;
      case field::revision: policy.revision = in.get_string(); return true;
      case field::author: policy.author = in.get_string(); return true;
      case field::content: policy.content = read_digest(in); return true;
      case field::policy_received: policy.received_ms = in.get_sint64(); return true;
      default: return false;
    }
  });
  return policy;
}

model::PolicyRecord decode_policy(std::string_view key, std::string_view value) {
  model::PolicyRecord policy = decode_policy_head(key, value);
  policy.document = decode_document(key, value);
  return policy;
}

}  // namespace runwarden::store
