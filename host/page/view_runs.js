// The runs, newest first.

import {apart, button, emptyCard, filters, h, hasNoAddress, heading, named, rows, select} from "./dom.js";
import {clip, count, severity, shortTime, time, undecided, usd} from "./format.js";
import {detectorOptions, groupPath, noRunYet} from "./view_groups.js";

const PAGE = 50;
const OPEN_ON_TOP = 20;
const REQUEST_CHARACTERS = 140;

export function runLink(id, revision, attributes, place = "", words = apart(named(id))) {
  if (hasNoAddress(id)) return h("span", attributes, words);
  return h("a", {href: `/ui/runs/${encodeURIComponent(id)}${revision ? `?revision=${revision}` : ""}${place}`, ...attributes}, words);
}

export async function show({query, get, list, set, frame, navigate}) {
  const wanted = {};
  for (const name of ["state", "detector", "minScore", "since", "until", "cluster"]) wanted[name] = query.get(name) || "";
  const filtered = Object.values(wanted).some((value) => value !== "");
  const [detectors, closed, open] = await Promise.all([get("/v1/detectors"), list("/v1/runs", {...wanted, view: "head", limit: PAGE}),
    frame.live && !filtered ? get("/v1/runs", {state: "open", view: "head", limit: OPEN_ON_TOP}) : {items: []}]);
  const onTop = new Set(open.items.map((run) => run.runId));
  const items = [...open.items, ...closed.items.filter((run) => !onTop.has(run.runId))];
  const field = (name, label, options, testName) => select(name, label, options, wanted[name], (value) => set({[name]: value}), testName);
  return {
    title: "Runs",
    nodes: [heading("Runs"), filters("Runs", field("state", "State", [["", "Any state"], ["open", "Open"], ["resolved", "Resolved"]], "filter-state"),
      field("detector", "Detector", detectorOptions(detectors.items, wanted.detector), "filter-detector"),
      field("minScore", "Score", [["", "Any score"], ["1", "Failed runs"], ["50", "From 50"], ["80", "From 80"], ["95", "From 95"]]),
      wanted.cluster ? h("p.quiet", "Of ", h("a", {href: groupPath(wanted.cluster)}, "one group"), ". ", button("All runs", () => set({cluster: ""}), {class: "small"})) : null,
      timeRange(wanted, set), openById(navigate)),
    items.length > 0 ? rows("runs", "Runs", items.map(row)) : filtered
      ? emptyCard("No run fits this filter", button("Clear the filter", () => navigate("/ui/runs"))) : noRunYet(), closed.more],
    live: (news) => news,
  };
}

function openById(navigate) {
  const open = () => {
    const id = field.value.trim();
    if (id !== "" && !hasNoAddress(id)) navigate(`/ui/runs/${encodeURIComponent(id)}`);
  };
  const field = h("input@open-run", {type: "search", name: "runId", id: "open-run", autocomplete: "off", spellcheck: "false",
    on: {keydown: (event) => { if (event.key === "Enter" && !event.isComposing) open(); }}});
  return h("div.field.wide", h("label", {for: "open-run"}, "Open a run by its id"), h("span.together", field, button("Open", open)));
}

// Only the address sets the range of time, and may hold anything: what is no time is shown as it is.
function timeRange({since, until}, set) {
  if (since === "" && until === "") return null;
  const end = (word, at) => at === "" ? [] : [word, " ", Number.isNaN(Date.parse(at)) ? at : time(at)];
  return h("p.quiet", {"data-test": "filter-time"}, "Received ", end("from", since), since !== "" && until !== "" ? " " : "", end("until", until), ". ",
    button("Any time", () => set({since: "", until: ""}), {class: "small"}));
}

function row(run) {
  const failures = run.failures ?? [];
  const request = run.userRequestText ?? "";
  const model = run.metadata?.model;
  return h("li.run", {"data-row": run.runId, "data-id": run.runId},
    h("div.what", runLink(run.runId, null, {class: "title"}),
      h("p.clip", clip(request, REQUEST_CHARACTERS) || "No request text")),
    h("div.found", run.state === "open" ? h("span.badge", {"data-state": "open"}, "Open") : failures.length === 0 ? h("span.quiet", unjudged(run)) : null,
      failures.slice(0, 3).map((one) => h("p", severity(one.severity), " ", apart(one.title)))),
    h("div.figures", shortTime(run.receivedAt), h("span.quiet", [count(run.stepCount ?? 0, "step"),
      typeof model === "string" ? [", ", apart(model)] : "", typeof run.metadata?.costUsd === "number" ? `, ${usd(run.metadata.costUsd)}` : ""])));
}

function unjudged(run) {
  if (run.detectors?.length === 0) return "Not judged";
  const open = undecided(run.detectors).length;
  return open === 0 ? "No failure" : `No failure; ${count(open, "detector")} could not tell`;
}
