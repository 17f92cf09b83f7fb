// One group: since when, which change brought it, which runs to look at, and what was done about it.

import {apart, button, copyButton, facts, form, h, heading, sample, select, test} from "./dom.js";
import {post} from "./api.js";
import {timeline} from "./charts.js";
import {STATE_WORDS, absolute, clipName, copyRef, count, detector, interval, number, percent, severity, shortTime, stateBadge, time, trend,
  usd, windowField, windowMs} from "./format.js";
import {groupPath} from "./view_groups.js";
import {runLink} from "./view_runs.js";
import {changeName, changeWords} from "./view_changes.js";

const ACTIONS = {resolve: "Resolved", ignore: "Ignored", reopen: "Reopened", regressed: "Came back", ignore_ended: "Ignoring ended"};
const UNTIL = [["", "until reopened"], ["day", "for a day"], ["week", "for a week"], ["100", "until 100 more failures"], ["share", "until 5 % of the runs"]];

const OPTION_CHARACTERS = 120;

const untilOf = (chosen) => ({
  day: {at: new Date(Date.now() + windowMs("24h")).toISOString()}, week: {at: new Date(Date.now() + windowMs("7d")).toISOString()},
  100: {failures: 100}, share: {share: 0.05},
})[chosen];

const falseAlarms = ({reason}) => (reason ? ": all its failures were false alarms" : "");

function untilWords(until) {
  if (!until) return null;
  if (until.at) return `until ${absolute(until.at)}`;
  return until.failures !== undefined ? `until ${count(until.failures, "more failure")}` : `until ${percent(until.share)} of the runs`;
}

export async function show(context) {
  const {parameters: [id], query, get, list, set, act, frame, listOf} = context;
  const window = query.get("window") || "7d";
  const path = `/v1/clusters/${encodeURIComponent(id)}`;
  const up = listOf(`/ui/groups?window=${encodeURIComponent(window)}`);
  const [group, line, {items: differences}, decisions] = await Promise.all([get(path, {window}),
    get("/v1/timeline", {cluster: id, window, buckets: 30}), get(`${path}/differences`, {window}), list(`${path}/history`, {limit: 50}, "Show more decisions")]);
  const suspect = group.suspectChange;
  const marks = line.marks.map((mark) => ({...mark, suspect: suspect ? mark.changeId === suspect.changeId : mark.suspect}));
  const triage = (body, said) => act(post(`${path}/triage`, body), ACTIONS[body.action], said);
  const press = (action) => test(`triage-${action}`, frame.main)?.click();
  const {failures, affectedRuns, runs, share} = group.window;
  return {
    title: group.title, up, followsDecisions: true,
    nodes: [h("article@group-page", {"data-id": group.clusterId, "data-state": group.state},
      h("p.crumbs", h("a", {href: up}, "Groups")), heading(group.title),
      h("p.badges", severity(group.severity), stateBadge(group.state), h("span", detector(group.detectorKey)), h("span.quiet", `score up to ${group.maxScore}`)),
      facts([["First seen", time(group.firstSeen)], ["Last seen", time(group.lastSeen)],
        ["In this window", `${count(failures, "failure")} in ${count(affectedRuns, "run")}`],
        ["Share of runs", `${percent(share.value)} (${interval(share)}) of ${number(runs)}`],
        ["Trend", trend(group.trend)], ["In all", count(group.count, "failure")],
        ["Estimated waste", group.estimatedWasteUsd > 0 ? usd(group.estimatedWasteUsd) : null], ["Fingerprint", h("code", group.fingerprint)]]),
      suspectSection(group),
      h("section", h("div.heading", h("h2", "Since when"), windowField(window, set)),
      timeline({...line, marks}, {name: "Failures of this group per run", markName: changeName})),
      differencesSection(differences, window), examplesSection(group),
      frame.may("manage") ? triageSection(group, marks, triage) : null, guardrail(path, context), historySection(decisions, marks))],
    keys: {e: () => press("resolve"), i: () => press("ignore")},
    live: (news) => news.filter((item) => item.topic === "failures" && item.failure.fingerprint === group.fingerprint),
  };
}

function suspectSection(group) {
  const suspect = group.suspectChange;
  if (group.window.failures === 0) return h("p.note", "Nothing failed this way in this window, so no change is suspected. ", h("a", {href: groupPath(group.clusterId, "90d")}, "Look at the last 90 days"));
  if (!suspect) return h("p.note", "No change came before these failures, so none is suspected. Post changes to /v1/ingest/changes to see them here.");
  return h("section.card.suspect@suspect-change", {"data-id": suspect.changeId}, h("h2", "Which change brought it"),
    h("p.lead", suspectSentence(suspect)),
    h("p.quiet", changeWords(suspect), ", ", time(suspect.at), suspect.author ? [" by ", apart(clipName(suspect.author))] : null, " ", copyRef(suspect)));
}

// "1 of 900 runs before 9f3c2d1, 12 of 880 after". The reference of a policy that was a draft is only the failure's id.
export function suspectSentence({before, after, ref, kind, policy, revision}) {
  const name = policy ? [apart(clipName(policy)), " revision ", apart(revision)] : clipName(ref || `this ${kind} change`);
  if (before.runs === 0) return [`${number(after.failures)} of ${count(after.runs, "run")} failed this way after `, h("strong", name), "; no run came before it to compare with."];
  return [`${number(before.failures)} of ${count(before.runs, "run")} failed this way before `, h("strong", name), `, ${number(after.failures)} of ${number(after.runs)} after.`];
}

