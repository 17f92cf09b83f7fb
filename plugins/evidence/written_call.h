#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace runwarden::plugins {

/// The name of a tool whose call was written into a message as text instead of being made: `remember(fact="...")`, `{"name": ...,
/// "arguments": ...}`, `<tool_call>`; empty where a call has none. Calls in fenced code are shown, not written. Linear.
[[nodiscard]] std::optional<std::string> written_call(std::string_view message);

}  // namespace runwarden::plugins
