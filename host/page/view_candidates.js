// What detectors nearly found, newest first, and what a model says of it.

import {apart, button, emptyCard, filters, h, heading, rows, select} from "./dom.js";
import {clipName, count, detector, number} from "./format.js";
import {opinion} from "./opinion.js";
import {detectorOptions} from "./view_groups.js";
import {runLink} from "./view_runs.js";

const PAGE = 50;
const STATES = {waiting: ["Waiting", "medium"], confirmed: ["Confirmed", "high"], denied: ["Denied", "low"], unclear: ["Unclear", "none"], dead: ["Given up", "none"]};

export async function show({query, get, list, set, navigate}) {
  const wanted = {state: query.get("state") || "", detector: query.get("detector") || ""};
  const [detectors, {items, more}] = await Promise.all([get("/v1/detectors"), list("/v1/candidates", {...wanted, limit: PAGE})]);
  const field = (name, label, options) => select(name, label, options, wanted[name], (value) => set({[name]: value}), `filter-${name}`);
  return {
    title: "Candidates", followsDecisions: true,
    nodes: [h("article@candidates-page", heading("Candidates"),
      filters("Candidates", field("state", "State", [["", "Any state"], ...Object.entries(STATES).map(([state, [words]]) => [state, words])]),
        field("detector", "Detector", detectorOptions(detectors.items, wanted.detector))),
      items.length > 0 ? rows("entries.candidates", "Candidates", items.map(row)) : wanted.state || wanted.detector
        ? emptyCard("No candidate fits this filter", button("Clear the filter", () => navigate("/ui/candidates")))
        : emptyCard("No candidate", h("p", "A candidate is what a detector nearly found and was not sure of; once ", h("code", "second_opinion"),
          " is enabled in the configuration, a model reads each such run and says whether it is a failure.")), more)],
    live: (news) => news,
  };
}

function row(one) {
  const [state, level] = STATES[one.state] ?? [one.state, "none"];
  const step = one.primaryStepId;
  return h("li@candidate", {"data-row": one.candidateId, "data-id": one.candidateId, "data-state": one.state, "data-detector": one.detectorKey},
    h("span.badge", {"data-level": level}, state),
    h("div.what", runLink(one.runId, one.revision ?? 1, {class: "title", id: one.candidateId}, step ? `#step=${encodeURIComponent(step)}` : "", [detector(one.detectorKey), " in ", apart(one.runId)]),
      h("p", one.reason), h("p.quiet", h("span", "Rule ", h("code", one.rule)), step ? h("span", "at step ", h("code", clipName(step))) : null,
        typeof one.confidence === "number" ? h("span", `confidence ${number(one.confidence)}`) : null, one.failureId ? h("span", "now a failure of the run") : null),
      one.lastError ? h("p", `${count(one.attempts ?? 0, "attempt")} to ask failed, the last one by `, h("code", one.lastError)) : null,
      one.review ? opinion(one.review, one) : null));
}