// How often the group's runs, and all others, have a value.
function differencesSection(items, window) {
  const part = ({runs, of}) => `${number(runs)} of ${number(of)} (${percent(of === 0 ? 0 : runs / of)})`;
  return h("section", h("h2", "What its runs have in common"), items.length === 0 ? h("p.quiet", "No version, model or other dimension stands out.")
    : h("ul.plain", items.map(({dimension, value, affected, others, difference}) => h("li@difference", {"data-dimension": dimension, "data-value": value},
      h("strong", `${dimension} ${value}`), ` is on ${part(affected)} of its runs, ${difference.value < 0 ? "but" : "and"} on ${part(others)} of the others. `,
      h("a", {href: `/ui/baseline?${new URLSearchParams({dimension, value, window})}`, "aria-label": clipName(`Compare ${dimension} ${value}`)}, "Compare")))));
}

function examplesSection({clusterId, examples: {newest, first}}) {
  const list = (title, items) => (items.length === 0 ? null : [h("h3", title), h("ul.plain", items.map((one) => h("li", {"data-row": `e-${title}-${one.failureId}`},
    runLink(one.runId, null, {"data-test": "example"}), " ", shortTime(one.detectedAt))))]);
  const seen = new Set(newest.map((one) => one.failureId));
  return h("section", h("h2", "Runs to look at"), list("Newest", newest), list("First", first.filter((one) => !seen.has(one.failureId))),
    h("p", h("a", {href: `/ui/runs?${new URLSearchParams({cluster: clusterId})}`, "data-test": "all-runs"}, "All runs of this group")));
}

function triageSection(group, marks, triage) {
  const note = h("input@triage-note", {type: "text", name: "note", id: "note", maxlength: "1000", autocomplete: "off"});
  const fixed = select("fixedBy", "Fixed by", [["", "not said"], ...marks.map((mark) => [mark.changeId, changeName(mark, OPTION_CHARACTERS)])], "");
  const until = select("until", "Ignore", UNTIL, "");
  const act = (action, text, body) => button(text, (event) => triage({action, ...(note.value ? {note: note.value} : {}), ...body()}, event.target.form), {"data-test": `triage-${action}`});
  const closed = group.state === "resolved" || group.state === "ignored";
  // Resolving or ignoring again changes the fix or the end; reopening an open group changes nothing.
  const reopens = closed || group.state === "regressed";
  return form(".card", null, h("h2", "What to do about it"),
    h("label.field.wide", h("span", "Note"), note),
    h("div.actions", fixed, act("resolve", "Resolve", () => {
      const change = fixed.querySelector("select").value;
      return change ? {fixedBy: change} : {};
    })),
    h("div.actions", until, act("ignore", "Ignore", () => {
      const chosen = untilOf(until.querySelector("select").value);
      return chosen ? {until: chosen} : {};
    })),
    reopens ? h("p", act("reopen", "Reopen", () => ({}))) : null,
    h("p.quiet", closed ? `It is ${STATE_WORDS[group.state].toLowerCase()}${falseAlarms(group)}.` : "A resolved group opens itself again when a run that ran later fails this way."));
}

// A rule that would have caught it, drafted when the disclosure is opened. The draft, and whether it was accepted, outlive a refresh.
export function guardrail(path, {get, frame, memory}) {
  const box = h("div");
  const kept = (memory.drafts ??= {})[path] ??= {accepted: false};
  const draft = async () => {
    try {
      kept.draft ??= await Promise.all([get(`${path}/guardrail`, {as: "yaml"}), get(`${path}/guardrail`)]);
      const [yaml, {test: _, ...content}] = kept.draft;
      const accept = button("", async () => {
        try {
          await post("/v1/ingest/policies", {policy: content.name, content, ref: content.source.failureId});
          kept.accepted = true;
          offer();
          frame.say("Stored");
        } catch (fault) {
          frame.showError(fault);
        }
      }, {"data-test": "guardrail-accept"});
      const offer = () => {
        accept.disabled = kept.accepted;
        accept.textContent = kept.accepted ? "Accepted" : "Accept as a policy";
      };
      offer();
      box.replaceChildren(sample("Guardrail draft", yaml, "pre@guardrail-draft"),
        h("div.actions", copyButton(yaml, "the draft"), frame.may("ingest") ? accept : null));
    } catch (fault) {
      box.replaceChildren(h("p.quiet", fault.message));
    }
  };
  return h("details", {"data-keep": `draft-${path}`, on: {toggle: (event) => event.target.open && draft()}}, h("summary@guardrail-open", "Draft a guardrail"), box);
}

function historySection({items, more}, marks) {
  const fix = (id) => marks.find((mark) => mark.changeId === id);
  if (items.length === 0) return null;
  return h("section", h("h2", "What was done"), h("ol.plain", items.map((item) => h("li@history-item",
    h("strong", ACTIONS[item.action] ?? item.action), item.author ? [" by ", apart(item.author), ", "] : ", ", time(item.at),
    item.fixedBy ? [", fixed by ", fix(item.fixedBy) ? changeWords(fix(item.fixedBy)) : h("code", item.fixedBy)] : null, item.until ? `, ${untilWords(item.until)}` : null, falseAlarms(item), item.note ? h("p", item.note) : null))), more);
}
