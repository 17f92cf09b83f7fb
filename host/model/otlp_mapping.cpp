#include "model/otlp_mapping.h"

namespace runwarden::model {

std::string SpanMapping::FieldRow::label() const {
  std::string text = event.empty() ? attribute : event + "/" + attribute;
  if (numbered) text += '*';
  for (std::size_t i = 0; i < member.size(); ++i) text += (i == 0 ? "#" : ".") + member[i];
  return text;
}

}  // namespace runwarden::model
