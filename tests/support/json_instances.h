// What nearly every test program makes of nlohmann's templates, made once for all of them, in json_instances.cpp: a fifth of the time that
// a test takes to compile.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace runwarden::test {
using FromText = nlohmann::detail::iterator_input_adapter<std::string::const_iterator>;
}  // namespace runwarden::test

extern template class nlohmann::basic_json<>;
extern template class nlohmann::detail::json_sax_dom_parser<nlohmann::json>;
extern template class nlohmann::detail::json_sax_dom_callback_parser<nlohmann::json>;
extern template class nlohmann::detail::lexer<nlohmann::json, runwarden::test::FromText>;
extern template class nlohmann::detail::parser<nlohmann::json, runwarden::test::FromText>;
extern template class nlohmann::detail::serializer<nlohmann::json>;
extern template class nlohmann::detail::iter_impl<const nlohmann::json>;
