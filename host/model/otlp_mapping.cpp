#include "model/otlp_mapping.h"

namespace runwarden::model {

void SpanMapping::FieldRow::append_label(std::string& text) const {
  if (!event.empty()) text.append(event).append("/");
  text += attribute;
  if (numbered) text += '*';
  for (std::size_t i = 0; i < member.size(); ++i) text.append(i == 0 ? "#" : ".").append(member[i]);
}

bool SpanMapping::FieldRow::is_like(const FieldRow& other) const {
  return attribute == other.attribute && numbered == other.numbered && event == other.event && member == other.member;
}

std::string SpanMapping::FieldRow::label() const {
  std::string text;
  append_label(text);
  return text;
}

}  // namespace runwarden::model
