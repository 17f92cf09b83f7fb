#include "common/short_output.h"

#include <gtest/gtest.h>

#include <string>

#include "common/content.h"
#include "common/settings.h"
#include "vocabulary_file.h"

namespace runwarden::plugins {
namespace {

constexpr auto kNone = ShortSign::kNone;
constexpr auto kFailed = ShortSign::kFailed;
constexpr auto kRefused = ShortSign::kRefused;
constexpr auto kAction = ShortSign::kActionFailed;
constexpr auto kNotThere = ShortSign::kNotThere;

ShortSign sign_of(std::string_view output, std::string_view settings = {}) {
  return make_content_rules(Settings(settings)).short_signs.read(output);
}

struct Said {
  const char* output;
  ShortSign sign;
};

class ShortText : public testing::TestWithParam<Said> {};

TEST_P(ShortText, IsReadByItsBeginning) {
  EXPECT_EQ(sign_of(GetParam().output), GetParam().sign) << GetParam().output;
}

INSTANTIATE_TEST_SUITE_P(
    Failures, ShortText,
    testing::Values(Said{"[tool error: KeyError: 'till']", kFailed}, Said{"I encountered an error while opening the ledger", kFailed},
                    Said{"Execution failed. Traceback: line 3", kFailed}, Said{"Unknown skill: weave", kFailed},
                    Said{"Failed to reach the boiler", kRefused}, Said{"ValueError: day is out of range", kFailed},
                    Said{"shop.errors.LedgerException: closed", kFailed}, Said{"MCP error -32602: no such field", kFailed},
                    Said{"HTTP 502", kFailed}, Said{"HTTP/1.1 403 Forbidden", kFailed}, Said{"http error: 404 not found", kNotThere},
                    Said{"500 Internal Server Error", kFailed}, Said{"503: Service Unavailable", kFailed},
                    Said{"Request failed with status code 429", kFailed}, Said{"Access denied.", kFailed},
                    Said{"Permission denied: /srv/till", kFailed}, Said{"Request timed out after 30 s", kFailed},
                    Said{"Connection refused", kFailed}, Said{"Exception: pump offline", kFailed}, Said{"fatal: not a ledger", kFailed},
                    Said{"**Timed out** while waiting for the pump", kFailed}, Said{"<tool_error>no reply</tool_error>", kFailed},
                    Said{"\xE2\x9D\x8C Unable to open the gate", kRefused}, Said{"Couldn't reach the pump.\nTry later.", kRefused},
                    Said{"Rate limit exceeded, retry in 20 s", kFailed}, Said{"result: Permission denied", kFailed},
                    Said{"Se produjo un error al abrir la caja", kFailed}, Said{"No se pudo abrir la v\u00E1lvula", kRefused},
                    Said{"Acceso denegado", kFailed}, Said{"Payment failed: card expired", kAction}, Said{"Declined by the bank", kAction},
                    Said{"Booking declined by the harbour", kAction}, Said{"Buchung abgelehnt durch den Hafen", kAction},
                    Said{"Pago rechazado por el banco", kAction}, Said{R"({"status":"not_found"})", kNotThere},
                    Said{R"({"status":"nicht_gefunden"})", kNotThere}, Said{"409 - version mismatch", kAction},
                    Said{"409: the page was edited", kAction}, Said{"tides.NotNullViolation: no value", kFailed},
                    Said{"AccessDenied: not your berth", kFailed}, Said{"<soap:Fault>locked</soap:Fault>", kFailed},
                    Said{R"(<answer status="error">no</answer>)", kFailed}, Said{"smtp: 550 5.1.1 unknown user", kFailed},
                    Said{"Nothing happens.", kFailed}, Said{"Insufficient funds", kAction}, Said{"0 of 3 notices delivered", kAction},
                    Said{"The berth has just been taken by the Heron.", kAction}, Said{"Pump 3 offline", kAction},
                    Said{"Cell In[2], line 4\n  pump(\n  ^\nSyntaxError: never closed\nYou have 3 steps left.", kFailed}));

INSTANTIATE_TEST_SUITE_P(Figures, ShortText,
                         testing::Values(Said{"409 - 12", kNone}, Said{"409 berths", kNone}, Said{"Cell In[2], line 4\nAll well.", kNone},
                                         Said{"250 2.0.0 OK: queued", kNone}, Said{R"(<berths status="ok"/>)", kNone},
                                         Said{"3 of 3 notices delivered", kNone}));

INSTANTIATE_TEST_SUITE_P(NotThere, ShortText,
                         testing::Values(Said{"File not found: till.csv", kNotThere}, Said{"404 Not Found", kNotThere},
                                         Said{"Member 88213 does not exist.", kNotThere},
                                         Said{"content: The requested page was not found", kNotThere}, Said{"No such table", kNotThere},
                                         Said{"Could not find a berth of that name", kNotThere}, Said{"El socio no existe", kNotThere},
                                         Said{"No se encontr\u00F3 el pedido", kNotThere}));

INSTANTIATE_TEST_SUITE_P(
    GoodOutput, ShortText,
    testing::Values(
        Said{"Failed login attempts: 3", kNone}, Said{"Failed payments report: 2 of 31", kNone}, Said{"Timeout: 30 s", kNone},
        Said{"Timed out: 4", kNone}, Said{"Access denied events: 14", kNone}, Said{"Exception handling is chapter 9", kNone},
        Said{"Forbidden City, Beijing, open 8:30 to 17:00", kNone}, Said{"404 Oak Street", kNone}, Said{"500 pieces, boxed", kNone},
        Said{"404 Not Found is the name of the band", kNone}, Said{"HTTP 404 is answered when no page fits", kNone},
        Said{"HTTP 200 OK", kNone}, Said{"Errors were fixed in 2.1", kNone}, Said{"Fatal accidents: 12", kNone},
        Said{"Rejected offers are listed on page 2", kNone}, Said{"Connection refused errors rose by 3%", kNone},
        Said{"Could not be happier with this hotel", kNone}, Said{"Cannot be combined with other vouchers", kNone},
        Said{"Unauthorized biography, 312 pages", kNone}, Said{"The pump was restarted after a failure", kNone},
        Said{"Panic room: second floor", kNone}, Said{"ErrorProne is a checker", kNone}, Said{"TerrorError, a novel", kNone},
        Said{"All 4 sensors answered, none failed", kNone}, Said{"Permission denied\nretry\nPermission granted\n", kNone},
        Said{"A bus at 8:10, a bus at 9:10 and a late one at 23:40 which you will not easily miss; a stop in Hal was not found.", kNone}));

INSTANTIATE_TEST_SUITE_P(
    Json, ShortText,
    testing::Values(Said{R"({"status":"failed"})", kAction}, Said{R"({"status":"failed","message":"seat taken"})", kAction},
                    Said{R"({"success":"false"})", kFailed}, Said{R"({"ok":"False","id":3})", kFailed}, Said{R"({"code":404})", kFailed},
                    Said{R"({"statusCode":500,"message":"oops"})", kFailed}, Said{R"({"status":403,"title":"Forbidden"})", kFailed},
                    Said{R"({"errors":["no seat"]})", kFailed}, Said{R"({"errors":[{"message":"x"}],"data":null})", kFailed},
                    Said{R"({"message":"Internal server error"})", kFailed}, Said{R"({"detail":"Not found."})", kNotThere},
                    Said{R"({"result":"Permission denied"})", kFailed}, Said{R"({"status":"not_found"})", kNotThere},
                    // A record, an answer, or nothing at all.
                    Said{R"({"status":"failed","payment_id":"P-1"})", kNone}, Said{R"({"errors":[]})", kNone},
                    Said{R"({"code":404,"name":"drill"})", kNone}, Said{R"({"status":"failed","amount":20})", kNone},
                    Said{R"({"success":true,"errors":["one row left out"]})", kNone},
                    Said{R"({"status":"ok","message":"Failed to sync 0 rows"})", kNone},
                    Said{R"({"errors":[{"line":3}],"valid":false})", kNone}, Said{R"({"url":"x","status_code":404})", kNone},
                    Said{R"({"success":0,"failed":3})", kNone}, Said{R"({"code":200})", kNone}, Said{R"({"message":"ok"})", kNone},
                    Said{R"({"errors":)", kNone}, Said{R"([{"status":"failed"}])", kNone}));

INSTANTIATE_TEST_SUITE_P(Codes, ShortText,
                         testing::Values(Said{R"({"code":"BERTH_TAKEN"})", kAction}, Said{R"({"result":"insufficient_depth"})", kAction},
                                         Said{R"({"state":"NOK"})", kAction},
                                         Said{R"({"outcome":"not_possible","reason":"tide"})", kAction},
                                         Said{R"({"ergebnis":"liegeplatz_vergeben"})", kAction},
                                         Said{R"({"resultado":"saldo_insuficiente"})", kAction}, Said{R"({"success":"no"})", kFailed},
                                         Said{"false", kAction}, Said{"HTTP 403: scope missing", kFailed}, Said{"status code 503", kFailed},
                                         Said{"ECONNREFUSED 10.0.0.7:443", kFailed}, Said{"UPDATE 0", kAction},
                                         // Others, or with content.
                                         Said{R"({"code":"BERTH_FREE"})", kNone}, Said{R"({"result":"taken aback"})", kNone},
                                         Said{R"({"result":"error","berth":"C-4"})", kNone}, Said{R"({"state":"Ohio"})", kNone},
                                         Said{"status 503", kNone}, Said{"UPDATE 12", kNone}, Said{"falsetto", kNone}));

INSTANTIATE_TEST_SUITE_P(RefusedStates, ShortText,
                         testing::Values(Said{"Berth C-4 is already taken", kAction}, Said{"This tide slot is fully booked.", kAction},
                                         Said{"The log is being edited by Vera", kAction},
                                         Said{"Liegeplatz C-4 ist bereits vergeben", kAction},
                                         Said{"El amarre C-4 ya est\u00E1 ocupado", kAction}, Said{"Berth C-4 is taken care of", kNone},
                                         Said{"Log upload rejected: scan pending", kAction}, Said{"Payment declined", kAction},
                                         Said{"Offers rejected: 3", kNone}, Said{"Rejected offers are on page 2", kNone},
                                         Said{"Timeout of 30000ms exceeded", kFailed}, Said{"quota of 500 tides reached", kRefused},
                                         Said{"ENOSPC: no space left on device", kFailed}));

INSTANTIATE_TEST_SUITE_P(
    Machines, ShortText,
    testing::Values(Said{"Tide service unavailable", kRefused}, Said{"Tide API timed out after 20 s", kRefused},
                    Said{"The harbour database is currently down for maintenance", kRefused}, Said{"Berth lookup failed", kRefused},
                    Said{"[TOOL RAISED EXCEPTION: Tide service timeout]", kFailed},
                    Said{"Search service unavailable for: berths", kRefused},
                    Said{"El servicio de mareas no est\u00E1 disponible", kRefused}, Said{"Der Dienst antwortet nicht", kRefused},
                    Said{"Die Suche nach Ebbe ist fehlgeschlagen", kRefused}, Said{"KeyError('till')", kFailed},
                    Said{"Unsupported unit: fathom", kRefused},
                    // A report, or somebody else's.
                    Said{"Service for boats, 8:00 to 17:00, Sundays unavailable", kNone},
                    Said{"Search engines of 1999, failed and thriving", kNone}, Said{"The system: what happened when it was down", kNone},
                    Said{"Our old and much loved harbour server has failed", kNone}, Said{"API down jackets for the winter", kNone}));

INSTANTIATE_TEST_SUITE_P(
    Wrapped, ShortText,
    testing::Values(Said{R"([{"type":"text","text":"Permission denied"}])", kFailed},
                    Said{R"({"content":[{"type":"text","text":"Permission denied"}],"isError":false})", kFailed},
                    Said{"Observation: Permission denied", kFailed}, Said{"Tool 'tides' executed.\nResult: Permission denied", kFailed},
                    Said{R"({"result":{"message":"Internal server error"}})", kFailed}, Said{R"(["Permission denied"])", kFailed},
                    Said{R"({"output":"line 1\nPermission denied\nline 3"})", kNone}, Said{"Topic: Permission denied", kNone},
                    Said{"[berth B1, berth B2]", kNone}, Said{R"({"errors":{"berth":["is taken"]}})", kFailed},
                    Said{R"({"errorMessages":["berth is taken"],"errors":{}})", kFailed},
                    Said{R"({"errorMessages":[],"errors":{}})", kNone}));

TEST(ShortOutput, LongText_IsContent) {
  const std::string log = "Connection refused by db-2" + std::string(ShortSigns::kLongest, '.');
  EXPECT_EQ(sign_of(log), kNone);
}

TEST(ShortOutput, TellsOfTheTool_WhetherItIsAFailure) {
  const auto rules = make_content_rules(Settings(""));
  for (const auto* output : {"Payment failed: card expired", R"({"status":"failed"})", "Member 88213 does not exist."}) {
    EXPECT_TRUE(is_short_failure({"charge_member", "", output}, rules)) << output;
    EXPECT_FALSE(is_short_failure({"get_charge", "", output}, rules)) << output;
    EXPECT_FALSE(is_short_failure({"run_python", "", output}, rules)) << output;
  }
  EXPECT_TRUE(is_short_failure({"cut_card", "", R"({"state":"blocked"})"}, rules));
  EXPECT_FALSE(is_short_failure({"block_card", "", R"({"state":"blocked"})"}, rules)) << "that is what it is for";
  EXPECT_FALSE(is_short_failure({"set_state", R"({"to":"blocked"})", R"({"state":"blocked"})"}, rules)) << "so was this call";
  EXPECT_TRUE(is_short_failure({"get_charge", "", "Connection refused"}, rules));
  EXPECT_TRUE(is_short_failure({"charge_member", "", "Unable to reach the till"}, rules));
  EXPECT_TRUE(is_short_failure({"run_python", "", "Failed to open till.csv"}, rules));
  EXPECT_FALSE(is_short_failure({"search_books", "", "Unable to sleep: a guide for the weary"}, rules));
}

TEST(ShortOutput, ListsOfAFile_AddToTheShipped) {
  const VocabularyFile file(
      "language: da\nfailure_openings: [forbindelse afvist]\nrefusal_openings: [kunne ikke ...]\n"
      "action_failure_openings: [betaling ...]\nnot_there: [findes ikke]\n");
  EXPECT_EQ(sign_of("Forbindelse afvist", file.settings()), kFailed);
  EXPECT_EQ(sign_of("Kunne ikke læse", file.settings()), kRefused);
  EXPECT_EQ(sign_of("Betaling brast", file.settings()), kAction);
  EXPECT_EQ(sign_of("Den konto findes ikke", file.settings()), kNotThere);
  EXPECT_EQ(sign_of("Connection refused", file.settings()), kFailed);
  EXPECT_EQ(sign_of("Forbindelse afvist"), kNone);
}

TEST(ShortOutput, Rule_TurnsThemOff) {
  EXPECT_EQ(sign_of("Connection refused", R"({"rules":{"short_failures":false}})"), kNone);
  EXPECT_EQ(sign_of(R"({"code":404})", R"({"rules":{"short_failures":false}})"), kNone);
}

}  // namespace
}  // namespace runwarden::plugins
