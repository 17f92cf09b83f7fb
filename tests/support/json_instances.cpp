#include "support/json_instances.h"

template class nlohmann::basic_json<>;
template class nlohmann::detail::json_sax_dom_parser<nlohmann::json>;
template class nlohmann::detail::json_sax_dom_callback_parser<nlohmann::json>;
template class nlohmann::detail::lexer<nlohmann::json, runwarden::test::FromText>;
template class nlohmann::detail::parser<nlohmann::json, runwarden::test::FromText>;
template class nlohmann::detail::serializer<nlohmann::json>;
template class nlohmann::detail::iter_impl<const nlohmann::json>;
