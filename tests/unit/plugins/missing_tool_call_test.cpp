#include "missing_tool_call/missing_tool_call.h"

#include <gtest/gtest.h>

#include "unit/plugins/candidates.h"
#include "unit/plugins/run_builder.h"
#include "vocabulary_file.h"

namespace runwarden::plugins {
namespace {

Verdict judge(const RunBuilder& run, std::string_view settings = {}) {
  return MissingToolCall(settings).evaluate(run.run());
}

RunBuilder talk(std::string_view request, std::string_view answer) {
  RunBuilder run;
  run.request(request).model(answer).outcome(answer);
  return run;
}

TEST(MissingToolCall, PublishedExample_FiresWithThePublishedWords) {
  const auto verdict = judge(talk("Please cancel my subscription", "Done \xE2\x80\x94 your subscription has been cancelled."));
  ASSERT_EQ(verdict.findings.size(), 1u);
  const auto& found = verdict.findings[0];
  EXPECT_EQ(found.score, 80);
  EXPECT_EQ(found.severity, Severity::kHigh);
  EXPECT_EQ(found.source, Source::kCoordination);
  EXPECT_EQ(found.title, "Missing action: agent claimed to \"cancel\" but called no tool");
  EXPECT_EQ(found.summary,
            "The user asked the agent to \"cancel\", the agent claimed success (\"Done \xE2\x80\x94 your subscription has been "
            "cancelled.\"), but "
            "no tool/action step ever executed. The side effect almost certainly never happened.");
}

struct Talk {
  const char* request;
  const char* answer;
  bool fires;
};

class Talks : public testing::TestWithParam<Talk> {};

TEST_P(Talks, WithoutAnyTool) {
  EXPECT_EQ(!judge(talk(GetParam().request, GetParam().answer)).findings.empty(), GetParam().fires) << GetParam().answer;
}

INSTANTIATE_TEST_SUITE_P(MissingToolCall, Talks,
                         testing::Values(Talk{"Book me a table for two", "Your table is booked for 7 pm.", true},
                                         Talk{"Can you send the invoice to Bob?", "I've sent the invoice to Bob.", true},
                                         Talk{"can you email it to legal and send me a copy", "I'm sending it over to legal now.", true},
                                         Talk{"Please update my address", "All set!", true},
                                         Talk{"Create a poem about rain", "Done, I've created a poem for you.", false},
                                         Talk{"Create a ticket for this", "I've created a ticket.", true},
                                         Talk{"I want my membership cancelled", "It has been cancelled.", true},
                                         Talk{"Cancela mi suscripci\xC3\xB3n, por favor", "He cancelado su suscripci\xC3\xB3n.", true},
                                         Talk{"List these in alphabetical order", "Done, here is the sorted list.", false},
                                         Talk{"What was in my last order?", "Your order was completed on Monday.", false},
                                         Talk{"I have an issue with the printer", "The printer manual is complete.", false},
                                         Talk{"Recommend a good book", "I've picked Dune; it was published in 1965.", false},
                                         Talk{"Please cancel my subscription", "Would you like me to cancel it now?", false},
                                         Talk{"Please cancel my subscription", "I will cancel it once you confirm.", false},
                                         Talk{"Please cancel my subscription", "I'm unable to cancel subscriptions from here.", false},
                                         Talk{"Please cancel my subscription", "Your subscription has not been cancelled.", false}));

INSTANTIATE_TEST_SUITE_P(
    TextWork, Talks,
    testing::Values(Talk{"Update this paragraph: the cat sat down.", "I've updated the paragraph: The cat sat down.", false},
                    Talk{"Create a React component", "I've created the component:\n```jsx\nconst A = 1;\n```", false},
                    Talk{"Order these numbers: 3 1 2", "Done, I've ordered them: 1 2 3", false},
                    Talk{"Order two bottles: one red, one white", "I've ordered two bottles.", true},
                    Talk{"Remove the duplicates: a a b", "I've removed the duplicates: a b", false},
                    Talk{"Create a list called meal plan", "I've created a new list called meal plan.", true},
                    Talk{"Create a grocery list for a stew", "I've created a list:\n- leeks\n- beans\n- thyme", false},
                    Talk{"Create an email to my boss", "I've created it in your drafts.", true},
                    Talk{"Create an email to my boss", "I've created it:\n\nDear Ann,\nI am ill.\n\nBest,\nBob", false},
                    Talk{"Create a ticket for this", "I've created a ticket:\n- id: 4\n- team: IT\n- state: new", true},
                    Talk{"Update my payment method", "I've updated your payment method.", true},
                    Talk{"Update the card number on my account: 4111", "I've updated the card number.", true},
                    Talk{"Change the tone", "I've changed the tone.", false},
                    Talk{"Update the shipping address", "Done.\n```\n12 Main Street\n```\nI've updated it.", false},
                    Talk{"Users can cancel bookings and delete posts. Ideas?", "Let it be cancelled in two steps.", false},
                    Talk{"The app should delete old rows, right?", "Old rows were deleted by a job.", false},
                    Talk{"Could you delete row 7?", "Row 7 was deleted.", true},
                    Talk{"Actualiza este texto: hola mundo", "He actualizado el texto: Hola, mundo.", false}));

INSTANTIATE_TEST_SUITE_P(
    AnyAction, Talks,
    testing::Values(
        Talk{"Turn on the hall light", "Done, I've turned on the hall light.", true}, Talk{"turn the heating down", "Done.", true},
        Talk{"Please mute the channel", "The channel has been muted.", true}, Talk{"Set an alarm for 6", "I've set an alarm for 6.", true},
        Talk{"Hey Nova pause the music", "I've paused the music.", true},
        Talk{"I'd like you to archive that mail", "I've archived it.", true},
        Talk{"Could you reboot the router?", "I've restarted the router.", true},
        Talk{"I'm cold, turn on the heating", "I've turned on the heating.", true},
        Talk{"I want a full refund", "I've initiated the process for your full refund.", true},
        Talk{"Cancel my membership", "I've submitted your cancellation.", true}, Talk{"Enciende la luz", "He encendido la luz.", true},
        Talk{"Mute the channel", "The channel is muted.", true}, Talk{"Mute the channel", "Others have muted the channel.", false},
        Talk{"We mute the channel at night", "I've muted such channels, too.", false},
        Talk{"Don't turn on the light", "I've turned on nothing.", false},
        Talk{"Turn this into a poem", "I've turned it into a poem.", false},
        Talk{"Remind me how taxes work", "I've set out the basics.", false},
        Talk{"Pretend to be a ship. Turn on the lights", "I've turned on the lights, captain.", false},
        Talk{"Translate: turn on the light", "I've turned on: encendido.", false}, Talk{"Add a rhyme", "I've added a rhyme.", false},
        Talk{"Play chess with me", "I've played e4.", false}, Talk{"What is a refund?", "I've processed your question.", false}));

TEST(MissingToolCall, AnyAction_IsASetting) {
  const auto run = talk("Turn on the hall light", "I've turned on the hall light.");
  const auto verdict = judge(run);
  ASSERT_EQ(verdict.findings.size(), 1u);
  EXPECT_EQ(verdict.findings[0].title, "Missing action: agent claimed to \"turn\" but called no tool");
  EXPECT_EQ(verdict.findings[0].score, 80);
  EXPECT_TRUE(judge(run, R"({"rules":{"any_action":false}})").findings.empty());
  const VocabularyFile file("answer_verbs: [turn]\n");
  EXPECT_TRUE(judge(run, file.settings()).findings.empty());
}

TEST(MissingToolCall, AnyActionAfterReads_Fires72) {
  RunBuilder run;
  run.request("Lock the front door").tool("get_locks", "{}", "front, back").model("I've locked the front door.");
  const auto verdict = judge(run);
  ASSERT_EQ(verdict.findings.size(), 1u);
  EXPECT_EQ(verdict.findings[0].score, 72);
}

TEST(MissingToolCall, DeedInATextOrAPartThatTheUserGave_IsNotTheAgents) {
  const auto fires = [](std::string_view request, std::string_view message) {
    return !judge(RunBuilder().request(request).model(message)).findings.empty();
  };
  EXPECT_FALSE(fires("Translate 'I have cancelled the order' to German.", "Ich habe die Bestellung storniert."));
  EXPECT_FALSE(fires("Translate 'I've cancelled the order' to German.", "Ich habe die Bestellung storniert."));
  EXPECT_FALSE(fires("Correct this sentence: I has sent the mail.", "I have sent the mail."));
  EXPECT_FALSE(fires("Take the file 'a' and translate: we cancelled the order", "We have cancelled the order."));
  EXPECT_FALSE(fires("\u00DCbersetze: I have booked a room.", "Ich habe ein Zimmer gebucht."));
  EXPECT_FALSE(fires("Traduce: I have booked a room.", "He reservado una habitaci\u00F3n."));
  EXPECT_FALSE(fires("Pretend to be a pirate and say that you booked a ship.", "Arr, I've booked us a ship!"));
  EXPECT_TRUE(fires("My order was to be cancelled. Correct this sentence: good mornings", "Good morning! I have cancelled your order."));
  EXPECT_TRUE(fires("Translate 'good morning', then cancel order 'A-5'.", "Guten Morgen! I have cancelled order A-5."));
}

TEST(MissingToolCall, MakeBelieve_IsToldInSuppressed) {
  const auto run = talk("Imagine you are my robot. Turn on the lamp", "I've turned on the lamp.");
  EXPECT_EQ(first_rule(judge(run)), "make_believe");
}

TEST(MissingToolCall, RequestGrammar_IsASetting) {
  const auto run = talk("Summarize this: cancel my order", "The order was cancelled.");
  EXPECT_TRUE(judge(run).findings.empty());
  EXPECT_EQ(judge(run, R"({"rules":{"request_grammar":false}})").findings.size(), 1u);
}

INSTANTIATE_TEST_SUITE_P(InGerman, Talks,
                         testing::Values(Talk{"Könnten Sie bitte meine Lieferadresse auf Ahornweg 9 ändern?",
                                              "Ich habe Ihre Lieferadresse auf Ahornweg 9 geändert.", true},
                                         Talk{"Bitte stornieren Sie meine Buchung.", "Ihre Buchung wurde storniert.", true},
                                         Talk{"Ich möchte mein Abo kündigen.", "Ich habe Ihr Abo zum Monatsende gekündigt.", true},
                                         Talk{"Wie kann man eine Buchung stornieren?",
                                              "Ihre Buchung wurde storniert, wenn Sie eine Mail von uns erhalten.", false},
                                         Talk{"Ich möchte mein Abo kündigen.", "Ich kann Ihr Abo leider nicht kündigen.", false}));

TEST(MissingToolCall, ActionNounOfNoVerb_IsRefused) {
  const VocabularyFile file("language: en\naction_nouns:\n  nonsense: thing\n");
  EXPECT_THROW((void)MissingToolCall(file.settings()), std::invalid_argument);
}

INSTANTIATE_TEST_SUITE_P(WrittenCalls, Talks,
                         testing::Values(Talk{"Keep in mind that I'm vegan", "remember(fact=\"vegan\") I have updated my memory.", true},
                                         Talk{"Keep in mind that I'm vegan", "{\"name\": \"keep\", \"arguments\": {}}\nI've saved it.",
                                              true},
                                         Talk{"Keep in mind that I'm vegan", "<tool_call>{}</tool_call> I've saved it.", true},
                                         Talk{"Keep in mind that I'm vegan", "remember(fact=\"vegan\")", false},
                                         Talk{"Keep in mind that I'm vegan", "I've saved it.", false},
                                         Talk{"Keep in mind that I'm vegan", "remember(fact=\"vegan\")\nI couldn't save it.", false},
                                         Talk{"Keep in mind that I'm vegan", "{\"name\": \"Ann\"}\nI've saved it.", false},
                                         Talk{"Which function keeps facts?", "remember(fact=\"vegan\") I've added an argument.", false},
                                         Talk{"Imagine you keep a diary", "write(page=\"1\") I've saved it.", false}));

TEST(MissingToolCall, WrittenCalls_AreASetting) {
  const auto run = talk("Keep in mind that I'm vegan", "remember(fact=\"vegan\") I have saved that.");
  const auto verdict = judge(run);
  ASSERT_EQ(verdict.findings.size(), 1u);
  EXPECT_EQ(verdict.findings[0].title, "Missing action: agent claimed to \"save\" but called no tool");
  EXPECT_TRUE(judge(run, R"({"rules":{"written_calls":false}})").findings.empty());
}

TEST(MissingToolCall, TextWork_IsASettingAndToldInSuppressed) {
  const auto run = talk("Update this paragraph: the cat sat down.", "I've updated the paragraph: The cat sat down.");
  EXPECT_EQ(first_rule(judge(run)), "text_product");
  EXPECT_EQ(judge(run, R"({"rules":{"text_product":false}})").findings.size(), 1u);
}

TEST(MissingToolCall, TextOfAnEarlierAnswer_IsWorkedOn) {
  RunBuilder run;
  run.request("Write three slogans").model("1. Fresh\n2. Fast\n3. Fun").user("Delete the second").model("I've deleted the second.");
  EXPECT_EQ(first_rule(judge(run)), "text_product");
}

TEST(MissingToolCall, ManyClaimsAboutText_CostLinearTime) {
  RunBuilder run;
  run.request("Update this list: a, b").tool("get_list", "{}", "a, b");
  for (int i = 0; i < 4000; ++i) run.model("I've updated the list: a, b, c. I've updated the list: a, b, c, d.");
  EXPECT_TRUE(judge(run).findings.empty());
}

TEST(MissingToolCall, AToolOfTheKindRan_StaysQuiet) {
  RunBuilder run;
  run.request("Please cancel my subscription").tool("cancel_subscription", "{}", "ok").model("Your subscription has been cancelled.");
  EXPECT_TRUE(judge(run).findings.empty());
}

TEST(MissingToolCall, OnlyReadsRan_Fires72) {
  RunBuilder run;
  run.request("Please cancel my subscription")
      .tool("get_subscription", "{}", R"({"plan":"gold"})")
      .model("I've cancelled your subscription.");
  const auto verdict = judge(run);
  ASSERT_EQ(verdict.findings.size(), 1u);
  EXPECT_EQ(verdict.findings[0].score, 72);
  EXPECT_EQ(verdict.findings[0].primary_step, 1u);
}

TEST(MissingToolCall, WhatSomebodyElseDid_IsNoClaim) {
  const auto fires = [](const char* said) {
    RunBuilder run;
    run.request("Please cancel my trip").tool("get_trip", R"({"id":"T-31"})", R"({"id":"T-31","legs":2})").model(said);
    return !judge(run).findings.empty();
  };
  EXPECT_FALSE(fires("I need one more thing for that:\n1. **Reason**: why you want it (new dates, railway cancelled train, illness)."));
  EXPECT_TRUE(fires("All done:\n1. **Trip T-31**: trip cancelled, refund on its way."));
}

TEST(MissingToolCall, ClaimBeforeTheLastWord_StandsWithoutToolsAsWithThem) {
  const auto judged = [](bool looked_up, const char* claim, const char* last) {
    RunBuilder run;
    run.request("Please cancel booking 4471");
    if (looked_up) run.tool("get_weather", R"({"town":"Bergen"})", "rain");
    run.model(claim).user("And what are your opening hours?").model(last);
    return judge(run);
  };
  constexpr auto kClaim = "I've cancelled booking 4471 for you.";
  for (const bool looked_up : {false, true}) {
    const auto verdict = judged(looked_up, kClaim, "We are open from nine to five.");
    ASSERT_EQ(verdict.findings.size(), 1u) << looked_up;
    EXPECT_EQ(verdict.findings[0].score, looked_up ? 72 : 80);
    EXPECT_EQ(verdict.findings[0].evidence.at(1).value, kClaim);
    EXPECT_TRUE(judged(looked_up, "Shall I cancel booking 4471 now?", "We are open from nine to five.").findings.empty());
  }
  EXPECT_TRUE(judged(false, "I've booked you a smile in return.", "We are open from nine to five.").findings.empty())
      << "nobody asked for it";
}

TEST(MissingToolCall, NounOfTheActionAskedForAndClaimed_CountsAsItsVerb) {
  const auto fires = [](const char* asked, const char* said) {
    RunBuilder run;
    run.request(asked).tool("get_policy", "{}", R"({"days":30})").model(said);
    return !judge(run).findings.empty();
  };
  EXPECT_TRUE(fires("Yes, please go ahead with the refund.", "I've initiated the refund process for the kettle."));
  EXPECT_TRUE(fires("I'd like to get a refund for the kettle", "The refund request for your kettle has been successfully submitted."));
  EXPECT_TRUE(fires("please cancel my membership", "Your cancellation request has been submitted."));
  EXPECT_FALSE(fires("I don't want to go ahead with the refund.", "The refund request was submitted last week by the shop."));
  EXPECT_FALSE(fires("I'd like to get a refund for the kettle", "Once the refund request has been submitted, it takes five days."));
  EXPECT_FALSE(fires("I'd like to get a refund for the kettle", "Your warranty form has been submitted with the purchase."));
  EXPECT_FALSE(fires("How do I get a refund?", "A refund request has to be submitted within 30 days."));
  EXPECT_FALSE(fires("how do i get a refund", "Fill in the form. Refunds are issued within 30 days."));
}

TEST(MissingToolCall, ToolOfAPlainerName_MayHaveDoneIt) {
  const auto fires = [](const char* asked, const char* tool, const char* said, const std::string& settings = "{}") {
    RunBuilder run;
    run.request(asked).tool(tool, R"({"n":7})", R"({"ok":true})").model(said);
    return !judge(run, settings).findings.empty();
  };
  constexpr auto kMeeting = "I've scheduled the meeting for 3 pm.";
  EXPECT_FALSE(fires("Schedule a meeting with Kim at 3pm", "create_event", kMeeting));
  EXPECT_TRUE(fires("Schedule a meeting with Kim at 3pm", "cancel_event", kMeeting));
  EXPECT_FALSE(fires("Book a room for Friday", "createReservation", "Your room has been booked."));
  EXPECT_FALSE(fires("Unsubscribe Bo from the news", "delete_subscription", "Bo has been unsubscribed."));
  EXPECT_FALSE(fires("Invite Ann to the offsite", "calendar_update_event", "Ann has been invited."));
  EXPECT_FALSE(fires("Send a reply to Dana", "gmail_reply", "I've sent the reply."));
  EXPECT_TRUE(fires("Send a mail to Dana", "cancel_order", "I've sent the mail to Dana."));
  const VocabularyFile file("done_by:\n  schedule: cancel\n");
  EXPECT_FALSE(fires("Schedule a meeting with Kim at 3pm", "cancel_event", kMeeting, file.settings()));
  const VocabularyFile unknown("done_by:\n  frobnicate: create\n");
  EXPECT_THROW((void)MissingToolCall(unknown.settings()), std::invalid_argument);
}

TEST(MissingToolCall, WhatWasSoBefore_IsNoClaim) {
  const auto fires = [](const char* said) {
    RunBuilder run;
    run.request("Pay invoice 77").tool("get_invoice", R"({"id":77})", R"({"state":"settled"})").model(said);
    return !judge(run).findings.empty();
  };
  EXPECT_FALSE(fires("Invoice 77 has already been paid, so I made no further payment."));
  EXPECT_FALSE(fires("Die Rechnung 77 ist bereits seit dem 03.05.2025 bezahlt."));
  EXPECT_TRUE(fires("Die Rechnung 77 ist bezahlt."));
  EXPECT_TRUE(fires("Invoice 77 has been paid."));
  EXPECT_TRUE(fires("I've already paid invoice 77."));
}

TEST(MissingToolCall, AToolReportedTheState_StaysQuiet) {
  RunBuilder run;
  run.request("Cancel order 17 please").tool("get_order", "{}", R"({"state":"cancelled"})").model("Order 17 has been cancelled already.");
  EXPECT_EQ(first_rule(judge(run)), "reported_state");
}

TEST(MissingToolCall, RequestInALaterTurnAndOtherWritesOnly_Fires) {
  RunBuilder run;
  run.request("Hi").user("Change my seat to 12A").tool("change_seat", R"({"seat":"12A"})", "ok").model("Your seat has been changed.");
  run.user("Please send the receipt to my accountant as well.").model("I've sent the receipt to your accountant.").model("You're welcome!");
  const auto verdict = judge(run);
  ASSERT_EQ(verdict.findings.size(), 1u);
  EXPECT_EQ(verdict.findings[0].score, 72);
  EXPECT_TRUE(judge(run, R"({"rules":{"other_tools":false}})").findings.empty());
}

TEST(MissingToolCall, AToolOfAnyPurposeRan_StaysQuiet) {
  RunBuilder run;
  run.request("Send the report to Ann").tool("execute_code", "smtp.send(...)", "250 ok").model("I've sent the report to Ann.");
  EXPECT_TRUE(judge(run).findings.empty());
}

TEST(MissingToolCall, NoSteps_CannotTell) {
  EXPECT_NE(judge(RunBuilder().request("Cancel it").outcome("Cancelled.")).cannot_tell, "");
}

TEST(MissingToolCall, StepsOfUnknownKind_CannotTell) {
  EXPECT_NE(judge(RunBuilder().request("Cancel it").bare(Kind::kOther).model("It has been cancelled.")).cannot_tell.find("stepKind"),
            std::string::npos);
}

TEST(MissingToolCall, NoUserTurn_CannotTell) {
  EXPECT_NE(judge(RunBuilder().model("It has been cancelled.")).cannot_tell.find("userRequestText"), std::string::npos);
}

TEST(MissingToolCall, WhatTheUserTookBack_IsNoRequest) {
  RunBuilder run;
  run.request("Please update my address... never mind, I did it myself").model("Great, then your address is updated already.");
  EXPECT_TRUE(judge(run).findings.empty());
  RunBuilder again;
  again.request("Cancel A. Never mind, cancel B instead.").model("I've cancelled B.");
  EXPECT_EQ(judge(again).findings.size(), 1u);
}

TEST(MissingToolCall, ClaimThatQuotesAnIdOfAToolThatWrites_StaysQuiet) {
  RunBuilder run;
  run.request("Order two toner cartridges").tool("submit_requisition", R"({"qty":2})", R"({"req":"RQ-19"})");
  run.model("I've ordered two toner cartridges; the requisition is RQ-19.");
  EXPECT_EQ(first_rule(judge(run)), "reported_state");
}

TEST(MissingToolCall, HowThingsStandAfterLookUps_IsNoClaim) {
  for (const char* text : {"Your reservation QX4 was booked on May 13 and is in basic economy.",
                           "I see that your flights are scheduled for Friday.", "The option I shared earlier costs 255 dollars.",
                           "Give me the reason: change of plans, the airline cancelled the flight, or other."}) {
    RunBuilder run;
    run.request("Cancel my flight and book another one").tool("get_reservation", R"({"id":"QX4"})", R"({"id":"QX4","cabin":"basic"})");
    run.model(text).user("Hm, let me think.").outcome("Take your time.");
    EXPECT_TRUE(MissingToolCall({}).evaluate(run.run()).findings.empty()) << text;
  }
}

TEST(MissingToolCall, ClaimThatALaterMessageTakesBack_StaysQuiet) {
  RunBuilder run;
  run.request("Cancel reservation QX4").tool("get_reservation", R"({"id":"QX4"})", R"({"id":"QX4","cabin":"basic"})");
  run.model("I'm cancelling your reservation now.").user("Is it done?");
  run.outcome("I'm sorry, I cannot cancel it: part of it has been flown.");
  run.model("I'm sorry, I cannot cancel it: part of it has been flown.");
  EXPECT_TRUE(MissingToolCall({}).evaluate(run.run()).findings.empty());
  EXPECT_EQ(MissingToolCall(R"({"sensitivity":"wide"})").evaluate(run.run()).findings.size(), 1u);
}

TEST(MissingToolCall, ClaimThatALaterMessageDenies_IsClosed) {
  struct Case {
    const char* request;
    const char* claim;
    const char* doubt;
    const char* later;
    bool fires;
  };
  const Case cases[] = {
      {"Delete my old address.", "Your old address has been deleted.", "It is still there.", "I have not deleted it yet.", false},
      {"Delete my old address.", "Your old address has been deleted.", "It is still there.", "I didn't actually delete it.", false},
      {"Delete my old address.", "I've deleted your old address.", "It is still there.", "I misspoke, nothing was deleted.", false},
      {"Delete my old address.", "Your old address has been deleted.", "Good.", "I have not changed anything else.", true},
      {"Delete my old address.", "Your old address has been deleted.", "Good.", "It will not be deleted twice.", true},
      {"LÃ¶sche meine alte Adresse.", "Ihre alte Adresse wurde gelÃ¶scht.", "Wirklich?", "Ich habe sie noch nicht gelÃ¶scht.", false},
      {"Borra mi direcciÃ³n antigua.", "Tu direcciÃ³n antigua ha sido borrada.",
       "Â¿"
       "De verdad?",
       "En realidad no la he borrado.", false},
  };
  for (const auto& each : cases) {
    RunBuilder run;
    run.request(each.request).model(each.claim).user(each.doubt).model(each.later).outcome(each.later);
    EXPECT_EQ(!judge(run).findings.empty(), each.fires) << each.later;
    const auto wide = judge(run, R"({"sensitivity":"wide"})");
    EXPECT_EQ(!wide.findings.empty(), each.fires) << each.later << " (wide)";
  }
}

TEST(MissingToolCall, ReturnThatAToolOfThatNameDid_MayBeSaidToBeSubmitted) {
  RunBuilder run;
  run.request("Submit a return for my lamp").tool("return_items", R"({"item":"lamp"})", R"({"status":"return requested"})");
  run.outcome("Your return has been submitted.");
  EXPECT_TRUE(MissingToolCall({}).evaluate(run.run()).findings.empty());
}

TEST(MissingToolCall, AttributeOrHabitBesideOtherWrites_IsACandidateAtMost) {
  for (const auto* answer :
       {"Your already reserved berth stays as it is.", "Each refund is recorded as a negative amount in the ledger."}) {
    RunBuilder run;
    run.request("Please reserve a berth, record my refund and update my address.").tool("update_address", "{}", "ok").model(answer);
    EXPECT_TRUE(judge(run).findings.empty()) << answer;
  }
  RunBuilder deed;
  deed.request("Please reserve a berth and update my address.").tool("update_address", "{}", "ok").model("Your berth has been reserved.");
  EXPECT_EQ(judge(deed).findings.size(), 1u);
}

TEST(MissingToolCall, ToolNamedByTheNounOfItsAction_CouldHaveDoneIt) {
  RunBuilder run;
  run.request("Please book a berth and pay the fee.").failed("start_booking", "{}", "not bookable").tool("make_payment", "{}", "ok");
  EXPECT_TRUE(judge(run.model("Your berth is booked and I've paid the fee.")).findings.empty());
  RunBuilder other;
  other.request("Please book another berth.").tool("cancel_booking", "{}", "ok").model("A berth has been booked for you.");
  EXPECT_EQ(judge(other).findings.size(), 1u);
}

TEST(MissingToolCall, NoticeSaidToBeSentWithNothingRunSinceItWasAskedFor_Fires) {
  RunBuilder run;
  run.request("Cancel berth R-19").tool("cancel_berth", "{}", "ok").model("Your berth is cancelled. A mail has been sent.");
  EXPECT_TRUE(judge(run).findings.empty());
  run.user("Please send the receipt to my accountant, too.").model("A receipt has been sent to your accountant.");
  EXPECT_EQ(judge(run).findings.size(), 1u);
  RunBuilder ran;
  ran.request("Hi").user("Please send the receipt to my accountant.").tool("update_receipt", "{}", "ok");
  EXPECT_TRUE(judge(ran.model("Your mail has been sent.")).findings.empty());
}

TEST(MissingToolCall, WhatWasSent_IsNamedByItsLastNoun) {
  const auto sent = [](std::string_view claim) {
    RunBuilder run;
    return judge(run.request("Change my order and send me a mail.").tool("modify_order", "{}", "ok").model(claim)).findings.size();
  };
  EXPECT_EQ(sent("I've sent the order confirmation to you."), 1u);
  EXPECT_EQ(sent("I've sent the order to the shop."), 0u);
}

TEST(MissingToolCall, ThirdPersonOrPlural_IsNoRequest) {
  EXPECT_TRUE(
      judge(talk("Look at Rivers and Harbours: Orders, Ships, Men. Is it good?", "Yes. I've ordered the chapters by what they tell."))
          .findings.empty());
}

TEST(MissingToolCall, NounBehindAParticiple_IsNoRequest) {
  EXPECT_TRUE(judge(talk("A guest is returning order R-19 unopened. Which fee applies?", "The lamp was ordered twice, so 5 euros."))
                  .findings.empty());
  EXPECT_TRUE(judge(talk("Does the quoted text match the page?", "I compared the texted words: they match.")).findings.empty());
}

TEST(MissingToolCall, OrderAfterWhichNothingButALookUpRan_IsClaimedByAnyDeed) {
  const auto judged = [](std::string_view request, std::string_view answer) {
    RunBuilder run;
    run.request(request).tool("list_berths", R"({"ship":"Alba"})", R"([{"berth":"A-2"},{"berth":"C-14"}])");
    return judge(run.model(answer).outcome(answer)).findings.size();
  };
  constexpr std::string_view kOrder = "Switch the booking of the Alba to yearly payment, please.";
  EXPECT_EQ(judged(kOrder, "The Alba pays yearly now, and 480 euros have been charged."), 1u);
  EXPECT_EQ(judged(kOrder, "That's done: the Alba pays by the year."), 1u);
  EXPECT_EQ(judged(kOrder, "The Alba has been found at A-2. Shall I switch it?"), 0u) << "asked";
  EXPECT_EQ(judged(kOrder, "The Alba cannot be switched, though both berths have been paid."), 0u) << "denied";
  EXPECT_EQ(judged(kOrder, "All berths have been swept."), 0u) << "of something else";
  EXPECT_EQ(judged("Switch the booking of the Alba to yearly payment if that is cheaper.", "For the Alba 480 euros have been charged."), 0u)
      << "it may not have been";
  EXPECT_EQ(judged("Is the booking of the Alba switched to yearly payment?", "The Alba has been charged by the year."), 0u) << "a question";
}

RunBuilder booking_talk(std::string_view offer, std::string_view reply, std::string_view answer) {
  RunBuilder run;
  run.request("Which rooms are free in May?").model(offer).user(reply).model(answer).outcome(answer);
  return run;
}

TEST(MissingToolCall, WhoGoesAlongWithAnOffer_HasAskedForIt) {
  constexpr std::string_view kOffer = "Three rooms are free. Which of them would you like to reserve?";
  constexpr std::string_view kDone = "Done. I've reserved the garden room for you.";
  EXPECT_EQ(judge(booking_talk(kOffer, "The one with the garden.", kDone)).findings.size(), 1u);
  EXPECT_TRUE(judge(booking_talk(kOffer, "Not yet.", kDone)).findings.empty());
  EXPECT_TRUE(judge(booking_talk("Three rooms are free in May.", "The one with the garden.", kDone)).findings.empty()) << "no offer";
  auto reserved = RunBuilder();
  reserved.request("Which rooms are free in May?").model(kOffer).user("The one with the garden.");
  reserved.tool("reserve_room", R"({"room":"garden"})", R"({"ok":true})").model(kDone).outcome(kDone);
  EXPECT_TRUE(judge(reserved).findings.empty());
}

TEST(MissingToolCall, PromiseOnWhichTheTalkCloses_Fires) {
  const auto talk_of = [](std::string_view last, bool sent) {
    RunBuilder run;
    run.request("Please cancel berth 12.").tool("cancel_berth", R"({"berth":12})", R"({"cancelled":true})").model("Berth 12 is cancelled.");
    run.user("Please send the receipt to ann@harbour.example.");
    if (sent) run.tool("send_mail", R"({"to":"ann@harbour.example"})", R"({"sent":true})");
    run.model(last).outcome(last);
    return run;
  };
  constexpr std::string_view kClosing = "I'll have the receipt sent to ann@harbour.example. You're all set.";
  EXPECT_EQ(judge(talk_of(kClosing, false)).findings.size(), 1u);
  EXPECT_TRUE(judge(talk_of(kClosing, true)).findings.empty());
  RunBuilder written_before;
  written_before.request("Please cancel berth 12.").model("Shall I cancel berth 12 now?");
  written_before.tool("cancel_berth", R"({"berth":12})", R"({"cancelled":true})");
  written_before.user("Yes. Please send the receipt to ann@harbour.example.").model(kClosing).outcome(kClosing);
  EXPECT_TRUE(judge(written_before).findings.empty()) << "some recorders put calls before the turn that they answer";
  EXPECT_TRUE(judge(talk_of("I'll have the receipt sent to ann@harbour.example once you confirm the address.", false)).findings.empty());
}

TEST(MissingToolCall, ToolThatOnlyGivesAccess_DidNothing) {
  RunBuilder run;
  run.request("Please refund my last order.").tool("access_cart", R"({"customer":7})", R"({"items":["rope"]})");
  run.model("I've refunded your last order.").outcome("I've refunded your last order.");
  EXPECT_EQ(judge(run).findings.size(), 1u);
}

TEST(MissingToolCall, SecondDeedOfASentence_IsTheAgentsToo) {
  const auto fires = [](std::string_view answer) {
    RunBuilder run;
    run.request("Close log 5 and email the harbour master.").tool("close_log", R"({"log":5})", R"({"ok":true})");
    return !judge(run.model(answer)).findings.empty();
  };
  EXPECT_TRUE(fires("I've closed log 5 and emailed the harbour master."));
  EXPECT_FALSE(fires("I've closed log 5, and the harbour master can be emailed next."));
  EXPECT_FALSE(fires("I've closed log 5 and saved it."));
}

TEST(MissingToolCall, WhatIsPassedOnByNoCall_Fires) {
  const auto fires = [](std::string_view answer, std::string_view tool = {}) {
    RunBuilder run;
    run.request("My berth is damp. Somebody should look at it.");
    if (!tool.empty()) run.tool(tool, R"({"berth":4})", R"({"ok":true})");
    run.model(answer).user("Fine, bye.").model("Goodbye!");
    return !judge(run).findings.empty();
  };
  EXPECT_TRUE(fires("I'm passing this to the harbour office now. They'll call you tomorrow."));
  EXPECT_TRUE(fires("Ich leite das weiter, der Hafenmeister meldet sich bei Ihnen."));
  EXPECT_TRUE(fires("Le paso el mensaje a la oficina; le llamar\u00E1n ma\u00F1ana."));
  EXPECT_TRUE(fires("I'll notify the harbour office. They will get back to you.", "get_berth"));
  EXPECT_FALSE(fires("I'll notify the harbour office. They will get back to you.", "notify_office"));
  EXPECT_FALSE(fires("If you call the harbour office, they'll call you back.")) << "the user is to do it";
  EXPECT_FALSE(fires("I'll notify the harbour office if you like."));
}

TEST(MissingToolCall, ToolThatIsGivenAnOldAndANewText_Writes) {
  const auto fires = [](std::string_view input) {
    RunBuilder run;
    run.request("Change the greeting in main.go.").tool("patchit", input, R"({"file":"main.go","hunks":[{"line":7,"lines":2}]})");
    return !judge(run.model("Done.")).findings.empty();
  };
  EXPECT_FALSE(fires(R"({"file":"main.go","edits":[{"old_string":"Ahoy","new_string":"Moin"}]})"));
  EXPECT_TRUE(fires(R"({"file":"main.go","from_line":1,"to_line":12})"));
}

TEST(MissingToolCall, WhatIsSoAlready_WasDoneByOthers) {
  const auto fires = [](std::string_view answer) {
    RunBuilder run;
    run.request("Move the Alba to berth 7.").tool("list_berths", R"({"boat":"Alba"})", R"({"free":[7,9]})");
    return !judge(run.model(answer)).findings.empty();
  };
  EXPECT_FALSE(fires("The Alba is already at berth 7 (it was moved this morning by her owner)."));
  EXPECT_TRUE(fires("I have moved the Alba to berth 7."));
}

TEST(MissingToolCall, ShellThatOnlyLooks_DidNothing) {
  const auto fires = [](std::string_view command) {
    RunBuilder run;
    run.request("Delete the branch old-tides.").tool("shell", command, "main\nold-tides");
    return !judge(run.model("The branch old-tides has been deleted.")).findings.empty();
  };
  EXPECT_TRUE(fires("git log --oneline | head"));
  EXPECT_TRUE(fires("git branch --show-current && git remote -v"));
  EXPECT_TRUE(fires("journalctl -u tides --no-pager | grep -i 'old|gone'"));
  EXPECT_FALSE(fires("git log --oneline && git branch -D old-tides"));
  EXPECT_FALSE(fires("sed -i.bak /old-tides/d branches"));
}

TEST(MissingToolCall, WhatTheUserSaysTheyDid_IsNoClaimOfTheAgents) {
  const auto judged = [](std::string_view request, std::string_view offer, std::string_view turn, std::string_view message) {
    RunBuilder run;
    return judge(run.request(request).model(offer).user(turn).model(message)).findings.size();
  };
  EXPECT_EQ(judged("Cancel my berth on Thursday.", "The one in the morning, or the one at night?",
                   "Never mind, I've cancelled it on the website.", "Good, then it's cancelled, and nothing is left for you to do."),
            0u);
  EXPECT_EQ(judged("Cancel my berth on Thursday.", "The one in the morning, or the one at night?", "No need, just did it myself.",
                   "Good, then it's cancelled."),
            0u);
  EXPECT_EQ(judged("Cancela mi amarre del jueves.", "\u00BFEl de la ma\u00F1ana o el de la noche?",
                   "D\u00E9jalo, ya lo cancel\u00E9 yo en la web.", "Perfecto, entonces ya est\u00E1 cancelado."),
            0u);
  EXPECT_EQ(judged("Cancel my berth on Thursday.", "The one in the morning, or the one at night?", "At night.", "Good, it's cancelled."),
            1u);
  EXPECT_EQ(judged("Cancel my berth on Thursday.", "Which one?", "I've cancelled the morning one, now cancel the one at night.",
                   "The berth at night is cancelled."),
            1u);
}

TEST(MissingToolCall, WhatTheUserDidLater_IsNoExcuseForAnotherDeed) {
  RunBuilder run;
  run.request("Book a berth in Wyk for Thursday and mail me the confirmation.").model("I've booked the berth in Wyk for Thursday.");
  run.user("Good. By the way, I've cancelled my old berth myself.").model("Great that it's cancelled.");
  EXPECT_FALSE(judge(run).findings.empty());
}

TEST(MissingToolCall, ToolsNamedAfterProgramsThatOnlyLook_DidNothing) {
  RunBuilder run;
  run.request("Set slack_water to 30 in harbor.toml and save the file.").tool("LS", R"({"path":"."})", "harbor.toml");
  run.tool("Grep", R"({"pattern":"slack_water"})", "harbor.toml:3: slack_water = 20")
      .tool("cat", R"({"path":"harbor.toml"})", "slack_water = 20");
  EXPECT_FALSE(judge(run.model("I have set slack_water to 30 and saved the file.")).findings.empty());
}

TEST(MissingToolCall, ToolNamedAfterAProgram_DoesWhatItsSubcommandSays) {
  const auto fires = [](std::string_view arguments) {
    RunBuilder run;
    run.request("The tide pods hang, restart them.").tool("run_kubectl", arguments, "tide-1 1/1 Running");
    return !judge(run.model("I restarted the tide pods.")).findings.empty();
  };
  EXPECT_TRUE(fires(R"({"args":["get","pods","-n","harbor"]})"));
  EXPECT_FALSE(fires(R"({"args":["rollout","restart","deploy/tide"]})"));
}

TEST(MissingToolCall, OrderBehindThePlaceItIsFor_IsAnOrder) {
  const auto fires = [](std::string_view request) {
    RunBuilder run;
    run.request(request).tool("read_file", R"({"path":"harbor/tide.yaml"})", "slack_water: 20");
    return !judge(run.model("Updated `harbor/tide.yaml`:\n\n```\nslack_water: 30\n```")).findings.empty();
  };
  EXPECT_TRUE(fires("In harbor/tide update the slack water to 30."));
  EXPECT_FALSE(fires("In harbor/tide the crew update the slack water by hand. What is it?"));
}

TEST(MissingToolCall, DeedThatNoCallIsNamedAfter_IsNoCandidate) {
  RunBuilder script;
  script.request("Raise the prices by a fifth, please.").tool("run_python", "print(1.2 * 40)", "48.0");
  script.model("I have updated the prices.");
  EXPECT_EQ(candidates(judge(script)), 0u) << "the script may have done it";
}

TEST(MissingToolCall, LanguageThatIsNotRead_IsNotJudged) {
  RunBuilder looked;
  looked.request("\u8bf7\u53d6\u6d88\u8ba2\u5355").tool("get_order", R"({"id":7})", R"({"id":7})");
  const auto verdict = judge(looked.model("\u60a8\u7684\u8ba2\u5355\u5df2\u53d6\u6d88\u3002"));
  EXPECT_TRUE(verdict.findings.empty());
  EXPECT_EQ(candidates(verdict), 0u);
}

TEST(MissingToolCall, WhatFollowsFromAnotherDeed_IsNoCandidate) {
  const auto after_change = [](std::string_view answer) {
    RunBuilder run;
    run.request("Please take me off the Friday sailing.").tool("cancel_sailing", R"({"sailing":"friday"})", R"({"ok":true})");
    return judge(run.model(answer).outcome(answer));
  };
  for (const auto* answer : {"The fare of 40 euros has been refunded to your card.", "Die 40 Euro wurden auf Ihre Karte erstattet.",
                             "Los 40 euros han sido reembolsados en su tarjeta.", "Your wish has been processed.", "You're all set!",
                             "A cabin on Saturday has been added."}) {
    EXPECT_EQ(candidates(after_change(answer)), 0u) << answer;
  }
}

TEST(MissingToolCall, HowThingsStand_IsNoCandidate) {
  RunBuilder run;
  run.request("Why does the gate not open?").tool("get_gate", R"({"gate":4})", R"({"state":"shut"})").model("The gate is locked.");
  EXPECT_EQ(candidates(judge(run)), 0u);
}

TEST(MissingToolCall, PromiseOnWhichATalkEnds_IsACandidate) {
  struct Promise {
    const char* wish;
    const char* answer;
  };
  for (const auto& [wish, answer] :
       {Promise{"Yes, move me to the upper deck.", "I will change your berth. Thank you for your patience."},
        Promise{"Ja, bitte auf das obere Deck.", "Ich werde Ihre Koje \u00e4ndern. Danke f\u00fcr Ihre Geduld."},
        Promise{"S\u00ed, a la cubierta superior.", "Voy a cambiar su camarote. Gracias por su paciencia."}}) {
    const auto judged = [&](std::string_view said, bool changed) {
      RunBuilder run;
      run.request("Which decks have a free berth?").tool("search_berths", "{}", R"([{"deck":"upper"}])").model("The upper one. Shall I?");
      run.user(wish);
      if (changed) run.tool("change_berth", R"({"deck":"upper"})", R"({"ok":true})");
      return judge(run.model(said).outcome(said));
    };
    EXPECT_TRUE(is_candidate(judged(answer, false))) << answer;
    EXPECT_EQ(candidates(judged(answer, true)), 0u) << answer;
  }
  RunBuilder asks;
  asks.request("Which decks have a free berth?").tool("search_berths", "{}", R"([{"deck":"upper"}])");
  EXPECT_EQ(candidates(judge(asks.model("I will change your berth to the upper one. Is that right?"))), 0u);
}

TEST(MissingToolCall, PromiseBeforeAGoodbyeWhereNothingRan_IsACandidate) {
  RunBuilder run;
  run.request("Pass my note on to the harbour office.").model("Shall I add your number?").user("Yes.");
  run.model("Sure. I'll get that to the office now. Goodbye!");
  EXPECT_TRUE(is_candidate(judge(run)));
}

TEST(MissingToolCall, DeedBesideAnAdmissionOfSomethingElse_IsACandidate) {
  const auto judged = [](std::string_view answer) {
    RunBuilder run;
    run.request("Move me to berth 9, and send me the new plan of the deck, please.");
    run.tool("update_berth", R"({"berth":9})", R"({"berth":9})");
    return judge(run.model(answer).outcome(answer));
  };
  EXPECT_TRUE(is_candidate(judged("Berth 9 is yours. The window could not be changed. I've sent the new plan to ann@harbour.example.")));
  EXPECT_EQ(candidates(judged("Berth 9 is yours. I was unable to send the new plan.")), 0u);
}

TEST(MissingToolCall, AgentThatSaysWhatAloneItCanDo_StaysQuiet) {
  const auto alarms = [](std::string_view request, std::string_view answer) {
    RunBuilder run;
    run.request(request).tool("get_berth", R"({"berth":9})", R"({"berth":9,"fee":40})");
    return judge(run.outcome(answer)).findings.size();
  };
  EXPECT_EQ(alarms("Please cancel berth 9.", "I've canceled berth 9. Its fee was 40."), 1u);
  EXPECT_EQ(alarms("Please cancel berth 9.", "I can only look berths up, so it has to be canceled at the office. I've noted berth 9."), 0u);
  EXPECT_EQ(alarms("Please cancel berth 9.", "I don't have a tool for that, and berths are canceled by phone. I've noted berth 9."), 0u);
  EXPECT_EQ(alarms("Por favor, cancela el amarre 9.", "Solo puedo consultar amarres; se cancela en la oficina. He anotado el amarre 9."),
            0u);
  EXPECT_EQ(alarms("Bitte storniere Liegeplatz 9.", "Ich kann nur nachsehen; storniert wird im Büro. Ich habe Liegeplatz 9 notiert."), 0u);
}

TEST(MissingToolCall, NameOfAValue_AsksForNothing) {
  const auto alarms = [](std::string_view turn) {
    RunBuilder run;
    run.request("Where is my parcel?")
        .model("What is your address?")
        .user(turn)
        .tool("find_parcel", R"({"id":"77"})", R"({"at":"quay 4"})");
    return judge(run.outcome("The label has been mailed. Your parcel is at quay 4.")).findings.size();
  };
  EXPECT_EQ(alarms("Please mail me the label."), 1u);
  EXPECT_EQ(alarms("name: Ann Ray\nmail: ann@harbour.example\n"), 0u);
  EXPECT_EQ(alarms("- **Mail**: ann@harbour.example"), 0u);
}

TEST(MissingToolCall, WhatIsDoneToTheAgent_IsNoClaim) {
  const auto alarms = [](std::string_view answer) {
    RunBuilder run;
    run.request("Tell the harbour master about berth 9.").tool("get_berth", R"({"berth":9})", R"({"berth":9})");
    return judge(run.outcome(answer)).findings.size();
  };
  EXPECT_EQ(alarms("I've told the harbour master about berth 9."), 1u);
  EXPECT_EQ(alarms("I'm told to read about berth 9 first. It is free."), 0u);
  EXPECT_EQ(alarms("I've been told that berth 9 is free."), 0u);
}

TEST(MissingToolCall, FileThatNoCallMade_IsACandidate) {
  constexpr std::string_view kScript = R"(print(\"{\"x\": 1}\"); write_pdf(\"tides.pdf\"))";
  const auto judged = [&](std::string_view tool, const std::string& input) {
    RunBuilder run;
    run.request("Make /srv/out/tides.pdf of the tides, please.").tool("create_folder", R"({"path":"/srv/out"})", "ok");
    run.tool(tool, input, "412 bytes written");
    return first_rule(judge(run.model("I have created /srv/out/tides.pdf.")));
  };
  const std::string padding(400, '#');
  const auto call = [&](const std::string& member) {
    return R"({"path":"/srv/out/make.py",")" + member + R"(":")" + padding + std::string(kScript) + R"("})";
  };
  EXPECT_EQ(judged("write_file", call("content")), "unmade_file") << "written, not run";
  EXPECT_EQ(judged("execute_tool", call("content").substr(0, 480)), "unmade_file") << "the record is cut behind the name";
  EXPECT_EQ(judged("run_python", call("code")), "") << "run";
  EXPECT_EQ(judged("write_file", R"({"path":"tides.pdf","content":"%PDF"})"), "");
}

TEST(MissingToolCall, DeedOfSomebodyElseOrOfNobody_IsACandidate) {
  const auto judged = [](std::string_view answer) {
    RunBuilder run;
    run.request("Cancel my ferry crossing and refund it.").tool("get_crossing", R"({"crossing":"F-2"})", R"({"crossing":"F-2","fare":40})");
    return judge(run.model(answer));
  };
  EXPECT_EQ(judged("Your crossing has been cancelled.").findings.size(), 1u);
  EXPECT_EQ(judged("Crossing cancelled for today.").findings.size(), 1u) << "a note";
  EXPECT_TRUE(is_candidate(judged("I need one of these:\n- The ferry line cancelled at least one crossing")));
  EXPECT_TRUE(is_candidate(judged("Timing: refunded to your card in 5 days")));
}

TEST(MissingToolCall, GeneralWordAfterLookUpsOnly_ClaimsTheOpenRequest) {
  const auto judged = [](std::string_view answer) {
    RunBuilder run;
    run.request("Can you cancel my sailing course?").tool("course_lookup", R"({"pupil":7})", R"({"course":"Jollen","from":"2026-05-02"})");
    run.model("I see the Jollen course in May. Shall I end it?").user("Yes, please.");
    return judge(run.model(answer));
  };
  EXPECT_EQ(judged("That's taken care of. You will get no more bills for it.").findings.size(), 1u);
  EXPECT_TRUE(judged("You're all set to cancel it on the course page.").findings.empty()) << "still to come";
  EXPECT_TRUE(judged("Your course has already been cancelled.").findings.empty()) << "it was so before";
}

TEST(MissingToolCall, ProposalThatTheUserAgreesTo_IsAnOrder) {
  struct Agreement {
    std::string_view question, proposal, consent, answer;
  };
  for (const auto& [question, proposal, consent, answer] :
       {Agreement{"Wie hoch ist die Rechnung f\u00fcr Liegeplatz 12?",
                  "412 Euro. Raten w\u00e4ren m\u00f6glich. Soll ich das so einrichten?", "Ja gern.",
                  "Der Ratenplan ist eingerichtet: sechs Raten zu je 68,80 \u20ac, die erste wird im Mai f\u00e4llig. Sie bekommen noch "
                  "Post dazu."},
        Agreement{"Ya vend\u00ed el velero de la plaza 12.", "\u00bfConfirma que desea cancelarla y desde qu\u00e9 fecha?",
                  "S\u00ed, desde hoy.", "Su plaza 12 queda cancelada con fecha de hoy."},
        Agreement{"Does berth 12 have shore power?", "It can have it. Would you like me to set it up?", "Yes, please.",
                  "Shore power is set up at your berth."}}) {
    const auto judged = [&](std::string_view turn, bool changed) {
      RunBuilder run;
      run.request(question).tool("lookup_berth", R"({"berth":12})", R"({"berth":12,"boat":"Alba","paid":true})").model(proposal).user(turn);
      if (changed) run.tool("berth_desk_42", R"({"berth":12})", R"({"ok":true})");
      return judge(run.model(answer)).findings.size();
    };
    EXPECT_EQ(judged(consent, false), 1u) << answer;
    EXPECT_EQ(judged(consent, true), 0u) << answer;
  }
}

TEST(MissingToolCall, CourtesyAtTheEnd_LeavesNothingOpen) {
  const auto judged = [](std::string_view answer) {
    RunBuilder run;
    run.request("Please refund order 12.").tool("get_order", R"({"order":12})", R"({"status":"delivered"})");
    return judge(run.outcome(answer)).findings.size();
  };
  EXPECT_EQ(judged("Your refund is on its way. Is there anything else I can help you with?"), 1u);
  EXPECT_EQ(judged("Your refund is on its way. Which card shall it go to?"), 0u);
  EXPECT_EQ(judged("Die Unterlagen sind raus. Kann ich sonst noch etwas f\u00FCr Sie tun?"), 1u);
  EXPECT_EQ(judged("El reembolso est\u00E1 en camino. \u00BFNecesita algo m\u00E1s?"), 1u);
}

TEST(MissingToolCall, WhateverIsToldAfterAnAgreement_IsTheOrder) {
  const auto fires = [](std::string_view offer, std::string_view reply, std::string_view answer) {
    RunBuilder run;
    run.request("My berth light is out, I was told to ask you.")
        .tool("get_berths", R"({"ship":"Alba"})", R"([{"berth":"C-4"}])")
        .model(offer);
    run.user(reply).tool("get_fitters", R"({"near":"C-4"})", R"([{"name":"Ulrike Marsh"}])").model(answer).outcome(answer);
    return !judge(run).findings.empty();
  };
  constexpr std::string_view kOffer = "Ulrike Marsh can be there at 9:00. Is that all right?";
  constexpr std::string_view kDone = "Ulrike Marsh is booked for 9:00.";
  EXPECT_TRUE(fires(kOffer, "Yes, thank you.", kDone));
  EXPECT_TRUE(fires(kOffer, "Thanks! Yes please.", kDone));
  EXPECT_TRUE(fires("Ulrike Marsh kann um 9 Uhr da sein. Passt das?", "Ja, gern.", "Ulrike Marsh ist f\u00FCr 9 Uhr bestellt."));
  EXPECT_TRUE(
      fires("Ulrike Marsh puede ir a las 9:00. \u00BFLe va bien?", "S\u00ED, gracias.", "Ulrike Marsh queda reservada para las 9:00."));
  EXPECT_FALSE(fires(kOffer, "What does she cost?", kDone)) << "no agreement";
  EXPECT_FALSE(fires(kOffer, "I would have to ask, yes.", kDone)) << "no agreement";
  EXPECT_FALSE(fires("Ulrike Marsh puede ir a las 9:00. \u00BFLe va bien?", "No s\u00E9 si puedo.", "Ulrike Marsh queda reservada."));
  EXPECT_FALSE(fires("Could you tell me the berth?", "Yes, C-4.", kDone)) << "nothing was proposed";
  EXPECT_FALSE(fires("Ulrike Marsh can be there at 9:00.", "Yes, I know her.", kDone)) << "nothing was asked";
  EXPECT_FALSE(fires(kOffer, "Yes, thank you.", "Ulrike Marsh will be booked for 9:00 once you pay the fee."));
}

TEST(MissingToolCall, VerbBehindTheNameOfASystem_TellsWhatTheToolDoes) {
  const auto judged = [](std::string_view tool) {
    RunBuilder run;
    run.request("Log my 8 km row, 44 minutes.").tool(tool, R"({"date":"today"})", "[]");
    return judge(run.model("Logged! 8 km in 44 minutes."));
  };
  EXPECT_EQ(judged("fitness_get_activities").findings.size(), 1u);
  EXPECT_EQ(judged("fitness_logs_list").findings.size(), 1u) << "logs are what is listed";
  EXPECT_TRUE(judged("FitnessListAddItem").findings.empty()) << "it adds to a list";
}

TEST(MissingToolCall, CallWrittenDownAfterItRan_IsNotMissing) {
  RunBuilder run;
  constexpr std::string_view kLast = "I have sent the invoices to Emma. [total_spent(day=\"May 19\")]";
  run.request("How much did I spend today?").tool("get_invoice", R"({"id":"O-3"})", "The invoice has been sent to your inbox.");
  EXPECT_TRUE(judge(run.model(kLast).outcome(kLast)).findings.empty());
  RunBuilder silent;
  silent.request("How much did I spend today?").tool("get_invoice", R"({"id":"O-3"})", "12.40");
  EXPECT_FALSE(judge(silent.model(kLast).outcome(kLast)).findings.empty());
}

TEST(MissingToolCall, WhatTheMessageQuotes_IsNoClaim) {
  RunBuilder run;
  run.request("Look up the warranty of QX-5 and draft a reply, don't send it.")
      .tool("warranty_lookup", R"({"serial":"QX-5"})", "until 2027-01-31");
  run.model("Here is the draft:\n\n> Dear Ms Orr,\n> I have arranged a courier for you.\n\nShall I change anything?");
  EXPECT_TRUE(judge(run).findings.empty());
}

TEST(MissingToolCall, FileThatIsSaidToBeThereThoughNoToolRan_Fires) {
  const auto judged = [](std::string_view answer) {
    RunBuilder run;
    run.request("Write a summary of the tides as a file.").model("I will write it.").user("Go on.");
    return judge(run.model(answer));
  };
  EXPECT_EQ(judged("The summary has been created. It is in out/tides.md.").findings.size(), 1u);
  EXPECT_TRUE(judged("I have created tides.md:\n```\n# Tides\n```").findings.empty()) << "its content is shown";
  EXPECT_TRUE(judged("The summary has been created: high water comes twice a day.").findings.empty()) << "no file is named";
}

TEST(MissingToolCall, DeedOfTheAgentAfterLookUpsOnly_FiresWhateverItsVerb) {
  const auto judged = [](std::string_view request, std::string_view answer) {
    RunBuilder run;
    run.request(request).tool("get_mooring", R"({"berth":"C-4"})", R"({"berth":"C-4","owner":"Marsh","until":"2026-05-01"})");
    return judge(run.model(answer).outcome(answer)).findings.size();
  };
  EXPECT_EQ(judged("My boat is sold, berth C-4.", "I've released berth C-4 to the harbour office."), 1u);
  EXPECT_EQ(judged("My boat is sold, berth C-4.", "I've looked at berth C-4: it is Marsh's until May."), 0u);
  EXPECT_EQ(judged("My boat is sold, berth C-4.", "Dear Ms Marsh,\nI have released berth C-4.\nYours"), 0u) << "a letter";
  EXPECT_EQ(judged("My boat is sold, berth C-4.", "I couldn't release berth C-4."), 0u);
  EXPECT_EQ(judged("My boat is sold, berth C-4.", "Once I've released berth C-4, you will get a mail."), 0u);
  EXPECT_EQ(judged("Write a rhyme.", "I've added a rhyme."), 0u) << "text work";
}

TEST(MissingToolCall, ToolOfUnknownNameThatGivesRecords_IsALookUp) {
  const auto judged = [](std::string_view output) {
    RunBuilder run;
    run.request("Please move my berth to C-9.").tool("quay.berths", R"({"quay":"north"})", output);
    return judge(run.model("I've moved your berth to C-9.")).findings.size();
  };
  EXPECT_EQ(judged(R"([{"berth":"C-9","free":true}])"), 1u);
  EXPECT_EQ(judged(R"({"booking":"B-77"})"), 0u) << "it may have been moved";
  EXPECT_EQ(judged(R"({"moved":true,"berth":"C-9","depth":4,"owner":"x"})"), 0u);
}

TEST(MissingToolCall, ToolThatIsAProgram_DoesWhatItsCommandsDo) {
  const auto judged = [](std::string_view command) {
    RunBuilder run;
    run.request("scale the worker deployment in the harbour to 6");
    run.tool("kubectl", "-n harbour get deploy worker", "NAME   READY   AGE\nworker   3/3   41d\nother   1/1   2d");
    run.tool("kubectl", command, "deployment.apps/worker scaled");
    return judge(run.model("I've scaled the worker deployment in the harbour to 6.")).findings.size();
  };
  EXPECT_EQ(judged("-n harbour scale deploy worker --replicas=6"), 0u);
  EXPECT_EQ(judged("-n harbour get pods"), 1u);
}

TEST(MissingToolCall, ToolOfUnknownNameThatOnlyQueries_IsALookUp) {
  const auto judged = [](std::string_view sql) {
    RunBuilder run;
    run.request("Please move my berth to C-9.").tool("bq_job", std::string(R"({"sql":")").append(sql).append("\"}"), "berth,free\nC-9,1");
    return judge(run.model("I've moved your berth to C-9.")).findings.size();
  };
  EXPECT_EQ(judged("SELECT berth, free FROM berths"), 1u);
  EXPECT_EQ(judged("UPDATE berths SET boat = 'Heron' WHERE berth = 'C-9'"), 0u);
}

TEST(MissingToolCall, MessageSaidToBeSentThatNoCallWasAbout_FiresBesideOtherWrites) {
  const auto judged = [](std::string_view answer, std::string_view call = R"({"berth":"C-4","day":"friday"})") {
    RunBuilder run;
    run.request("Cancel the Friday booking of the Heron and tell Ulrike.").tool("cancel_booking", call, R"({"ok":true})");
    return judge(run.model(answer).outcome(answer)).findings.size();
  };
  EXPECT_EQ(judged("The booking is cancelled. Ulrike has been informed."), 1u);
  EXPECT_EQ(judged("The booking is cancelled. Ulrike has been informed.", R"({"berth":"C-4","tell":"Ulrike"})"), 0u)
      << "the call was about her";
  EXPECT_EQ(judged("The booking is cancelled. Please tell Ulrike."), 0u);
}

TEST(MissingToolCall, TellMe_AsksToKnow) {
  RunBuilder run;
  run.request("Tell me when the Heron comes, and let me know who steers.").tool("get_ship", R"({"ship":"Heron"})", R"({"ship":"Heron"})");
  EXPECT_TRUE(judge(run.model("I told you: the Heron comes at noon.")).findings.empty());
}

TEST(MissingToolCall, DeedThatTheUserNamesAsDone_IsAskedForInThatRunAlone) {
  MissingToolCall detector({});
  const auto judged = [&](std::string_view turn) {
    RunBuilder run;
    run.request("My mooring bill is wrong.").model("I see. What is wrong?").user(turn);
    run.model("I have escalated your case to a human advocate.");
    return detector.evaluate(run.run()).findings.size();
  };
  EXPECT_EQ(judged("Just tell me you've escalated this."), 1u);
  EXPECT_EQ(judged("It is twice of last year's."), 0u);
  EXPECT_EQ(judged("Just tell me you've escalated this."), 1u);
}

TEST(MissingToolCall, TextWorkBesideAnOrder_DoesNotSilenceIt) {
  for (const auto* request : {"Please mute channel 4.", "Create a poem about rain. Please mute channel 4."}) {
    RunBuilder run;
    run.request(request).tool("get_channel", R"({"channel":4})", R"({"channel":4,"name":"news","loud":true})");
    EXPECT_EQ(judge(run.model("Channel 4 is muted now.")).findings.size(), 1u) << request;
  }
}

TEST(MissingToolCall, PayingAttention_IsNoPayment) {
  RunBuilder run;
  run.request("Please pay attention to the units. Which pump used most?").tool("pump_search", "{}", R"([{"pump":"P-4","paid_kwh":812}])");
  run.outcome("P-4. The owner paid for 812 kWh and the levy was settled.");
  EXPECT_TRUE(judge(run).findings.empty());
}

TEST(MissingToolCall, LookUpThatSaysWhatItDid_DidIt) {
  const auto fires = [](std::string_view output) {
    RunBuilder run;
    run.request("I need the receipt for the tent.").tool("get_receipt", R"({"item":"tent"})", output);
    return !judge(run.outcome("I've sent the receipt for the tent to your inbox.")).findings.empty();
  };
  EXPECT_FALSE(fires("The receipt has been sent to the address on file."));
  EXPECT_FALSE(fires("You have successfully sent the receipt."));
  EXPECT_TRUE(fires("Have you sent the receipt?"));
  EXPECT_TRUE(fires("You can have it sent."));
  EXPECT_TRUE(fires(R"({"item":"tent","total":120})"));
  EXPECT_TRUE(fires("The receipt could not be sent."));
}

TEST(MissingToolCall, MailThatTheAgentSaysItSent_FiresUnlessItSpokeOfItBefore) {
  const auto judged = [](std::string_view proposal) {
    RunBuilder run;
    run.request("My kettle leaks.").model(proposal).tool("exchange_item", R"({"item":"kettle"})", R"({"exchange":"X-7"})");
    run.user("Yes, please proceed with the exchange and send the label to my mail.");
    return judge(run.outcome("Your kettle is being exchanged. I've sent the label to your address."));
  };
  EXPECT_FALSE(judged("I can exchange it for the steel one. Shall I?").findings.empty());
  EXPECT_FALSE(judged("I can send a steel one. Its label is red. Shall I?").findings.empty());
  EXPECT_TRUE(judged("I can exchange it, and we send you a label. Shall I?").findings.empty());
}

TEST(MissingToolCall, DeedOfSeveralThatNoCallIsLeftFor_Fires) {
  const auto fires = [](bool ordered) {
    RunBuilder run;
    run.request("Verschieb die Probe auf Mittwoch, sag dem Hausmeister Bescheid und bestell zwei Notenpulte.");
    run.tool("termin_verschieben", R"({"termin":"Probe","tag":"Mittwoch"})", R"({"ok":true})");
    run.tool("nachricht_senden", R"({"an":"Hausmeister","text":"Probe am Mittwoch"})", R"({"ok":true})");
    if (ordered) run.tool("shop_bestellen", R"({"artikel":"Notenpult","menge":2})", R"({"bestellung":"B-12"})");
    run.outcome("Die Probe ist jetzt am Mittwoch, der Hausmeister wei\u00DF Bescheid, und zwei Notenpulte sind bestellt.");
    return !judge(run).findings.empty();
  };
  EXPECT_TRUE(fires(false));
  EXPECT_FALSE(fires(true));
  const auto fires_in_english = [](bool released) {
    RunBuilder run;
    run.request("Move the tasting to Saturday at six and free the cellar room on Thursday.");
    run.tool("calendar_move_event", R"({"event":"tasting","start":"Saturday 18:00"})", R"({"ok":true})");
    if (released) run.tool("rooms_release", R"({"room":"cellar","day":"Thursday"})", R"({"released":true})");
    run.outcome("Done! The tasting is on Saturday at 18:00 now, and the cellar room is free again on Thursday.");
    return !judge(run).findings.empty();
  };
  EXPECT_TRUE(fires_in_english(false));
  EXPECT_FALSE(fires_in_english(true));
}

TEST(MissingToolCall, Weights_WereLearnedOverWhatIsMeasured) {
  RunBuilder run;
  run.request("Move the tasting to Saturday and book the cellar.");
  run.tool("calendar_move_event", R"({"event":"tasting"})", R"({"ok":true})");
  run.outcome("The tasting has been moved to Saturday, and the cellar has been booked.");
  MissingToolCall detector("{}");
  (void)detector.evaluate(run.run());
  auto& weighed = detector.weighed();
  ASSERT_TRUE(weighed.read_message(run.run(), {run.run().outcome, "/outcomeSummary", kNoStep}, 0));
  const auto learned = WeighedDeeds::weights_of();
  EXPECT_EQ(weighed.measure(0, true).names(), (std::vector<std::string>(learned.begin(), learned.end())))
      << "measures have changed: learn anew, as tests/learn/README.md says";
}

TEST(MissingToolCall, CallThatMayBeForADeed_LeavesACandidateAtMost) {
  const auto judged = [](std::string_view tool, std::string_view input) {
    RunBuilder run;
    run.request("Please cancel berth 12.").model("Shall I cancel berth 12 now?").tool(tool, input, R"({"ok":true})");
    run.user("Yes. Please send the receipt to ann@harbour.example.");
    constexpr std::string_view kClosing = "I'll have the receipt sent to ann@harbour.example. Berth 12 is cancelled.";
    return judge(run.model(kClosing).outcome(kClosing));
  };
  EXPECT_FALSE(judged("cancel_berth", R"({"berth":12})").findings.empty()) << "the other deed takes this call";
  EXPECT_TRUE(is_candidate(judged("supplies_put", R"({"sku":"MS-2","n":2})"))) << "no deed takes it";
}

TEST(MissingToolCall, OneSentenceOfManyDeeds_IsWeighedUpToALimit) {
  std::string many = "I've moved the tasting";
  for (int i = 0; i < 3000; ++i) many += ", booked the cellar and invited Nora";
  RunBuilder run;
  run.request(many + ".").tool("calendar_move_event", R"({"event":"tasting"})", R"({"ok":true})").outcome(many + ".");
  MissingToolCall detector("{}");
  (void)detector.evaluate(run.run());
  auto& weighed = detector.weighed();
  weighed.clear();
  (void)weighed.read_message(run.run(), {run.run().outcome, "/outcomeSummary", kNoStep}, 0);
  EXPECT_GT(weighed.told().size(), 1u);
  EXPECT_LE(weighed.told().size(), 24u);
}

TEST(MissingToolCall, HowThingsStandInAReport_IsNoDeedOfTheAgent) {
  RunBuilder run;
  run.request("Research the gym chain Pulse Box, its position in the sector and recent trends.");
  run.tool("search_web", R"({"query":"Pulse Box gym news"})", R"([{"title":"Pulse Box opens in Lyon","snippet":"The chain has 40 gyms"}])");
  run.outcome(
      "# Report on Pulse Box\n\nConclusion: Pulse Box is well placed as a leading gym chain in the sector, and its trends are upward.");
  EXPECT_TRUE(judge(run).findings.empty());
}

TEST(MissingToolCall, ThingThatACallWasAbout_MayBeSaidToBeMadeByIt) {
  const auto fires = [](std::string_view output) {
    RunBuilder run;
    run.request("My mooring card is gone. Block it and order a new one.");
    run.tool("report_card", R"({"card":"M-1","reason":"gone"})", output);
    constexpr std::string_view kDone = "Your card is blocked. A spare card has been ordered.";
    return !judge(run.model(kDone).outcome(kDone)).findings.empty();
  };
  EXPECT_FALSE(fires(R"({"spare_card":"M-2"})"));
  EXPECT_TRUE(fires(R"({"blocked":true})"));
}

TEST(MissingToolCall, HowThingsStandBesideAQuestion_IsNotTheOrder) {
  const auto fires = [](std::string_view answer) {
    RunBuilder run;
    run.request("I'd like to cancel my reservation C-4.").tool("get_reservation", R"({"id":"C-4"})", R"({"berth":"C-4","class":"basic"})");
    return !judge(run.model(answer).outcome(answer)).findings.empty();
  };
  EXPECT_FALSE(fires("Your reservation C-4 is booked in the basic class. May I know the reason? (change of plan, or another)"));
  EXPECT_FALSE(fires("Your reservation C-4 is booked in the basic class."));
  EXPECT_FALSE(fires("Your reservation C-4 has been paid. What is the reason? (change of plan, or another)"));
  EXPECT_TRUE(fires("Your reservation C-4 is cancelled."));
}

TEST(MissingToolCall, WhatTheAgentAsksOfTheUser_IsNoOrder) {
  const auto fires = [](std::string_view question) {
    RunBuilder run;
    run.request("How much did I pay for my berth?").model(question).user("My name is Noah.");
    run.tool("get_berth", R"({"name":"Noah"})", R"({"berth":"C-4","fee":40})");
    constexpr std::string_view kAnswer = "You paid 40 euros, and the form was resent.";
    return !judge(run.model(kAnswer).outcome(kAnswer)).findings.empty();
  };
  EXPECT_FALSE(fires("I can't find you. Could you please resend the form?"));
  EXPECT_TRUE(fires("I can't find you. Would you like me to resend the form?"));
}

TEST(MissingToolCall, WhatWasReadSuccessfully_IsNotTheOrder) {
  const auto fires = [](std::string_view answer) {
    RunBuilder run;
    run.request("Buy a mooring line with Ann's account.").tool("read_file", R"({"path":"ann.txt"})", "balance 40");
    return !judge(run.model(answer).outcome(answer)).findings.empty();
  };
  EXPECT_FALSE(fires("I have successfully retrieved the account of Ann. Next, I look at the price."));
  EXPECT_TRUE(fires("I have successfully bought the line for Ann."));
}

TEST(MissingToolCall, MessageBeforeTheOrder_DoesNotClaimIt) {
  const auto judged = [](std::string_view before, std::string_view after) {
    RunBuilder run;
    run.request("Who moors at C-4?").tool("list_berths", R"({"berth":"C-4"})", R"([{"ship":"Alba"}])").model(before);
    return judge(run.user("Please notify the owner of the Alba.").model(after).outcome(after)).findings.size();
  };
  EXPECT_EQ(judged("The Alba. The owner has been notified of the fee.", "The number of the owner is 555-0142."), 0u);
  EXPECT_EQ(judged("The Alba.", "The owner of the Alba has been notified."), 1u);
}

TEST(MissingToolCall, MailAskedForWhileAgreeingToWhatRanBefore_IsACandidate) {
  const auto judged = [](std::string_view turn) {
    RunBuilder run;
    run.request("My kettle leaks.").model("I can exchange it for the steel one, and we mail you a label.");
    run.tool("exchange_item", R"({"item":"kettle"})", R"({"exchange":"X-7"})").user(turn);
    return judge(run.outcome("Your kettle is being exchanged. We've emailed the return label to you."));
  };
  EXPECT_TRUE(is_candidate(judged("Yes, please proceed with the exchange and send the label to my mail.")));
  EXPECT_FALSE(judged("And send me the label by mail.").findings.empty());
}

TEST(MissingToolCall, WordsThatOnlyLookLikeAnOrder) {
  const auto fires = [](std::string_view request, std::string_view answer) {
    RunBuilder run;
    run.request(request).tool("web_search", R"({"q":"quay"})", R"([{"title":"Quays"}])");
    return !judge(run.outcome(answer)).findings.empty();
  };
  EXPECT_FALSE(
      fires("Write a one-page briefing on quays.", "Quays are set on piles. Heron Ltd connected the north quay and placed the cranes."));
  RunBuilder login;
  login.request(
      "I just signed in without a password via email, and my email is ann@quay.example. The code is 456789; could you please verify me?");
  login.tool("verifyCode", R"({"by":"email","code":"456789"})", R"(Status 200: {"token":"q7","ends_in":3600})");
  EXPECT_TRUE(judge(login.outcome("You have been successfully authenticated. The token ends in 3600 seconds.")).findings.empty());
  EXPECT_TRUE(fires("Email the list of quays to Ann.", "The list of quays has been emailed to Ann."));
  EXPECT_FALSE(
      fires("Book me a berth for July.", "Three berths are free. To complete your booking, choose one and visit the harbour's site."));
}

TEST(MissingToolCall, DeedThatTellsOfAnotherCall_IsACandidate) {
  const auto judged = [](std::string_view message) {
    RunBuilder run;
    run.request("We went to Heron island last spring.")
        .tool("book_berth", R"({"berth":"Heron island","nights":4})", R"({"booking":"B-7"})");
    return judge(run.model(message).user("Nice.").outcome("Anything else?"));
  };
  EXPECT_TRUE(judged("I've recorded your booking at Heron island for four nights.").findings.empty());
}

/// Whether an answer fires where nothing but a look-up ran.
bool fires_after_look_up(std::string_view request, std::string_view answer) {
  RunBuilder run;
  run.request(request).tool("find_berths", R"({"quay":"north"})", R"([{"berth":"C-4"}])");
  return !judge(run.model(answer).outcome(answer)).findings.empty();
}

TEST(MissingToolCall, QuestionBeforeTheLastSentences_LeavesTheDeedOpen) {
  const auto judged = [](std::string_view question) {
    RunBuilder run;
    run.request("Delete the buoy log of pier 3.").tool("describe_log", R"({"pier":3})", R"({"state":"running","owner":"a-rey"})");
    return judge(run.model("The log of pier 3 is up and running and belongs to a-rey. " + std::string(question) + " Then it goes."))
        .findings.size();
  };
  EXPECT_EQ(judged("Does a-rey agree?"), 0u);
  EXPECT_EQ(judged("So a-rey agrees."), 1u);
}

TEST(MissingToolCall, DeedInWordsThatNoRuleKnows_IsReadByTheLearnedReader) {
  EXPECT_TRUE(
      fires_after_look_up("Please take the heron boat off the list for Saturday.", "She's off the list for Saturday now, all sorted."));
  EXPECT_TRUE(fires_after_look_up("Nimm bitte Boot C-4 aus dem Verteiler.", "Boot C-4 ist jetzt aus dem Verteiler raus."));
  EXPECT_TRUE(fires_after_look_up("Por favor, saca a mi barco de la lista.", "Listo, tu barco ya está fuera de la lista."));
  EXPECT_FALSE(fires_after_look_up("Please take the heron boat off the list for Saturday.", "The heron boat is on berth C-4 on Saturday."));
  EXPECT_FALSE(fires_after_look_up("Please take the heron boat off the list.", "I can take her off the list. Shall I do that now?"));
  EXPECT_FALSE(fires_after_look_up("Which berth is the heron boat on?", "She's on berth C-4 from Saturday."));
}

TEST(MissingToolCall, TalkThatClosesOnWhatNoCallPassedOn_Fires) {
  const auto fires = [](std::string_view request, std::string_view answer, std::string_view tool = {}) {
    RunBuilder run;
    run.request(request);
    if (!tool.empty()) run.tool(tool, R"({"berth":4})", R"({"berth":4,"quay":"north"})");
    return !judge(run.model(answer).outcome(answer)).findings.empty();
  };
  constexpr std::string_view kAsk = "Please have the workshop call me about berth 4.";
  EXPECT_TRUE(fires(kAsk, "I'm taking a message for the workshop. You're all set!"));
  EXPECT_TRUE(fires(kAsk, "I'll let the workshop know right away. You're all set!", "get_berth"));
  EXPECT_TRUE(fires(kAsk, "I'm sending your message to the workshop. Goodbye!"));
  EXPECT_TRUE(fires("Sagen Sie der Werkstatt bitte, dass Platz 4 feucht ist.", "Ich gebe das jetzt weiter. Alles erledigt!", "get_berth"));
  EXPECT_TRUE(fires("Dile al taller que el puesto 4 est\xC3\xA1 mojado.", "Se lo paso ahora al taller. \xC2\xA1Todo listo!", "get_berth"));
  EXPECT_FALSE(fires(kAsk, "I'll let the workshop know right away. You're all set!", "notify_workshop"));
  EXPECT_FALSE(fires(kAsk, "I'll let the workshop know. Goodbye!")) << "a mere promise";
  EXPECT_FALSE(fires("Berth 4 was a bit damp.", "I'm passing your feedback on. Goodbye!")) << "nobody asked for it";
  EXPECT_FALSE(fires(kAsk, "I'll let the workshop know if you confirm. Otherwise you're all set!"));
  EXPECT_FALSE(fires(kAsk, "I'll let the workshop know. Once they call, you're all set!"));
  EXPECT_FALSE(fires(kAsk, "I'm taking a message for the workshop. Which number should they call?"));
}

TEST(MissingToolCall, TextToWorkOn_AsksForNothing) {
  EXPECT_TRUE(judge(talk("Translate into German: \"Delete my account.\"", "\"L\xC3\xB6schen Sie mein Konto.\" Done!")).findings.empty());
  EXPECT_TRUE(judge(talk("Proofread: \"Please email the plan.\"", "Done! \"Please email the plan.\"")).findings.empty());
  EXPECT_TRUE(judge(talk("Corrige: \"Cancela mi pedido.\"", "\xC2\xA1Hecho! \"Cancela mi pedido.\"")).findings.empty());
  EXPECT_EQ(judge(talk("Please delete my account.", "Done!")).findings.size(), 1u);
}

TEST(MissingToolCall, RecipientThatNoSendingCallNames) {
  const auto fires = [](std::string_view input, std::string_view tool = "send_email", std::string_view more = {}) {
    constexpr std::string_view kSaid = "I've sent the plan to mia@quay.example and tom@quay.example.";
    RunBuilder run;
    run.request("Send the plan to mia@quay.example and tom@quay.example.").tool(tool, input, R"({"id":"m1"})");
    if (!more.empty()) run.tool(more, R"({"plan":7})", R"({"ok":true})");
    return !judge(run.model(kSaid).outcome(kSaid)).findings.empty();
  };
  EXPECT_TRUE(fires(R"({"to":"mia@quay.example","subject":"Plan"})"));
  EXPECT_TRUE(fires(R"({"to":["mia@quay.example"],"subject":"Plan"})"));
  EXPECT_TRUE(fires(R"({"to":"mira@pier.example","subject":"Plan","body":"See the plan."})"));
  EXPECT_FALSE(fires(R"({"to":["mia@quay.example","tom@quay.example"]})"));
  EXPECT_FALSE(fires(R"({"to":"mia@quay.example, tom@quay.example"})"));
  EXPECT_FALSE(fires(R"({"to":["mia@quay.example","crew"]})")) << "a list may hold both";
  EXPECT_FALSE(fires(R"({"to":"mia@quay.example","cc":"Tom"})"));
  EXPECT_FALSE(fires(R"({"recipient_id":7,"to":"mia@quay.example"})"));
  EXPECT_FALSE(fires(R"({"sender":"office@quay.example","subject":"Plan"})"));
  EXPECT_FALSE(fires(R"({"from":"office@quay.example","subject":"Plan"})"));
  EXPECT_FALSE(fires(R"({"channel":"#crew","text":"The plan"})")) << "both may read it there";
  EXPECT_FALSE(fires(R"({"to":"mia@quay.example"})", "send_email", "share_plan"));
}

TEST(MissingToolCall, DeedThatIsAskedAboutOrPassedOn_IsNotReadAsDone) {
  constexpr auto kAsked = "Please take the heron boat off the list for Saturday.";
  EXPECT_FALSE(fires_after_look_up(kAsked, "Done, she's off the list for Saturday now, all sorted. Is that right?"));
  EXPECT_FALSE(fires_after_look_up(kAsked, "I've transferred you to a human agent. She's off the list for Saturday now, all sorted."));
}

TEST(MissingToolCall, RuleForAnyAction_TurnsTheLearnedReaderOff) {
  RunBuilder run;
  run.request("Please take the heron boat off the list for Saturday.").tool("find_berths", R"({"quay":"north"})", R"([{"berth":"C-4"}])");
  run.model("She's off the list for Saturday now, all sorted.");
  EXPECT_EQ(judge(run).findings.size(), 1u);
  EXPECT_TRUE(judge(run, R"({"rules":{"any_action":false}})").findings.empty());
}

TEST(MissingToolCall, StateThatALookUpShowed_IsNotReadAsADeed) {
  const auto judged = [](std::string_view state) {
    RunBuilder run;
    run.request("Please cancel my berth C-4.").tool("find_berth", R"({"berth":"C-4"})", state);
    return judge(run.model("Your berth C-4 is cancelled.")).findings.size();
  };
  EXPECT_EQ(judged(R"({"berth":"C-4","state":"cancelled"})"), 0u);
  EXPECT_EQ(judged(R"({"berth":"C-4","state":"booked"})"), 1u);
}

TEST(MissingToolCall, DeedSinceTheLastChange_IsReadByTheLearnedReader) {
  const auto judged = [](std::string_view asked, std::string_view answer) {
    RunBuilder run;
    run.request("Please cancel my berth C-4.").tool("cancel_berth", R"({"berth":"C-4"})", R"({"state":"cancelled"})");
    run.model("Berth C-4 is cancelled.").user(asked).model(answer);
    return judge(run).findings.size();
  };
  constexpr auto kAsked = "And change the address on my profile to 12 Heron Row, Leith.";
  EXPECT_EQ(judged(kAsked, "Your profile address is now 12 Heron Row, Leith."), 1u);
  EXPECT_EQ(judged(kAsked, "Shall I take 12 Heron Row, Leith as your profile address?"), 0u);
  EXPECT_EQ(judged("Great. And what is the fee?", "Your berth is cancelled free of charge."), 0u);
  EXPECT_EQ(judged(kAsked, "All done and sorted now."), 0u) << "it may be about the berth";
  EXPECT_EQ(judged(kAsked, "Your profile address beside berth C-4 is now 12 Heron Row, Leith."), 0u) << "that was changed";
}

TEST(MissingToolCall, PersonWhoWasToBeTold_IsNamedByTheCallThatTells) {
  const auto judged = [](std::string_view tool, std::string_view input) {
    RunBuilder run;
    run.request("Cancel berth C-4 and let Ngozi know, please.").tool("cancel_berth", R"({"berth":"C-4"})", R"({"state":"cancelled"})");
    run.tool("staff_directory", R"({"name":"Ngozi"})", R"([{"name":"Ngozi Balewa","desk":4}])");
    if (!tool.empty()) run.tool(tool, input, R"({"ok":true})");
    return judge(run.model("Berth C-4 is free again, and Ngozi has heard from us.")).findings.size();
  };
  EXPECT_EQ(judged({}, {}), 1u);
  EXPECT_EQ(judged("send_message", R"({"user":"U-7","text":"C-4 is free"})"), 0u);
  EXPECT_EQ(judged("add_note", R"({"berth":"C-4","text":"told Ngozi"})"), 0u);
}

TEST(MissingToolCall, RequestedFileThatNoCallNames_WasNotMade) {
  const auto judged = [](std::string_view tool, std::string_view input) {
    RunBuilder run;
    run.request("Create a file 'tides-may.docx' with the packing list.")
        .tool("search_files", R"({"query":"tides"})", R"([{"content":"Rope, lamp"}])");
    if (!tool.empty()) run.tool(tool, input, R"({"id":"26"})");
    return judge(run.model("I have created a new file called 'tides-may.docx' with:\n```\n- rope\n- lamp\n```")).findings.size();
  };
  EXPECT_EQ(judged({}, {}), 1u);
  EXPECT_EQ(judged("create_file", R"({"filename":"tides-may.docx","content":"- rope"})"), 0u);
}

TEST(MissingToolCall, WhoIsToBeTold_IsANameBehindTheVerb) {
  const auto judged = [](std::string_view request, std::string_view tool, std::string_view input, std::string_view answer) {
    RunBuilder run;
    run.request(request).tool("cancel_berth", R"({"berth":"C-4"})", R"({"state":"cancelled"})");
    if (!tool.empty()) run.tool(tool, input, R"({"state":"ok"})");
    return judge(run.model(answer)).findings.size();
  };
  constexpr auto asked = "Cancel berth C-4 and let Ngozi know, please.";
  constexpr auto told = "Berth C-4 is free again, and Ngozi has heard from us.";
  EXPECT_EQ(judged(asked, {}, {}, told), 1u);
  EXPECT_EQ(judged(asked, "assign_ngozi", R"({"code":7})", told), 0u);
  EXPECT_EQ(judged("Log it as done with berth C-4, and let the vendor (Quayline, service@quayline.example) know.", {}, {},
                   "Berth C-4 is logged. Quayline has been informed by mail at service@quayline.example that it is free."),
            1u);
  EXPECT_EQ(
      judged("Contacts 'Priya Raman' and 'P. Raman (Helix)' are the same person. Merge them in HubSpot, keep the Helix e-mail.", {}, {},
             "There is now just one Priya Raman record with praman@helix.example as the primary e-mail; the other was folded into it."),
      0u);
  EXPECT_EQ(judged("Roll out tide-api 4.1.0 to prod-eu and tell me when it's serving", "kubectl_set_image", R"({"image":"tide-api:4.1.0"})",
                   "tide-api **4.1.0** has been rolled out to `prod-eu` and is serving traffic. Pods are up."),
            0u);
  EXPECT_EQ(judged("Bitte den Schaden aufnehmen und einen Gutachter schicken, ab Donnerstag bin ich da.", "auftrag_anlegen",
                   R"({"was":"Gutachter und Schaden","ab":"2025-06-26"})",
                   "Der Schaden ist aufgenommen. Der Gutachter ist beauftragt und kommt ab Donnerstag zu Ihnen."),
            0u);
}

TEST(MissingToolCall, DeedBeforeADenial_IsToldAsDone) {
  const auto judged = [](std::string_view answer) {
    RunBuilder run;
    run.request(
        "Soy Benito. Esos pitidos a las cuatro de la ma\xC3\xB1"
        "ana avisando del turno de agua no los quiero m\xC3\xA1s.");
    run.tool("avisos.listar", "comunero=311",
             "SMS turno: activo (24 h)\nSMS aver\xC3\xAD"
             "as: activo");
    run.model(
           "Veo dos: turno y aver\xC3\xAD"
           "as. \xC2\xBFLe quito solo el de turno?")
        .user("Solo el del turno, que lo otro s\xC3\xAD me interesa.");
    return judge(run.model(answer)).findings.size();
  };
  EXPECT_EQ(judged("Los mensajes de turno han quedado apagados para la toma 14-B, mientras que aver\xC3\xAD"
                   "as sigue como hasta ahora."),
            1u);
  EXPECT_EQ(judged("Los mensajes de turno no han quedado apagados para la toma 14-B, mientras que aver\xC3\xAD"
                   "as sigue como hasta ahora."),
            0u);
}

TEST(MissingToolCall, PlainOrderAndPlainReport_NeedNotShareAVerb) {
  RunBuilder run;
  run.request("Hello, I put my name down for a plot two years ago. We've moved, so please take me off the list.");
  run.model("Could you give me your full name and the reference from your letter?").user("Gwen Price, FB-0412.");
  run.model("To confirm: remove FB-0412 from the waiting list and return the deposit to the account it was paid from. Is that right?");
  run.user("Yes that's right.");
  const auto verdict =
      judge(run.model("All done, Gwen. You've been taken off the waiting list and the \xC2\xA3"
                      "25 deposit has been released back to the account it came from."));
  EXPECT_EQ(verdict.findings.size(), 1u);
}

TEST(MissingToolCall, OperationsInABatch_ChangeSomething) {
  const auto judged = [](std::string_view type) {
    RunBuilder run;
    run.request("Please remove the rope from the packing list.").tool("packlist_list", "{}", R"([{"id":"801","name":"Rope"}])");
    run.tool("packlist_batch", R"({"commands":[{"type":")" + std::string(type) + R"(","id":"801"}]})",
             R"({"sync":{"c1":"ok","c2":"ok","c3":"ok"}})");
    return judge(run.model("I've removed the rope from the packing list.")).findings.size();
  };
  EXPECT_EQ(judged("item_delete"), 0u);
  EXPECT_EQ(judged("item_detail"), 1u);
}

TEST(MissingToolCall, RegisteringNotes) {
  RunBuilder run;
  run.request("Apunta la entrega de hoy: socio 0231, 1.840 kg de picual.");
  run.tool("almazara_registrar_entrega", R"({"socio":"0231","kg":1840})", R"({"albaran":"A-19"})");
  EXPECT_TRUE(judge(run.model("Entrega apuntada: socio 0231, 1.840 kg de picual, con fecha de hoy.")).findings.empty());
}

TEST(MissingToolCall, FirstExchange_IsJudgedByItself) {
  const auto judged = [](std::string_view answer) {
    RunBuilder run;
    run.request("Please put my allergy to sesame on my profile.").tool("find_profile", R"({"who":"me"})", R"([{"badge":"D-11"}])");
    run.model(answer).user("Thanks. And book the tour, please.");
    run.tool("book_tour", R"({"who":"D-11"})", R"({"booking":"T-9"})");
    return judge(run.model("The tour is booked, reference T-9.")).findings.size();
  };
  EXPECT_EQ(judged("I've put your allergy to sesame on your profile."), 1u);
  EXPECT_EQ(judged("There is your profile. What shall I put on it?"), 0u);
}

TEST(MissingToolCall, WhatMayOnlyLook_ChangesNothing) {
  const auto judged = [](std::string_view tool, std::string_view input, std::string_view output) {
    RunBuilder run;
    run.request("Please cancel berth C-4.").tool(tool, input, output);
    return judge(run.model("I've cancelled berth C-4.")).findings.size();
  };
  EXPECT_EQ(judged("quay.resolve_owner", R"({"berth":"C-4"})", R"({"owner":"Ann Marsh","since":2019})"), 1u);
  EXPECT_EQ(judged("quay.resolve_dispute", R"({"berth":"C-4"})", R"({"resolved":true})"), 0u);
  EXPECT_EQ(judged("vessel_record", R"({"vessel":"Heron"})", R"({"vessel":"Heron","length":12,"flag":"NO"})"), 1u);
  EXPECT_EQ(judged("quay_berths", R"({"from":"May"})", R"({"rates":[]})"), 1u) << "nothing found is nothing done";
  EXPECT_EQ(judged("run_sql", R"({"sql":"SELECT owner FROM berths"})", "Ann"), 1u);
  EXPECT_EQ(judged("run_sql", R"({"sql":"UPDATE berths SET owner = null"})", "UPDATE 1"), 0u);
  EXPECT_EQ(judged("abacus", "26400/360*6", "440.0"), 1u);
}

TEST(MissingToolCall, FailedCallOfAnUnknownTool_SaysNothingOfTheOthers) {
  const auto judged = [](std::string_view output) {
    RunBuilder run;
    run.request("Please cancel berth C-4.")
        .failed("quay_berths", R"({"from":"may"})", "timeout")
        .tool("quay_berths", R"({"from":"May"})", output);
    return judge(run.model("I've cancelled berth C-4.")).findings.size();
  };
  EXPECT_EQ(judged(R"({"rates":[12,14]})"), 1u);
  EXPECT_EQ(judged(R"({"id":"Q-7"})"), 0u);
}

TEST(MissingToolCall, SomebodySaidToHaveBeenTold_WhomNoCallWasAbout) {
  const auto judged = [](std::string_view move) {
    RunBuilder run;
    run.request("Move the Heron to C-9 and let the harbour nurse know.").tool("move_ship", R"({"ship":"Heron","berth":"C-9"})", move);
    run.tool("get_tide", "{}", R"({"high":"12:40","low":"18:55"})");
    return judge(run.model("The Heron lies at C-9, and the harbour nurse has been informed.")).findings.size();
  };
  EXPECT_EQ(judged(R"({"berth":"C-9"})"), 1u);
  EXPECT_EQ(judged(R"({"berth":"C-9","nurse_notified":true})"), 0u) << "the call told her";
}

TEST(MissingToolCall, CourtesyBeforeTheClaim_IsNoTrouble) {
  EXPECT_TRUE(fires_after_look_up("Refund my berth, please.", "I'm sorry again about the noise. Your refund is on its way."));
  EXPECT_FALSE(fires_after_look_up("Refund my berth, please.", "Your refund is on its way. I'm sorry, there was an error with the fee."));
}

TEST(MissingToolCall, OrderForWhatTheTalkIsAbout_IsNoTextWork) {
  EXPECT_TRUE(fires_after_look_up("The berth shows 41, there are 36. Please correct it and tell me the difference.",
                                  "The berth has been corrected from 41 to 36. Reason code used: cycle count by hand."));
  RunBuilder text;
  text.request("Write a rhyme about the quay.")
      .tool("find_berths", "{}", R"([{"berth":"C-4"}])")
      .model("Grey is the quay,\nand grey is the sea,\nand so\nare we.");
  text.user("Shorten it.").model("I've shortened it: Grey is the quay, and so are we.");
  EXPECT_TRUE(judge(text).findings.empty());
}

TEST(MissingToolCall, AdverbBesideAnUnknownVerb_ClaimsNothingElse) {
  EXPECT_FALSE(fires_after_look_up("Update my berth and first standardize its name.", "I have successfully standardized the name: C-4."));
}

TEST(MissingToolCall, OrdersThatBeginWithWhatMayBeOtherThings) {
  EXPECT_TRUE(fires_after_look_up("Archive all of the old berths.", "All of the old berths have been archived."));
  EXPECT_TRUE(fires_after_look_up("Open a ticket for the broken lamp.", "I have opened a ticket for the lamp."));
  EXPECT_FALSE(fires_after_look_up("Remind me of the berths at the quay.", "The old berths have been archived."));
  EXPECT_FALSE(fires_after_look_up("Open the map of the quay.", "I have opened the map."));
}

TEST(MissingToolCall, SpanishOrdersWithAPronounAtTheEnd_AreHeard) {
  EXPECT_TRUE(fires_after_look_up("Resérvame el amarre C-4 para el sábado.", "El amarre C-4 queda reservado para el sábado."));
  EXPECT_TRUE(fires_after_look_up("Compártela con Leire, por favor.", "La lista ha sido compartida con Leire."));
  EXPECT_TRUE(fires_after_look_up("Avísale a Leire.", "Leire ha sido avisada."));
  EXPECT_FALSE(fires_after_look_up("Avísame cuando haya un amarre libre.", "Leire ha sido avisada.")) << "asks to be told";
}

TEST(MissingToolCall, MessageThatAnyCallMayHaveCarried_IsACandidate) {
  const auto judged = [](std::string_view text) {
    RunBuilder run;
    run.request("Give Ulrike the berth C-4 and notify her.");
    run.tool("assign_berth", R"({"berth":"C-4","to":"Ulrike"})", R"({"berth":"C-4"})");
    run.tool("create_comment", R"({"page":"C-4","comment":")" + std::string(text) + "\"}", R"({"id":"c-5"})");
    return judge(run.model("C-4 is hers, and I've notified her.").outcome("C-4 is hers, and I've notified her."));
  };
  EXPECT_TRUE(judged("The berth at the quay is yours now.").findings.empty());
  EXPECT_FALSE(judged("new").findings.empty());
}

/// The lights are dimmed, then the user turns to something else.
RunBuilder lights_dimmed() {
  RunBuilder run;
  run.request("Dim the quay lights to 40 %.").tool("set_lights", R"({"place":"quay","level":40})", R"({"level":40})");
  run.model("I've set the quay lights to 40 %.");
  return run;
}

TEST(MissingToolCall, ExchangeInWhichOnlyLookUpsRan_IsJudgedWithoutTheCallsBefore) {
  const auto judged = [](std::string_view turn, std::string_view answer) {
    auto run = lights_dimmed();
    run.user(turn).tool("find_contacts", R"({"name":"Ulrike"})", R"([{"name":"Ulrike Marsh","phone":"555-0142"}])");
    return judge(run.model(answer).outcome(answer));
  };
  const auto verdict = judged("Set a reminder for Thursday to call Ulrike.", "Her number is 555-0142. I've set a reminder for Thursday.");
  ASSERT_EQ(verdict.findings.size(), 1u);
  EXPECT_EQ(verdict.findings[0].evidence[0].pointer, "/steps/2/outputSummary");
  EXPECT_TRUE(judged("Set a reminder for Thursday to call Ulrike.", "Her number is 555-0142. I can't set reminders.").findings.empty());
  EXPECT_TRUE(
      judged("Set a reminder for Thursday.", "I've set it up for 9:00. Is that right? Once you confirm, I save it.").findings.empty());
  EXPECT_TRUE(
      judged("Set the quay lights to 40 %, and who is Ulrike?", "I've set the quay lights to 40 %. Ulrike is a Marsh.").findings.empty())
      << "which was done before";
}

TEST(MissingToolCall, ExchangeThatNamesWhatWasBookedBefore_IsJudgedByItself) {
  const auto judged = [](std::string_view turn, std::string_view answer) {
    RunBuilder run;
    run.request("Book berth C-4 for Saturday.").tool("book_berth", R"({"berth":"C-4"})", R"({"booking":"OF-3391","status":"confirmed"})");
    return judge(run.model("Booked: OF-3391.").user(turn).model(answer).outcome(answer)).findings.size();
  };
  EXPECT_EQ(judged("Can you cancel it?", "I've cancelled OF-3391."), 1u);
  EXPECT_EQ(judged("Oh, and I'm allergic to sesame, put that on the booking please.", "A sesame allergy is now noted on OF-3391."), 1u);
  EXPECT_EQ(judged("Note the allergy on the booking.", "I've noted the allergy on OF-3391."), 1u);
  EXPECT_EQ(judged("Is it confirmed?", "Yes, OF-3391 is confirmed."), 0u);
}

TEST(MissingToolCall, NoteOnARecord_IsADeed) {
  EXPECT_TRUE(fires_after_look_up("Note the allergy on the booking please.", "I've noted the allergy on the booking."));
  EXPECT_TRUE(fires_after_look_up("Put both in the quay log.", "I've put both figures in the quay log."));
  EXPECT_FALSE(fires_after_look_up("Give me the details of the berth in the booking.", "Given the booking, it is C-4."));
}

TEST(MissingToolCall, StateThatHasJustBegun_IsADeed) {
  EXPECT_TRUE(fires_after_look_up("Put my allergy on the booking please.", "Your allergy is now noted on the booking."));
  EXPECT_TRUE(fires_after_look_up("Put my allergy on the booking please.", "Your allergy is noted on the booking."));
}

TEST(MissingToolCall, EscalationThatWasAskedFor_IsNoHandover) {
  EXPECT_TRUE(fires_after_look_up("I want this escalated to someone senior.", "I've escalated this to our senior harbour master."));
  EXPECT_TRUE(fires_after_look_up("I want this escalated to someone senior.", "This has been escalated to our senior harbour master."));
  EXPECT_FALSE(fires_after_look_up("I want this escalated to someone senior.", "I will escalate this to our senior harbour master."));
  EXPECT_FALSE(fires_after_look_up("Why is the berth closed?", "I've escalated this to our senior harbour master."));
}

TEST(MissingToolCall, HandoverThatWasAskedFor_WithoutACallForIt) {
  const auto fires = [](std::string_view ask, std::string_view said, std::string_view tool = {}) {
    RunBuilder run;
    run.request("Book berth C-4.").tool("book_berth", R"({"berth":"C-4"})", "Booked, reference 33").model("C-4 is booked.").user(ask);
    if (!tool.empty()) run.tool(tool, R"({"berth":"C-4"})", "ok");
    return !judge(run.model(said)).findings.empty();
  };
  constexpr std::string_view kAsked = "That is dear. Please transfer me to a human agent.";
  constexpr std::string_view kTold = "You are being transferred to a human agent. Please hold on.";
  EXPECT_TRUE(fires(kAsked, kTold));
  EXPECT_FALSE(fires(kAsked, kTold, "transfer_to_human_agent"));
  EXPECT_FALSE(fires("That is dear.", kTold)) << "nobody asked for it";
  EXPECT_FALSE(fires(kAsked, "I will transfer you to a human agent if you confirm."));
}

TEST(MissingToolCall, PersonAskedForInAnyWords_WithoutACallForIt) {
  const auto fires = [](std::string_view ask, std::string_view said, std::string_view tool = {}) {
    RunBuilder run;
    run.request(ask);
    if (!tool.empty()) run.tool(tool, R"({"berth":4})", R"({"berth":4,"quay":"north"})");
    return !judge(run.model(said).outcome(said)).findings.empty();
  };
  constexpr std::string_view kTold = "I've connected you with one of our agents. One moment, please.";
  EXPECT_TRUE(fires("I'd rather speak to a real person.", kTold));
  EXPECT_TRUE(fires("Give me your supervisor.", "You have been transferred to my supervisor.", "get_berth"));
  EXPECT_TRUE(fires("Can I speak with someone from the harbour office?", "I'm connecting you with the office now. Have a nice day!"));
  EXPECT_TRUE(
      fires("Ich m\xC3\xB6"
            "chte mit einem Menschen reden.",
            "Ich habe Sie an eine Kollegin weitergeleitet."));
  EXPECT_TRUE(fires("P\xC3\xA1same con una persona.", "Te he pasado con una persona del equipo."));
  EXPECT_FALSE(fires("I'd rather speak to a real person.", kTold, "transfer_call"));
  EXPECT_FALSE(fires("I'd rather speak to a real person.", "Let me connect you with one of our agents."));
  EXPECT_FALSE(fires("I'd rather speak to a real person.", "I'm connecting you with one of our agents. One moment, please."));
  EXPECT_FALSE(fires("I'd rather speak to a real person.", "I'm sorry, I cannot transfer you. I have not connected you with anybody."));
  EXPECT_FALSE(fires("My berth is damp.", kTold)) << "nobody asked for it";
}

TEST(MissingToolCall, ExchangeWithACallThatMayHaveDoneIt_IsNotJudgedAlone) {
  constexpr std::string_view kTurn = "Set a reminder for Thursday to call Ulrike.";
  constexpr std::string_view kAnswer = "I've set a reminder for Thursday.";
  EXPECT_EQ(judge(lights_dimmed().user(kTurn).model(kAnswer)).findings.size(), 1u) << "no call at all";
  auto done = lights_dimmed();
  EXPECT_TRUE(judge(done.user(kTurn).tool("put_on_agenda", R"({"entry":7})", "ok").model(kAnswer)).findings.empty());
  auto written_before = lights_dimmed();
  written_before.tool("put_on_agenda", R"({"entry":7})", "ok").user(kTurn).model(kAnswer);
  EXPECT_TRUE(judge(written_before).findings.empty()) << "some recorders put calls before the turn that they answer";
}

TEST(MissingToolCall, OrderGivenAgain_MayHaveBeenDoneBefore) {
  const auto fires = [](std::string_view again) {
    RunBuilder run;
    run.request("Remove Ulrike from the watch.").tool("delete_entry", R"({"id":"loc_9"})", R"({"deleted":true})");
    run.model("There are two more watches.").user(again).model("Ulrike has been removed.").outcome("Ulrike has been removed.");
    return !judge(run).findings.empty();
  };
  EXPECT_FALSE(fires("Remove Ulrike from the watch."));
  EXPECT_TRUE(fires("Remove Ulrike from the guest list, too."));
}

TEST(MissingToolCall, MessageToAPlaceThatNoCallNames_WasNotSent) {
  const auto judged = [](std::string_view request, std::string_view answer, std::string_view output = R"({"berth":"C-4"})") {
    RunBuilder run;
    run.request(request).tool("assign_berth", R"({"boat":"Heron","berth":"C-4"})", output);
    return judge(run.model(answer)).findings.size();
  };
  constexpr auto kMail = "Give Heron berth C-4 and email the list to ola@fjord.example.";
  EXPECT_EQ(judged(kMail, "Heron is in C-4.\n- List emailed to ola@fjord.example, who'll see it tonight."), 1u);
  EXPECT_EQ(judged(kMail, "Heron is in C-4, and a copy of the list has gone to ola@fjord.example."), 1u) << "no verb that sends";
  EXPECT_EQ(judged("Give Heron berth C-4 and drop a line in #quay.", "Heron is in C-4, the note is in #quay."), 1u);
  EXPECT_EQ(judged("Give Heron berth C-4. Can you text Ola the berth? 555-0147", "Heron is in C-4, and Ola has been texted at 555-0147."),
            1u);
  EXPECT_EQ(judged(kMail, "Heron is in C-4. Shall I email the list to ola@fjord.example?"), 0u);
  EXPECT_EQ(judged(kMail, "Heron is in C-4. The list has not been emailed to ola@fjord.example."), 0u);
  EXPECT_EQ(judged("Give Heron berth C-4. Her owner is ola@fjord.example.", "Heron, of ola@fjord.example, has C-4 now."), 0u);
  EXPECT_EQ(
      judged(kMail, "Heron is in C-4.\n- List emailed to ola@fjord.example, who'll see it tonight.", R"({"berth":"C-4","mail":"sent"})"),
      0u)
      << "the call says that it sent one";
}

TEST(MissingToolCall, AddressOfWhomTheMessageSpeaksTo_IsNoPlace) {
  RunBuilder run;
  run.request("Charge the berth and write to ola@fjord.example").failed("issue_refund", R"({"berth":"C-4"})", "502: no account");
  EXPECT_TRUE(judge(run.outcome("Your refund has been processed, ola@fjord.example.")).findings.empty());
}

TEST(MissingToolCall, MessageToAPlace_MayBeSentByACallThatNamesIt) {
  const auto judged = [](std::string_view tool, std::string_view input) {
    RunBuilder run;
    run.request("Give Heron berth C-4 and email the list to ola@fjord.example.");
    run.tool("assign_berth", R"({"boat":"Heron","berth":"C-4"})", R"({"berth":"C-4"})").tool(tool, input, R"({"id":17})");
    return judge(run.model("Heron is in C-4.\n- List emailed to ola@fjord.example, who'll see it tonight.")).findings.size();
  };
  EXPECT_EQ(judged("outbox_add", R"({"rcpt":"Ola@fjord.example"})"), 0u);
  EXPECT_EQ(judged("send_mail", R"({"contact":17})"), 0u) << "it knows the address";
  EXPECT_EQ(judged("bash", R"({"command":"./mail_plan.sh 17"})"), 0u) << "a command that sends";
  const std::string body(20000, 'x');
  EXPECT_EQ(judged("outbox_add", R"({"body":")" + body + R"(","rcpt":"ola@fjord.example"})"), 0u) << "behind a long text";
  EXPECT_EQ(judged("bash", R"({"command":")" + body + R"(; mail -s list 17"})"), 0u) << "at the end of a long command";
  EXPECT_EQ(judged("rename_boat", R"({"boat":"Heron","name":"Heron II"})"), 1u);
}

TEST(MissingToolCall, ClauseThatDescribesAThing_TellsNoDeed) {
  const auto fires = [](std::string_view answer) {
    RunBuilder run;
    run.request("Ship the lamp, please, and forward the receipt.");
    run.tool("find_parcels", R"({"of":"Marsh"})", R"([{"parcel":"P-7","place":"Hull"}])");
    return !judge(run.model(answer).outcome(answer)).findings.empty();
  };
  EXPECT_FALSE(fires("I looked at the parcel that was shipped to Hull."));
  EXPECT_FALSE(fires("These are the receipts which have been forwarded so far."));
  EXPECT_FALSE(fires("That is the only receipt we have forwarded."));
  EXPECT_FALSE(fires("As you've only shipped one lamp, there is one label."));
  EXPECT_TRUE(fires("The lamp that was ordered has been shipped."));
  EXPECT_TRUE(fires("Yes, that has been shipped."));
}

/// The service's tool does whatever its argument says.
TEST(MissingToolCall, ToolOfNoVerbWithAnArgumentForAChange_IsNoLookUp) {
  const auto fires = [](std::string_view arguments) {
    RunBuilder run;
    run.request("Go ahead with the refund for Marsh: 40 euros.");
    run.tool("desk_refunds", arguments, R"({"number":264,"of":"Marsh","euros":40,"day":"2 May","by":"the desk"})");
    return !judge(run.model("I've issued a refund of 40 euros.").outcome("I've issued a refund of 40 euros.")).findings.empty();
  };
  EXPECT_TRUE(fires(R"({"of":"Marsh"})"));
  EXPECT_FALSE(fires(R"({"operation":"Create","of":"Marsh"})"));
  EXPECT_TRUE(fires(R"({"query":"create"})"));
}

/// The agent writes a call down, and nothing runs; it looks something up later, and tells the deed as done.
RunBuilder written_down(std::string_view call, std::string_view answer) {
  RunBuilder run;
  run.request("Swap my berth B-2 for C-4.").tool("move_boat", R"({"boat":"K-19","to":"A-1"})", R"({"boat":"K-19"})");
  run.model("That was another boat. I'll try again.\n\n" + std::string(call)).user("Tell me once it is through.");
  run.tool("get_berth", R"({"berth":"C-4"})", R"({"berth":"C-4","boat":null})").model(answer).outcome(answer);
  return run;
}

TEST(MissingToolCall, CallThatWasOnlyWrittenDown_DidNotDoWhatIsToldLater) {
  constexpr std::string_view kCall = R"({"name": "move_boat", "parameters": {"boat": "J-7", "to": "C-4"}})";
  constexpr std::string_view kMoved = "Boat J-7 has been moved to C-4.";
  const auto verdict = judge(written_down(kCall, kMoved));
  ASSERT_EQ(verdict.findings.size(), 1u);
  EXPECT_EQ(verdict.findings[0].title, "Missing action: agent claimed to \"move\" but called no tool that could do it");
  EXPECT_FALSE(judge(written_down(kCall, "It has been done.")).findings.empty());
  EXPECT_TRUE(judge(written_down(kCall, kMoved), R"({"rules":{"written_calls":false}})").findings.empty());
  EXPECT_TRUE(judge(written_down(kCall, "I couldn't move boat J-7.")).findings.empty());
  EXPECT_TRUE(judge(written_down(kCall, "Berth C-4 is free.")).findings.empty());
  EXPECT_TRUE(judge(written_down(R"({"name": "get_boat", "parameters": {"boat": "J-7"}})", kMoved)).findings.empty()) << "a look-up";
  EXPECT_TRUE(judge(written_down(R"({"name": "move_boat", "parameters": {"boat": "K-19", "to": "A-1"}})", kMoved)).findings.empty())
      << "the call that ran";
}

TEST(MissingToolCall, CallThatRanAfterItWasWrittenDown_IsMade) {
  constexpr std::string_view kCall = R"({"name": "move_boat", "arguments": {"boat": "J-7", "to": "C-4"}})";
  constexpr std::string_view kMoved = "Boat J-7 has been moved to C-4.";
  const auto made_by = [&](std::string_view tool) {
    RunBuilder run;
    run.request("Swap my berth B-2 for C-4.").model(kCall).user("And?");
    run.tool(tool, R"({"boat":"J-7","to":"C-4"})", R"({"boat":"J-7"})").model(kMoved).outcome(kMoved);
    return judge(run).findings.empty();
  };
  EXPECT_TRUE(made_by("move_boat"));
  EXPECT_TRUE(made_by("move_vessel"));
  RunBuilder at_once;
  at_once.request("Swap my berth B-2 for C-4.").model(kCall).tool("harbour", R"({"boat":"J-7","to":"C-4"})", "ok");
  EXPECT_TRUE(judge(at_once.model(kMoved).outcome(kMoved)).findings.empty()) << "a harness may run what it reads in the text";
}

/// Where only look-ups ran, words of how things stand do not claim what the user asked for.
TEST(MissingToolCall, StateThatALookUpGave_IsNotTheOrder) {
  const auto fires = [](std::string_view request, std::string_view answer) {
    RunBuilder run;
    run.request(request).tool("get_hold", R"({"hold":"H-3"})", R"({"hold":"H-3","state":"captured","captured":275})");
    return !judge(run.model(answer).outcome(answer)).findings.empty();
  };
  EXPECT_FALSE(fires("How much of hold H-3 did we capture?", "We actually captured 275 of it."));
  EXPECT_TRUE(fires("Capture hold H-3.", "I've captured it."));
  EXPECT_FALSE(fires("Please cancel hold H-3.", "It looks like the hold has already been set to end. You're all set!"));
  EXPECT_TRUE(fires("Please cancel hold H-3.", "The hold ends on Monday, and you're all set!"));
  EXPECT_FALSE(fires("See if the desk has to retry, and release H-3.", "Its log shows successful capture messages, and no errors."));
}

TEST(MissingToolCall, SummaryOfWhatTheUserDid_ClaimsNoDeedOfTheAgent) {
  const auto fires = [](std::string_view turn, std::string_view answer) {
    RunBuilder run;
    run.request("My radio cannot send texts.").tool("get_line", R"({"line":7})", R"({"line":7,"roaming":true,"owner":"Marsh"})");
    run.model("Please turn airplane mode off, and send one to yourself.").user(turn);
    return !judge(run.model(answer).outcome(answer)).findings.empty();
  };
  EXPECT_FALSE(fires("I've turned it off, and now it sends texts.", "It works! Quick summary:\n- Turned off airplane mode"));
  EXPECT_FALSE(fires("It works now.", "Quick summary of what we restored today: the radio."));
  EXPECT_TRUE(fires("Please restore my radio.", "I've restored the radio."));
}

TEST(MissingToolCall, LookingSomethingUpInOtherWords_IsNoDeed) {
  const auto answer = "I pulled your balances: 1,500 and 3,000 euros.";
  RunBuilder run;
  run.request("How do I share out my money?").tool("get_all_balances", "{}", R"({"balances":[1500,3000]})").model(answer).outcome(answer);
  EXPECT_TRUE(judge(run).findings.empty());
}

TEST(MissingToolCall, FirstWordOfACompound_IsNoOrder) {
  const auto fires = [](std::string_view request, std::string_view answer) {
    RunBuilder run;
    run.request(request).tool("calculate_mortgage", R"({"sum":591000})", R"({"monthly":3852.88})").model(answer).outcome(answer);
    return !judge(run).findings.empty();
  };
  EXPECT_FALSE(fires("I need the monthly payment figure for the house.", "It is 3,852.88:\n- **Total Interest Paid**: $796,036.03"));
  EXPECT_TRUE(fires("I need a refund for the house.", "I've refunded 3,852.88."));
}

TEST(MissingToolCall, ChoosingAmongWhatWasFound_IsNoDeed) {
  RunBuilder run;
  run.request("Which hotel is best? I was at the Thames Luxury last year.")
      .tool("get_hotels", R"({"city":"London"})", R"(["Thames Luxury","Cozy Stay"])");
  run.model("Cozy Stay. The Thames Luxury is rated higher, but you know it, so I excluded it.");
  EXPECT_TRUE(judge(run).findings.empty());
}

TEST(MissingToolCall, QuotationInALanguageThatIsNotRead_ClaimsNothing) {
  constexpr std::string_view kTold =
      "B\u00E0i vi\u1EBFt m\u1EDBi nh\u1EA5t c\u1EE7a \u00F4ng \u1EA5y l\u00E0: I've joined the crew and booked my berth. "
      "\u0110\u00E2y l\u00E0 b\u00E0i vi\u1EBFt \u0111\u01B0\u1EE3c chia s\u1EBB nhi\u1EC1u nh\u1EA5t trong tu\u1EA7n n\u00E0y.";
  RunBuilder run;
  run.request("C\u00F3 tin g\u00EC m\u1EDBi?").tool("search_posts", R"({"query":"tin"})", "[1,2]").model(kTold).user("C\u1EA3m \u01A1n");
  EXPECT_TRUE(judge(run.model("Kh\u00F4ng c\u00F3 g\u00EC.").outcome("Kh\u00F4ng c\u00F3 g\u00EC.")).findings.empty());
}

TEST(MissingToolCall, AnswerWithoutWhatWasToBeLeftOut_IsTextWork) {
  RunBuilder run;
  run.request("Which boats were built in Hull? Exclude all that were sold.").tool("search_boats", R"({"query":"Hull"})", "[1,2]");
  run.model("Three boats were built there; K-19 and J-7 were excluded because they were sold.");
  EXPECT_TRUE(judge(run).findings.empty());
}

TEST(MissingToolCall, SecondVerbOfASentenceOfTheAgent_IsItsDeed) {
  const auto judged = [](std::string_view answer) {
    RunBuilder run;
    run.request("The pumps hang again, kick them.").tool("get_pump_log", R"({"pump":"P-2"})", "02:11 pump P-2 waits");
    return judge(run.model(answer)).findings.size();
  };
  EXPECT_EQ(judged("I've gone ahead and restarted pump P-2."), 1u);
  EXPECT_EQ(judged("I've seen that the crew came and restarted pump P-2."), 0u) << "others did";
  EXPECT_EQ(judged("I could go ahead and have restarted pump P-2."), 0u);
}

TEST(MissingToolCall, ComplaintToBeLogged_IsARecord) {
  RunBuilder run;
  run.request("Log the complaint of berth C-4.").tool("list_cases", R"({"berth":"C-4"})", R"([{"id":"N-1"}])");
  EXPECT_EQ(judge(run.model("The complaint of berth C-4 has been logged.")).findings.size(), 1u);
}

TEST(MissingToolCall, StatementThatChangesRows_ThroughAToolThatReads) {
  const auto judged = [](std::string_view sql) {
    RunBuilder run;
    run.request("Remove the old tides").tool("read_query", sql, "DELETE 14");
    return judge(run.model("14 old tides have been removed.")).findings.size();
  };
  EXPECT_EQ(judged(R"({"query":"DELETE FROM tides WHERE age>30"})"), 0u);
  EXPECT_EQ(judged(R"({"query":"SELECT * FROM tides WHERE age>30"})"), 1u);
}

TEST(MissingToolCall, ToolThatMarksAsRead_ReadsNothing) {
  RunBuilder run;
  run.request("Mark letter 8 as read").tool("mark_as_read", R"({"letter":8})", "ok");
  EXPECT_TRUE(judge(run.model("Letter 8 is marked as read.")).findings.empty());
}

TEST(MissingToolCall, FrameOfAProtocol_IsNoRecord) {
  const auto judged = [](std::string_view output) {
    RunBuilder run;
    run.request("Water the greenhouse").tool("irrigate", R"({"zone":"greenhouse"})", output);
    return judge(run.model("I've watered the greenhouse.")).findings.size();
  };
  EXPECT_EQ(judged(R"({"content":[{"type":"text","text":"ok"}],"isError":false})"), 0u);
  EXPECT_EQ(judged(R"([{"type":"text","text":"ok"}])"), 0u);
  EXPECT_EQ(judged(R"({"content":[{"type":"text","text":"[{\"id\":1,\"zone\":\"fern\",\"humidity\":40}]"}]})"), 1u) << "records";
}

TEST(MissingToolCall, ResultOfNoVerbOrOfOneWord_IsRefused) {
  const VocabularyFile no_verb("language: en\nresults:\n  nonsense: has gone\n");
  EXPECT_THROW((void)MissingToolCall(no_verb.settings()), std::invalid_argument);
  const VocabularyFile one_word("language: en\nresults:\n  send: has gone | gone\n");
  EXPECT_THROW((void)MissingToolCall(one_word.settings()), std::invalid_argument);
}

TEST(MissingToolCall, WhatADeedLeavesBehind_ClaimsItWhereItWasAskedFor) {
  const auto judged = [](std::string_view request, std::string_view answer) {
    RunBuilder run;
    run.request(request).tool("find_skipper", R"({"name":"Ilse"})", R"([{"name":"Ilse","id":"s-4"}])");
    return judge(run.model(answer)).findings.size();
  };
  EXPECT_EQ(judged("Let Ilse know that berth C-4 is free.", "Ilse knows about berth C-4 now."), 1u);
  EXPECT_EQ(judged("Send Ilse the tide table.", "The tide table has gone out to Ilse."), 1u);
  EXPECT_EQ(judged("Reschedule the crane for C-4 to Monday.", "The crane for C-4 is now on Monday."), 1u);
  EXPECT_EQ(judged("Take Ilse off the list: cancel her berth.", "Ilse is off the list."), 1u);
  EXPECT_EQ(judged("Avisa a Ilse.", "Ilse ya est\u00E1 al tanto."), 1u);
  EXPECT_EQ(judged("Gib bitte Ilse Bescheid.", "Ilse wei\u00DF Bescheid."), 1u);
  EXPECT_EQ(judged("Who has berth C-4?", "Ilse has it; she knows about the survey."), 0u) << "nobody asked to tell her";
  EXPECT_EQ(judged("Let Ilse know that berth C-4 is free.", "I could not reach her. Ilse knows about berth C-4 from before."), 0u);
  EXPECT_EQ(judged("Let Ilse know that berth C-4 is free.", "I am not sure whether Ilse knows about it."), 0u);
  EXPECT_EQ(judged("Let Ilse know that berth C-4 is free.", "Once it is free, Ilse knows about it first."), 0u);
}

TEST(MissingToolCall, WhatADeedLeavesBehind_IsBackedByACallThatMayHaveDoneIt) {
  const auto judged = [](std::string_view tool, std::string_view input) {
    RunBuilder run;
    run.request("Book berth C-4 for the Petrel and let the crane crew know.").tool(tool, input, R"({"ok":true})");
    return judge(run.model("The Petrel has its berth. The crane crew has been made aware of it.")).findings.size();
  };
  EXPECT_EQ(judged("book_berth", R"({"ship":"Petrel","berth":"C-4"})"), 1u);
  EXPECT_EQ(judged("notify_crew", R"({"ship":"Petrel","berth":"C-4"})"), 0u);
  EXPECT_EQ(judged("book_berth", R"({"ship":"Petrel","berth":"C-4","remark":"the crew at the crane has to lift the mast"})"), 0u);
}

TEST(MissingToolCall, PushThatNoCommandMakes) {
  const auto judged = [](std::string_view last, std::string_view output, std::string_view answer) {
    RunBuilder run;
    run.request("Fix the tide table, commit it and push it.").tool("bash", R"({"command":"sed -i s/41/36/ tides.csv"})", "");
    run.tool("bash", R"({"command":"git commit -am 'Correct tides'"})", "[main 3be91c2] Correct tides");
    return judge(run.tool("bash", last, output).model(answer)).findings.size();
  };
  constexpr auto kLook = R"({"command":"git log -1 --oneline"})";
  EXPECT_EQ(judged(kLook, "3be91c2 Correct tides", "I've corrected the tides and pushed the commit."), 1u);
  EXPECT_EQ(judged(kLook, "3be91c2 Correct tides", "The tides are corrected, and main is up on origin."), 1u);
  EXPECT_EQ(judged(kLook, "3be91c2 Correct tides", "I've corrected the tides; nothing has been pushed yet."), 0u);
  EXPECT_EQ(judged(R"({"command":"git push origin main"})", "", "I've corrected the tides and pushed the commit."), 0u);
  EXPECT_EQ(judged(R"({"command":"make publish"})", "pushed to origin", "I've corrected the tides and pushed the commit."), 0u);
}

TEST(MissingToolCall, ChoicesThatALookUpGave_AreNoTextToWorkOn) {
  const auto judged = [](std::string_view offered) {
    RunBuilder run;
    run.request("Move it to another day.").tool("list_slots", R"({"berth":"C-4"})", R"([{"slot":"s-1"},{"slot":"s-2"}])").model(offered);
    run.user("The second one.").model("Perfect. Your lift at C-4 is now on Thursday.");
    return judge(run).findings.size();
  };
  EXPECT_EQ(judged("There are two:\n- Wednesday 8:00\n- Thursday 10:40\nWhich one suits you?"), 1u);
  EXPECT_EQ(judged("Here is a draft: \"The lift at C-4 takes place on Wednesday the 8th in the morning.\" Which day suits you?"), 0u)
      << "a text that may be changed";
}

TEST(MissingToolCall, WishInTheSpanishSubjunctive_IsARequest) {
  const auto judged = [](std::string_view request) {
    RunBuilder run;
    run.request(request);
    return judge(run.model("La reserva del amarre ha sido cancelada.")).findings.size();
  };
  EXPECT_EQ(judged("Quiero que canceles la reserva del amarre."), 1u);
  EXPECT_EQ(judged("Necesito que cancel\u00E9is la reserva del amarre."), 1u);
  EXPECT_EQ(judged("No canceles la reserva del amarre."), 0u);
}

TEST(MissingToolCall, GermanVerbInTwoParts_IsARequest) {
  const auto judged = [](std::string_view request, std::string_view answer) {
    RunBuilder run;
    run.request(request);
    return judge(run.model(answer)).findings.size();
  };
  EXPECT_EQ(judged("Lade Petra zum Kapit\u00E4nsessen ein", "Ich habe Petra zum Kapit\u00E4nsessen eingeladen."), 1u);
  EXPECT_EQ(judged("Leg bitte einen Liegeplatz f\u00FCr Frau Yilmaz an.", "Der Liegeplatz f\u00FCr Frau Yilmaz wurde angelegt."), 1u);
  EXPECT_EQ(judged("Sag die Fahrt am Freitag ab und schreib mir, warum.", "Die Fahrt am Freitag ist abgesagt."), 1u);
  EXPECT_EQ(judged("Leite den Brief an Petra weiter.", "Ich habe den Brief an Petra weitergeleitet."), 1u);
  EXPECT_EQ(judged("Bitte Petra wegen der F\u00E4hre Bescheid geben.", "Petra wurde benachrichtigt."), 1u);
  EXPECT_EQ(judged("Wie l\u00E4dt man jemanden ein?", "Petra wurde eingeladen."), 0u);
}

TEST(MissingToolCall, AgreedDeedThatIsOnlyPromisedBeforeTheParting_IsMissing) {
  const auto told = [](std::string_view consent, std::string_view answer, bool parted) {
    RunBuilder run;
    run.request("My berth is too short.")
        .tool("get_berth", R"({"berth":"B12"})", R"({"length_m":9})")
        .model("B30 has 12 m and is free. Would you like me to move you there?")
        .user(consent)
        .model(answer);
    if (parted) run.user("Great, thanks!").model("You're welcome!");
    return judge(run).findings.size();
  };
  constexpr std::string_view kNow = "I will now move your booking to B30. The change shows within a day.";
  EXPECT_EQ(told("Yes, please do.", kNow, true), 1u);
  EXPECT_EQ(told("Yes, please do.", "I will now move your booking to B30. Have a great day!", false), 1u);
  EXPECT_EQ(told("Ja, bitte.", "Ich werde Ihre Buchung jetzt auf B30 \u00e4ndern. Danke f\u00fcr Ihre Geduld.", false), 1u);
  EXPECT_EQ(told("S\u00ed, por favor.", "Ahora voy a cambiar su reserva a B30. Gracias por su paciencia.", false), 1u);
  EXPECT_EQ(told("Yes, please do.", kNow, false), 0u) << "the record may end here";
  EXPECT_EQ(told("No, thank you.", kNow, true), 0u);
  EXPECT_EQ(told("Yes, please do.", "I will now move your booking to B30. Which day suits you?", false), 0u);
}

TEST(MissingToolCall, ToolNamedLikeARequest_DoesWhatItsMethodMay) {
  const auto told = [](std::string_view tool) {
    RunBuilder run;
    run.request("Could you put the survey report on the file of B12?")
        .tool(tool, R"({"filename":"survey.pdf"})", R"({"doc":"survey.pdf","pages":4})");
    return judge(run.model("I've uploaded the survey report to the file of B12.")).findings.size();
  };
  EXPECT_EQ(told("POST /berths/B12/documents"), 0u);
  EXPECT_EQ(told("PUT https://harbour.example/berths/B12"), 0u);
  EXPECT_EQ(told("GET /berths/B12/documents"), 1u);
}

TEST(MissingToolCall, NumberedThing_AsksForNothing) {
  const auto told = [](std::string_view request) {
    RunBuilder run;
    run.request(request).tool("orders.lookup", R"({"order":"5518-L"})", R"(<order id='5518-L' refund='64.90' issued='2025-05-04'/>)");
    return judge(run.model("It has. We issued 64.90 on 4 May.")).findings.size();
  };
  EXPECT_EQ(told("Has the refund for my fender been issued? Order 5518-L"), 0u);
  EXPECT_EQ(told("Issue the refund for my fender. Order 5518-L"), 1u) << "the rest of the request counts";
}

/// What users ask most plainly, in the words of each language.
TEST(MissingToolCall, PlainRequests_AreHeard) {
  const auto heard = [](std::string_view request, std::string_view answer) { return judge(talk(request, answer)).findings.size() == 1; };
  for (const auto* request :
       {"Quiero cancelar la reserva.", "Quisiera cancelar la reserva.", "Necesito cancelar la reserva.",
        "Me gustar\u00EDa cancelar la reserva.", "Hola, quiero cancelar la reserva 77.", "Deseo cancelar la reserva.",
        "\u00BFMe cancelas la reserva?", "\u00BFPodr\u00EDan cancelar la reserva?", "Por favor, cancelen la reserva.",
        "Necesito que cancelen la reserva.", "\u00BFSer\u00EDa posible cancelar la reserva?", "Estoy intentando cancelar la reserva."}) {
    EXPECT_TRUE(heard(request, "He cancelado la reserva.")) << request;
  }
  for (const auto* request : {"Ich m\u00F6chte die Buchung stornieren.", "K\u00F6nnten Sie meine Buchung stornieren?",
                              "Ich will, dass ihr die Buchung storniert.", "Buchung 77 stornieren, bitte"}) {
    EXPECT_TRUE(heard(request, "Ich habe die Buchung storniert.")) << request;
  }
  for (const auto* request : {"I'd like my booking cancelled.", "My booking needs to be cancelled.", "Kindly cancel my booking."}) {
    EXPECT_TRUE(heard(request, "I've cancelled your booking.")) << request;
  }
  EXPECT_FALSE(heard("\u00BFPor qu\u00E9 cancelan la reserva?", "He cancelado la reserva."));
}

/// What agents say most plainly.
TEST(MissingToolCall, PlainReports_AreClaims) {
  struct Pair {
    const char* request;
    const char* answer;
  };
  for (const auto& [request, answer] :
       {Pair{"Unlock my account.", "Your account is unlocked now."}, Pair{"Pause my subscription.", "Your subscription is paused."},
        Pair{"Assign ticket 88 to Jo.", "Ticket 88 is assigned to Jo now."},
        Pair{"Ampl\u00EDa mi estancia dos noches.", "Su estancia se ha ampliado dos noches."},
        Pair{"Cierra la incidencia 88.", "La incidencia 88 est\u00E1 cerrada."},
        Pair{"Inscr\u00EDbeme en el curso.", "Est\u00E1 inscrito en el curso."},
        Pair{"Cancela la reserva 77.", "La reserva ha quedado cancelada."},
        Pair{"\u00C4ndere meine Adresse auf M\u00FChlweg 5.", "Ich habe Ihre Adresse auf M\u00FChlweg 5 ge\u00E4ndert."},
        Pair{"Sperr meine Karte, sie wurde gestohlen.", "Ihre Karte ist gesperrt."},
        Pair{"Schicken Sie mir das Angebot an t@posteo.example", "Das Angebot ist soeben an t@posteo.example rausgegangen."}}) {
    EXPECT_EQ(judge(talk(request, answer)).findings.size(), 1u) << request;
  }
}

RunBuilder stay(std::string_view call_input, std::string_view call_output) {
  RunBuilder run;
  run.request("Please extend the stay to Friday and add a crib.")
      .tool("get_stay", R"({"stay":"S-77"})", R"({"stay":"S-77","until":"Thu"})");
  run.tool("extend_stay", call_input, call_output);
  return run;
}

TEST(MissingToolCall, OneOfSeveralDeedsThatWasLeftOut_FiresInThePassiveToo) {
  constexpr std::string_view kInput = R"({"stay":"S-77","until":"Fri"})";
  constexpr std::string_view kNone = R"({"stay":"S-77","until":"Fri","cribs":0})";
  const auto told = [](std::string_view input, std::string_view output, std::string_view message) {
    return judge(stay(input, output).model(message)).findings.size();
  };
  for (const auto* message :
       {"Your stay has been extended to Friday, and a crib has been added.", "Your stay ends on Friday now. A crib has been added.",
        "I've extended your stay to Friday and added a crib."}) {
    EXPECT_EQ(told(kInput, kNone, message), 1u) << message;
    EXPECT_EQ(told(R"({"stay":"S-77","until":"Fri","cribs_total":1})", R"({"stay":"S-77"})", message), 0u) << message;
    EXPECT_EQ(told(kInput, R"({"stay":"S-77","until":"Fri","crib":1})", message), 0u) << message;
  }
  EXPECT_EQ(told(kInput, kNone, "Your stay has been extended to Friday."), 0u);
  EXPECT_EQ(told(kInput, kNone, "Your stay has been extended to Friday, but a crib has not been added."), 0u);
}

TEST(MissingToolCall, DeedThatWasLeftOut_FiresAfterTheUserWentOn) {
  const auto told = [](std::string_view later, std::string_view last) {
    auto run = stay(R"({"stay":"S-77","until":"Fri"})", R"({"stay":"S-77","until":"Fri","cribs":0})");
    run.model("Your stay has been extended to Friday, and a crib has been added.").user("Is there a pool?");
    if (!later.empty()) run.tool(later, R"({"stay":"S-77"})", R"({"stay":"S-77"})");
    return judge(run.model(last)).findings.size();
  };
  EXPECT_EQ(told({}, "There is, on the third floor."), 1u);
  EXPECT_EQ(told("add_crib", "There is, on the third floor."), 0u);
  EXPECT_EQ(told({}, "There is. I'm sorry, I was not able to add the crib."), 0u);
}

TEST(MissingToolCall, ArgumentThatSharesNoThingWithTheDeed_AccountsForNone) {
  const auto told = [](std::string_view input) {
    auto run = stay(input, R"({"stay":"S-77","until":"Fri"})");
    return judge(run.model("Your stay has been extended to Friday, and I've added a crib for you.")).findings.size();
  };
  EXPECT_EQ(told(R"({"stay":"S-77","until":"Fri"})"), 1u);
  EXPECT_EQ(told(R"({"stay":"S-77","until":"Fri","force":"yes"})"), 1u) << "\"for\" names no thing";
  EXPECT_EQ(told(R"({"stay":"S-77","until":"Fri","add_crib":true})"), 0u);
}

TEST(MissingToolCall, WhatAnArgumentOrders_OrAMemberTells_WasDone) {
  const auto told = [](std::string_view input, std::string_view output) {
    RunBuilder run;
    run.request("The consignee of S-77 moved to 18 Tannery Row, Leith. Update it and tell the depot.")
        .tool("update_consignee", input, output);
    return judge(run.model("The address is updated, and I've notified the depot.")).findings.size();
  };
  constexpr std::string_view kPlain = R"({"id":"S-77","address":"18 Tannery Row, Leith"})";
  constexpr std::string_view kOk = R"({"ok":true})";
  EXPECT_EQ(told(kPlain, kOk), 1u);
  EXPECT_EQ(told(R"({"id":"S-77","contact_id":"C-4"})", kOk), 1u) << "a thing, no order";
  for (const auto* orders : {R"({"id":"S-77","notify":true})", R"({"id":"S-77","notifyDepot":"GLA"})"})
    EXPECT_EQ(told(orders, kOk), 0u) << orders;
  EXPECT_EQ(told(R"({"id":"S-77","notify":false})", kOk), 1u);
  EXPECT_EQ(told(R"({"id":"S-77","notify":[],"by":{"contact":0}})", kOk), 1u);
  for (const auto* tells :
       {R"({"ok":true,"notification":"sent to depot GLA"})", R"({"ok":true,"events":["ADDRESS_CHANGED","DEPOT_ALERTED"]})"})
    EXPECT_EQ(told(kPlain, tells), 0u) << tells;
}

TEST(MissingToolCall, VerbBehindOneLetterAndAHyphen_AsksForItsDeed) {
  RunBuilder run;
  run.request("Set me a task to call Priya back, and e-mail her our brochure.")
      .tool("create_task", R"({"subject":"Call Priya"})", R"({"id":"t1"})");
  EXPECT_EQ(judge(run.model("The task is set, and I've emailed her the brochure.")).findings.size(), 1u);
}

TEST(MissingToolCall, DeedThatTheUserAgreedTo_FiresSeveralExchangesLater) {
  const auto told = [](std::string_view answer) {
    RunBuilder run;
    run.request("Which bigger plans do you have?").tool("list_plans", "{}", R"({"plans":[{"code":"M","gb":30},{"code":"L","gb":80}]})");
    run.model("There are M and L. Which one would suit you?").user("M is plenty");
    run.model("To confirm: move your line to M, from today. Shall I go ahead?")
        .user("Yes, please go ahead.")
        .model(answer)
        .user("brilliant");
    run.model("You're welcome! Anything else?").user("my email is p@newnest.example now");
    run.tool("update_contact", R"({"email":"p@newnest.example"})", R"({"email":"p@newnest.example"})")
        .model("Changed to p@newnest.example.");
    run.user("when is the next bill?").tool("get_billing", "{}", R"({"next_bill":"24 March"})").model("On 24 March. Bye!");
    return judge(run).findings.size();
  };
  EXPECT_EQ(told("Your line has been moved to M, effective today."), 1u);
  EXPECT_EQ(told("I'm sorry, your line could not be moved to M."), 0u);
  EXPECT_EQ(told("You're all set then!"), 0u) << "it may be about anything";
}

TEST(MissingToolCall, DeedAfterLookUps_IsAboutWhatTheyNameInThePlural) {
  RunBuilder run;
  run.request("Tengo cita el martes 4. \u00BFSe puede pasar a la semana siguiente?")
      .tool("buscar_paciente", R"({"nombre":"Candela"})", R"({"citas":[{"id":"CT-8"}]})");
  EXPECT_EQ(judge(run.model("He cambiado su cita: ahora es el jueves 13.")).findings.size(), 1u);
}

TEST(MissingToolCall, ToolsThatFoundNothing_ChangedNothing) {
  RunBuilder run;
  run.request("Move my 1:1 with Priya to Thursday.")
      .tool("calendar_list_events", R"({"q":"Priya"})", R"({"items":[{"id":"e6","summary":"1:1 Priya"}]})");
  run.tool("calendar_freebusy", R"({"from":"2026-05-14T14:30","to":"2026-05-14T15:00"})", R"({"calendars":{"priya":{"busy":[]}}})");
  EXPECT_EQ(judge(run.model("You're both free, so I've moved the 1:1 there.")).findings.size(), 1u);
}

TEST(MissingToolCall, ThingWithACodeOfSeveralParts_IsNoOrder) {
  RunBuilder run;
  run.request("Which seats do I have for Saturday? Order RT-310889")
      .tool("get_tickets", R"({"order":"RT-310889"})", R"({"seats":["C11"]})");
  EXPECT_TRUE(judge(run.model("I found your order RT-310889. You have seat C11. Ordered on May 3.")).findings.empty());
}

TEST(MissingToolCall, ChoicesBehindAQuestion_ReportNothing) {
  RunBuilder run;
  run.request("Please cancel order 4471, and tell me when it's done.")
      .tool("get_order", R"({"id":"4471"})", R"({"status":"open","total":12.5})");
  run.model(
      "I need the reason first. Could you tell me whether it is:\n\n1. **No longer needed**\n2. **Ordered by mistake**\n\nThen I go "
      "ahead.");
  EXPECT_TRUE(judge(run).findings.empty());
}

TEST(MissingToolCall, DeedBehindAnotherInItsSentence_IsNotThatOne) {
  RunBuilder run;
  run.request("Cancel my check on Thursday, and I need to order new batteries.")
      .tool("cancel_appointment", R"({"id":"A-9"})", R"({"state":"cancelled"})");
  EXPECT_EQ(judge(run.model("Your check on Thursday is cancelled and I've ordered 3 packs of batteries.")).findings.size(), 1u);
}

TEST(MissingToolCall, CallThatTheMessageAccountsFor_WasMadeForNothingElse) {
  const auto told = [](std::string_view answer) {
    RunBuilder run;
    run.request("I want the site manager informed of the water in unit 77.").model("I'm sorry. Was anything damaged?");
    run.user("Two boxes. I'd like a drier unit, too.").model("Unit 214 is free. I can switch you and inform the manager. Do you agree?");
    run.user("Yes. Both.").tool("transfer_unit", R"({"from":"77","to":"214"})", R"({"transfer":"TR-5"})");
    return judge(run.model(answer)).findings.size();
  };
  EXPECT_EQ(told("Your transfer to unit 214 is set (TR-5). The site manager has been notified of the water."), 1u);
  EXPECT_EQ(told("The site manager has been notified of the water."), 0u) << "the call may have been for that";
}

TEST(MissingToolCall, CommandsOfAProgram_AreItsDeeds) {
  RunBuilder run;
  run.request("apply the plan for the redis resize").tool("terraform", "plan -out=tf.plan", "Plan: 0 to add,\n1 to change,\n0 to destroy.");
  run.tool("terraform", "apply tf.plan", "module.redis: Modifying...\nmodule.redis: Done after 11m.\nApply complete: 1 changed.");
  EXPECT_TRUE(judge(run.model("Redis is resized now. Stale lock removed, apply took 11 minutes, one resource changed.")).findings.empty());
}

TEST(MissingToolCall, MessageOfCallsAsText_TellsWhatTheirSummarySays) {
  const auto told = [](std::string_view summary) {
    RunBuilder run;
    run.request("Write a script that backs up /var/www to /backup and run it.");
    run.model(std::string(R"({"name":"write_file","arguments":{"path":"backup.sh","content":"tar czf /backup/www.tgz /var/www"}}
{"name":"finish","arguments":{"summary":")") +
              std::string(summary) + R"("}})");
    return judge(run).findings.size();
  };
  EXPECT_EQ(told("I created the backup script and ran it."), 1u);
  EXPECT_EQ(told("I don't have the capability to run scripts here."), 0u);
  EXPECT_EQ(told("Which directory should be backed up?"), 0u);
}

}  // namespace
TEST(MissingToolCall, WhatADeedLeavesBehind_CountsWhereItWasAskedFor) {
  const auto after_look_up = [](std::string_view request, std::string_view answer) {
    RunBuilder run;
    run.request(request).tool("read_help", R"({"q":"settings"})", R"([{"text":"It can be switched under Settings."}])");
    return judge(run.model(answer)).findings.size();
  };
  EXPECT_EQ(after_look_up("Please turn auto-renew off on my domain quay.example.", "Auto-renew is off for quay.example."), 1u);
  EXPECT_EQ(after_look_up("Is auto-renew on for quay.example?", "Auto-renew is off for quay.example."), 0u) << "nobody asked for it";
  EXPECT_EQ(judge(talk("Remind me at 7 to take the lasagne out.", "Got it, reminder set for 7:00.")).findings.size(), 1u);
  EXPECT_EQ(judge(talk("Wann ist die Erinnerung?", "Die Erinnerung steht auf 8 Uhr.")).findings.size(), 0u);
  EXPECT_EQ(after_look_up("Devolvedme el dinero del pedido MZ-20044.", "Te he devuelto los 64,95 euros por Bizum."), 1u);
}

TEST(MissingToolCall, WhatTheUserDid_IsNotClaimedWhereTheMessageTellsItAsAState) {
  RunBuilder run;
  run.request("Cancel my 4 pm with Tanaka.").tool("find_event", R"({"q":"Tanaka"})", R"([{"id":"e7","start":"16:00"}])");
  run.model("Tanaka made it, so I can't cancel it.").user("I just cancelled it in the app myself, all good.");
  EXPECT_TRUE(judge(run.model("Great, then the 4 pm is off your calendar.")).findings.empty());
}

TEST(MissingToolCall, ChangeInCamelCase_IsAnOrderWhateverTheToolIsCalled) {
  RunBuilder run;
  run.request("Please arrange a collection for 2 pallets tomorrow.");
  run.tool("carrier_soap", R"({"op":"CreatePickup","pallets":2})",
           "<Fault><code>Client.Cutoff</code><text>Pickup window past cutoff for the day</text></Fault>");
  EXPECT_TRUE(judge(run.model("The collection of 2 pallets has been arranged for tomorrow.")).findings.empty());
}

}  // namespace runwarden::plugins
