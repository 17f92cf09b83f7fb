// What fails: the groups of failures of a window, and what the window held.

import {button, command, emptyCard, facts, filters, h, heading, once, rows, select} from "./dom.js";
import {post} from "./api.js";
import {spark} from "./charts.js";
import {count, detector, interval, number, percent, severity, shortTime, stateBadge, time, trend, undecided, windowField, windowMs, windowWords} from "./format.js";

const PAGE = 50;
const JUDGED = 200;  // runs whose verdicts are looked at when nothing failed
const STATES = [["open", "Open"], ["new", "New"], ["ongoing", "Ongoing"], ["regressed", "Came back"], ["resolved", "Resolved"], ["ignored", "Ignored"], ["all", "All states"]];
const SEVERITIES = [["", "Any severity"], ["critical", "Critical"], ["high", "High"], ["medium", "Medium"], ["low", "Low"]];
const SORTS = [["recent", "Last seen"], ["count", "Most failures in all"], ["share", "Largest share"], ["first", "First seen"]];
const SEARCH_DELAY_MS = 250;

export const groupPath = (id, window) => `/ui/groups/${encodeURIComponent(id)}${window ? `?window=${encodeURIComponent(window)}` : ""}`;

export async function show(context) {
  const {query, get, list, set, act, frame, navigate} = context;
  const window = query.get("window") || "7d";
  const wanted = {window, state: query.get("state") || "open", detector: query.get("detector") || "", severity: query.get("severity") || "",
    q: query.get("q") || "", sort: query.get("sort") || "recent"};
  const [{first, items, more}, detectors, {items: [newest]}] = await Promise.all([list("/v1/clusters", {...wanted, limit: PAGE}), get("/v1/detectors"),
    get("/v1/runs", {view: "head", limit: 1})]);
  const age = h("p.quiet@newest-run");
  const isNewest = (at) => age.replaceChildren("Newest run: ", time(at));
  if (newest) isNewest(newest.receivedAt);
  const filtered = wanted.detector !== "" || wanted.severity !== "" || wanted.q !== "" || wanted.state !== "open";
  const triage = once(async (action, done) => {
    const id = frame.main.querySelector('[data-test="group"][aria-current="true"]')?.dataset.id;
    if (id && frame.may("manage")) await act(post(`/v1/clusters/${encodeURIComponent(id)}/triage`, {action}), done);
  });
  return {
    title: "Groups", followsDecisions: true,
    nodes: [heading("What fails"), totals(first, wanted, newest ? age : null), filterBar(wanted, detectors.items, context),
      first.building !== undefined ? h("p.note", `The groups of older failures are being put together: ${percent(first.building)} done.`) : null,
      first.leftOut > 0 ? h("p.note", `${count(first.leftOut, "failure")} beyond limits.max_clusters belong to no group; find them among the runs.`) : null,
      items.length > 0 ? rows("groups", "Groups of failures", items.map((item) => row(item, wanted)))
        : await emptyState({get, filtered, first, window, detectors: detectors.items, clear: () => navigate("/ui/groups")}), more],
    keys: {e: () => triage("resolve", "Resolved"), i: () => triage("ignore", "Ignored")},
    live: (news) => {
      const run = news.findLast((item) => item.topic === "runs");
      if (run) isNewest(run.at);
      return news.filter((item) => item.topic === "failures" || items.length === 0);
    },
  };
}

function totals({totals: {runs, affectedRuns, failures, byDetector}}, {window, detector: chosen}, age) {
  const share = runs > 0 ? ` (${percent(affectedRuns / runs)})` : "";
  return h("div.totals", h("p.lead", h("strong", count(failures, "failure")), ` in ${number(affectedRuns)} of ${count(runs, "run")}${share}, ${windowWords(window)}`), age,
    facts(Object.entries(byDetector).sort((a, b) => b[1].failures - a[1].failures).map(([key, one]) => [detector(key),
      h("a", {href: `/ui/groups?${new URLSearchParams({window, detector: key})}`, "aria-current": key === chosen ? "true" : null},
        `${number(one.failures)} in ${count(one.groups, "group")}`)])));
}

function filterBar(wanted, detectors, {set, signal}) {
  const field = (name, label, options) => select(name, label, options, wanted[name], (value) => set({[name]: value}), name === "sort" ? null : `filter-${name}`);
  let timer = null;
  signal.addEventListener("abort", () => clearTimeout(timer));
  const typed = (event) => {
    clearTimeout(timer);
    if (!event.isComposing) timer = setTimeout(() => set({q: search.value}), SEARCH_DELAY_MS);
  };
  const search = h("input@search", {type: "search", name: "q", id: "search", value: wanted.q, placeholder: "Title or error text", maxlength: "256", autocomplete: "off",
    on: {input: typed, compositionend: typed, keydown: (event) => { if (event.key === "Enter" && !event.isComposing) set({q: search.value}); }}});
  return filters("Groups", windowField(wanted.window, set), field("state", "State", STATES), field("detector", "Detector", detectorOptions(detectors, wanted.detector)),
    field("severity", "Severity", SEVERITIES), field("sort", "Order", SORTS), h("label.field.wide", h("span", "Search"), search));
}

