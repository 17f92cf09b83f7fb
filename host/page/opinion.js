// What a model says of a run: its word, why, and what it quotes.

import {h} from "./dom.js";
import {clip, count, duration, time} from "./format.js";
import {runLink} from "./view_runs.js";

const QUOTE_CHARACTERS = 300;
const WORDS = {present: "found the failure in the run", absent: "found no such failure in the run", unclear: "could not tell"};
const COUNTS_AS = {right: "right", false_alarm: "a false alarm", unsure: "unsure", missed: "missed by the detector", clean: "clean"};

// Where a run's page shows what a JSON Pointer leads to.
function placeOf(pointer) {
  const step = /^\/steps\/(\d+)/.exec(pointer);
  return step ? `#step-${Number(step[1]) + 1}` : {"/userRequestText": "#request", "/outcomeSummary": "#answer"}[pointer] ?? "";
}

// `said`: a review by a model, of that run and revision.
export function opinion(said, {runId, revision = 1}) {
  return h("div.note@opinion", {"data-author": said.author, "data-verdict": said.verdict, "data-opinion": said.opinion},
    h("p", h("strong", said.author), ` ${WORDS[said.opinion] ?? said.opinion}; it counts as ${COUNTS_AS[said.verdict] ?? said.verdict}.`), h("p", said.reason),
    said.evidence.length > 0 ? h("ul.plain", said.evidence.map(({pointer, quote}) => h("li", {"data-pointer": pointer},
      runLink(runId, revision, {}, placeOf(pointer), h("code", pointer || "the run")), ": ", h("q", clip(quote, QUOTE_CHARACTERS))))) : null,
    h("p.quiet", time(said.at), `, prompt ${said.promptVersion}, `, said.tokens > 0 ? `${count(said.tokens, "token")}, ` : null, duration(said.milliseconds)));
}
