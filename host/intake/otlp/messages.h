// Lists of messages, in the shapes that instrumentations write them. Pure; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/arena.h"
#include "intake/otlp/span.h"

namespace runwarden::intake::otlp {

struct Message {
  std::string role;         // user, assistant, system, tool; another word is kept
  std::string text;         // of all its text parts
  std::string tool_answer;  // what tools answered, in parts of their own
  std::string tool_calls;   // JSON: [{"name", "arguments"}]; empty: none
};

// The messages of a value: a text, a list of messages or parts, or an object that holds either, as values or as JSON text. What says no
// role has `role`. Empty where the value is an object that holds no message.
std::vector<Message> read_messages(const AnyValue& value, std::string_view role);

// The same messages, looked at from the last on. Of a text of JSON that is a list of objects which all begin with their role, as a
// conversation is mostly written, only the messages that are asked for are read. The value and the role must outlive it.
class MessageList {
 public:
  MessageList(const AnyValue& value, std::string_view role);

  bool empty() const { return entries_.empty(); }
  // The last message that `is_wanted` accepts, of those whose role `is_role` accepts; null: none. Good until the next call.
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
    std::string_view role;          // of one that is unread
    std::string_view json;          // of one that is unread
    std::size_t message = kUnread;  // which of messages_ it is
  };

  bool split(std::string_view list);
  bool read(std::size_t at);  // false: the entries are other ones now
  void read_all();

  const AnyValue& value_;
  std::string_view role_;
  std::vector<Entry> entries_;
  std::vector<Message> messages_;
};

// A numbered list of attributes ("llm.input_messages.0.message.role") as a list, in the arena. `prefix` ends before the number.
AnyValue numbered_list(const Attributes& attributes, std::string_view prefix, Arena& arena);

}  // namespace runwarden::intake::otlp
