// Reads lists of messages in the shapes that instrumentations write. Pure; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/arena.h"
#include "intake/otlp/span.h"

namespace runwarden::intake::otlp {

struct Message {
  std::string role;         // user, assistant, system, tool, or another word as sent
  std::string text;         // of all its text parts
  std::string tool_answer;  // the answers of tools, from separate parts
  std::string tool_calls;   // JSON: [{"name", "arguments"}]; empty: none
};

// The messages in a value: a text, a list of messages or parts, or an object that holds either, as values or as JSON text. A message
// without a role gets `role`. Empty if the value is an object that holds no message.
std::vector<Message> read_messages(const AnyValue& value, std::string_view role);

// The same messages, searched from the last one back. If the value is a JSON list of objects that each begin with their role, as most
// conversations are, only the messages that a search needs are parsed. The value and the role must outlive the list.
class MessageList {
 public:
  MessageList(const AnyValue& value, std::string_view role);

  bool empty() const { return entries_.empty(); }
  // The last message that `is_wanted` accepts among those whose role `is_role` accepts; null if there is none. Valid until the next call.
  template <class IsRole, class IsWanted>
  const Message* last(const IsRole& is_role, const IsWanted& is_wanted) {
    for (std::size_t at = entries_.size(); at-- > 0;) {
      const bool unread = entries_[at].message == kUnread;
      if (unread && !is_role(entries_[at].role)) continue;
      if (unread && !read(at)) return last(is_role, is_wanted);
      const Message& message = messages_[entries_[at].message];
      if (is_role(message.role) && is_wanted(message)) return &message;
    }
    return nullptr;
  }

 private:
  static constexpr std::size_t kUnread = std::string_view::npos;
  struct Entry {
    std::string_view role;          // if unread
    std::string_view json;          // if unread
    std::size_t message = kUnread;  // index into messages_
  };

  bool split(std::string_view list);
  bool read(std::size_t at);  // false: it has replaced all entries
  void read_all();

  const AnyValue& value_;
  std::string_view role_;
  std::vector<Entry> entries_;
  std::vector<Message> messages_;
};

// Builds a list, in the arena, from numbered attributes ("llm.input_messages.0.message.role"). `prefix` ends before the number.
AnyValue numbered_list(const Attributes& attributes, std::string_view prefix, Arena& arena);

}  // namespace runwarden::intake::otlp
