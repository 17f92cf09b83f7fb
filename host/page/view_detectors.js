// Who judges: each detector with what it is, what it is set to and what it said of late.

import {emptyCard, facts, filters, h, heading, sample} from "./dom.js";
import {count, interval, number, percent, windowField, windowMs, windowWords} from "./format.js";

const LATEST = 500;
const STATUSES = [["fired", "found a failure"], ["clean", "found nothing"], ["not_evaluable", "could not tell"], ["error", "failed"], ["timeout", "took too long"]];

export async function show({query, get, list, set}) {
  const window = query.get("window") || "7d";
  const since = new Date(Date.now() - windowMs(window)).toISOString();
  const [{items}, {items: runs, more}, {totals}] = await Promise.all([get("/v1/detectors"),
    list("/v1/runs", {view: "head", state: "resolved", since, limit: LATEST}, `Count ${LATEST} more`), get("/v1/clusters", {window, limit: 1})]);
  const counted = more ? `the latest ${number(runs.length)} of ${count(totals.runs, "run")}` : count(runs.length, "run");
  return {
    title: "Detectors", followsDecisions: true,
    nodes: [heading("Detectors"), filters("Detectors", windowField(window, set)),
    h("p.quiet", runs.length === 0 ? `No run was judged, ${windowWords(window)}.`
      : `What they said of ${counted}, ${windowWords(window)}.`), more,
    ...items.length === 0 ? [emptyCard("No detector is enabled", h("p", "Enable some in the configuration, under detectors."))] : items.map((one) => card(one, runs))],
    live: (news) => news.filter((item) => item.topic === "failures" || item.run.state === "resolved"),
  };
}

// How right it is, by what people said.
function precision({right, falseAlarm, missed, precision: rate}) {
  return h("p@precision", {"data-value": rate?.value, "data-low": rate?.low, "data-high": rate?.high},
    rate ? [h("strong", percent(rate.value)), ` of ${count(right + falseAlarm, "reviewed failure")} were right (${interval(rate)})`]
      : `${count(right + falseAlarm, "reviewed failure")}: too few to tell how often it is right`, missed > 0 ? `; ${number(missed)} missed` : null, ". Last 90 days.");
}

function card(one, runs) {
  const counts = new Map();
  for (const run of runs) {
    const status = (run.detectors ?? []).find((report) => report.key === one.key)?.status;
    if (status) counts.set(status, (counts.get(status) ?? 0) + 1);
  }
  const badge = (text, level) => h("span.badge", {"data-level": level}, text);
  return h("section.card@detector", {"data-key": one.key, "data-mode": one.mode, "data-row": one.key}, h("h2", one.title || one.key),
    h("p.badges", h("code", one.key), one.version ? h("span", `Version ${one.version}`) : null, badge(one.mode === "shadow" ? "On trial (shadow)" : "Live", "none"), one.enabled ? null : badge("Switched off for this tenant", "medium"),
      one.quarantined ? badge("In quarantine", "high") : null, one.loaded ? null : badge("Not loaded", "high")),
    one.quarantined ? h("p", one.quarantineReason ?? "It failed too often, and is skipped until a reload.") : null, one.fault ? h("p", one.fault) : null,
    h("ul.counts", STATUSES.map(([status, words]) => h("li", {"data-status": status}, h("strong", number(counts.get(status) ?? 0)), ` ${words}`))),
    precision(one.reviews),
    h("details", {"data-keep": `d-${one.key}`}, h("summary", "Settings and library"), facts([["Library", h("code", one.source)], ["SHA-256", one.sha256 ? h("code", one.sha256) : "not found"], ["ABI", one.abi],
      ["Settings hash", one.provenance ? h("code", one.provenance.settingsHash) : null]]), sample(`Settings of ${one.key}`, JSON.stringify(one.settings, null, 2))));
}