// The chosen one may no longer be enabled.
export function detectorOptions(detectors, chosen) {
  const gone = chosen && !detectors.some((one) => one.key === chosen) ? [[chosen, detector(chosen)]] : [];
  return [["", "Any detector"], ...detectors.map((one) => [one.key, one.title || detector(one.key)]), ...gone];
}

// What distinguishes groups with the same title: the fingerprint without the detector and without empty parts at its end.
const ownPart = ({fingerprint, detectorKey}) =>
  (fingerprint.startsWith(`${detectorKey}:`) ? fingerprint.slice(detectorKey.length + 1) : fingerprint).replace(/:+$/, "");

function row(group, {window, sort}) {
  const {failures, share, runs} = group.window;
  return h("li.group@group", {"data-row": group.clusterId, "data-id": group.clusterId, "data-fingerprint": group.fingerprint,
    "data-detector": group.detectorKey, "data-severity": group.severity, "data-state": group.state, "data-trend": group.trend},
  h("div.what", h("a.title", {href: groupPath(group.clusterId, window), id: `g-${group.clusterId}`, "data-test": "group-title"}, group.title),
    h("p.quiet", severity(group.severity), stateBadge(group.state, {"data-test": "group-state"}), h("span", detector(group.detectorKey)),
      h("code", {title: "Fingerprint"}, ownPart(group)))),
  spark(group.buckets, `Failures over the ${windowWords(window)}, ${trend(group.trend)}: ${group.buckets.join(", ")}`),
  h("div.figures", h("strong@group-count", count(failures, "failure")),
    sort === "count" ? h("span", `${number(group.count)} in all`) : null, h("span.quiet", trend(group.trend))),
  h("div.figures@group-share", h("strong", `${percent(share.value)} of runs`),
    h("span.quiet", {title: `of ${count(runs, "run")}; 95 % interval`}, interval(share))),
  h("div.figures.when", h("span", "since ", shortTime(group.firstSeen, {"data-test": "group-first"})),
    h("span.quiet", "last ", shortTime(group.lastSeen, {"data-test": "group-last"}))));
}

async function emptyState({get, filtered, first, window, detectors, clear}) {
  if (filtered) {
    return emptyCard("No group fits this filter", h("p", `The window has ${count(first.totals.failures, "failure")}.`), button("Clear the filter", clear));
  }
  const runs = await get("/v1/runs", {view: "head", limit: JUDGED, state: "resolved"});
  if (runs.items.length === 0) {
    const {items} = await get("/v1/runs", {view: "head", limit: 1});
    return items.length === 0 ? noRunYet() : emptyCard("No run has ended yet", h("p", "A run is judged when it ends. "), h("a", {href: "/ui/runs?state=open"}, "Look at those that go on"));
  }
  if (!detectors.some((one) => one.mode === "live" && one.enabled)) {
    return emptyCard("Nothing judges the runs", h("p", "No detector is live. Enable some in the configuration, under ", h("code", "detectors"), "."));
  }
  if (first.totals.runs === 0) {
    return emptyCard("No run in this window", h("p", "The newest run came in ",
      shortTime(runs.items[0].receivedAt), ". "), h("a", {href: "/ui/groups?window=90d"}, "Look at the last 90 days"));
  }
  const since = Date.now() - windowMs(window);
  const seen = runs.items.filter((run) => Date.parse(run.receivedAt) >= since);
  const reasons = new Map();
  let unjudged = 0;
  for (const run of seen) {
    const open = run.detectors?.length === 0 ? ["No detector was live"] : undecided(run.detectors).map((one) => `${detector(one.key)}: ${one.reason ?? one.status}`);
    if (open.length > 0) unjudged += 1;
    for (const words of open) reasons.set(words, (reasons.get(words) ?? 0) + 1);
  }
  const these = seen.length < JUDGED ? "them" : `the latest ${number(JUDGED)}`;
  const top = [...reasons].sort((a, b) => b[1] - a[1]).slice(0, 5);
  return emptyCard("Nothing failed",
    h("p", `${count(first.totals.runs, "run")} looked at, ${windowWords(window)}. `, unjudged === 0
      ? `Every detector could judge each of ${these}.` : `Of ${these}, ${number(unjudged)} could not be judged by at least one detector:`),
    top.length > 0 ? h("ul", top.map(([words, times]) => h("li", `${words} (${count(times, "run")})`))) : null);
}

const SAMPLE = ["{", '  "userRequestText": "Refund order 8842",', '  "success": true,', '  "outcomeSummary": "Your refund has been processed.",',
  '  "metadata": {"model": "gpt-4o", "version": "2.4.1", "costUsd": 0.02, "inputTokens": 1200},',
  '  "steps": [{"stepKind": "tool", "stepName": "issue_refund", "status": "failed", "errorMessage": "502 Bad Gateway"}]}'].join("\n");

export function noRunYet() {
  return emptyCard("No run yet", h("p", "Send one. In this run the refund failed, and the agent said that it went through. $KEY is a key with the scope ingest."),
    command("A command that sends a run", `curl -s "${location.origin}/v1/ingest/runs" -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' -d '${SAMPLE}'`),
    h("p.quiet", "It shows here within two seconds."));
}
