#pragma once

#include <cstdint>

namespace runwarden::plugins {

/// The role of a word or phrase in a sentence, one bit each.
enum Cue : std::uint64_t {
  kCueFinished = 1ull << 0,           // a claim by itself: "all set", "taken care of"
  kCueAuxiliary = 1ull << 1,          // "has", "was", "been": before a participle, something happened
  kCueNegation = 1ull << 2,           // "not", "never", "without"
  kCueCondition = 1ull << 3,          // "if", "once", "unless"
  kCueModal = 1ull << 4,              // "will", "could", "going to", "please": not a fact yet
  kCueAdmission = 1ull << 5,          // "unable to", "please try again"
  kCueGoodbye = 1ull << 6,            // "you're welcome", "have a great day"
  kCueHandover = 1ull << 7,           // "transferred to a human agent"
  kCueDeterminer = 1ull << 8,         // "your", "the": makes a participle after it an attribute
  kCueSelf = 1ull << 9,               // "i", "we"
  kCueAdverb = 1ull << 10,            // "successfully", "now": allowed between auxiliary and participle
  kCuePreposition = 1ull << 11,       // "for", "to", "by"
  kCueNothingFound = 1ull << 12,      // "no results", "could not find"
  kCueAble = 1ull << 13,              // "was able to", "managed to": a base form after it is a fact
  kCueOffer = 1ull << 14,             // "would you like", "let me know if"
  kCueSimulated = 1ull << 15,         // "simulated", "hypothetical": the statement is made up
  kCueConjunction = 1ull << 16,       // "and", "but": separates clauses
  kCueEmptyWord = 1ull << 17,         // "null", "none"
  kCueFinding = 1ull << 19,           // "can confirm": claims that something was found or checked
  kCuePlan = 1ull << 20,              // "let's": the rest is still to be done
  kCueChecked = 1ull << 21,           // "verified": about a fact, also as an attribute
  kCueAnyPurpose = 1ull << 22,        // in a tool's name: "terminal", "browser", "post"
  kCueNounSign = 1ull << 23,          // turns a verb's base form after it into a noun: "last order"
  kCueOther = 1ull << 24,             // "you", "they": their actions are not claims of the agent
  kCueTextProduct = 1ull << 25,       // "poem", "summary": making one needs no tool
  kCuePassive = 1ull << 26,           // "are", "been": before a participle, the subject is not the actor
  kCueAsking = 1ull << 27,            // "how", "did": opens a question for knowledge, not a request
  kCueByHand = 1ull << 28,            // "manually collected": the agent says that it used no tool
  kCueRetracted = 1ull << 29,         // "never mind": the user withdraws a request
  kCueExample = 1ull << 30,           // "for example", "e.g."
  kCueHypothesis = 1ull << 18,        // "if", "unless": no part of the sentence is a fact
  kCueNounModal = 1ull << 31,         // "plan", "attempt": expresses intent, but may be a noun
  kCueTrouble = 1ull << 32,           // "failed", "error", "sorry": overrides a bare success flag beside it
  kCuePastPassive = 1ull << 33,       // "was": with a date after it, refers to the past
  kCueAlready = 1ull << 34,           // "already": refers to the past
  kCueDenial = 1ull << 35,            // "false", "none": as the value after a label
  kCueHelpingModal = 1ull << 36,      // "can": right before an action
  kCueForYou = 1ull << 37,            // "for you"
  kCueAddressee = 1ull << 38,         // "you": the addressee of a request
  kCueInfinitive = 1ull << 39,        // "to": before a base form
  kCueNotObject = 1ull << 40,         // "today": after a verb, not the object of the action
  kCueWish = 1ull << 41,              // "want"
  kCuePlease = 1ull << 42,            // "please"
  kCueGoAhead = 1ull << 43,           // "ahead with": before the noun for an action
  kCueOpener = 1ull << 44,            // "hey": before an imperative
  kCueOwn = 1ull << 45,               // "my"
  kCueParticle = 1ull << 46,          // "on", "off": "turn it on"
  kCueTopicPreposition = 1ull << 47,  // "of": "remind me of"
  kCuePlace = 1ull << 48,             // "to", "from": before the place where something belongs
  kCuePointing = 1ull << 49,          // "these": refers to the conversation itself
  kCueSequenceNoun = 1ull << 50,      // "order": "in alphabetical order"
  kCueReason = 1ull << 51,            // "due to": before the reason for a statement
  kCuePromise = 1ull << 52,           // "voy a": the speaker is going to do something
  kCueForeign = 1ull << 53,           // "votre", "het": of an unsupported language
  kCueConsent = 1ull << 54,           // "yes", "go ahead": agrees to what was proposed
  kCueRelative = 1ull << 55,          // "that", "which": after a noun, the following words describe it
  kCueClosingQuestion = 1ull << 56,   // "anything else": asks for nothing in particular
  kCueNow = 1ull << 57,               // "now": a state that has just begun, "is now noted"
  kCueResult = 1ull << 58,            // "has gone out": what a deed leaves behind
  kCueOwnDeed = 1ull << 59,           // "did it myself": the user has done what was talked about
};

/// True when `cues` contains any of the wanted cues.
inline bool has(std::uint64_t cues, std::uint64_t wanted) {
  return (cues & wanted) != 0;
}

}  // namespace runwarden::plugins
