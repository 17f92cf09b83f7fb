// What happened in one run: the verdict, the request, the steps with what failed marked in them, the answer.

import {apart, button, copyButton, facts, form, h, hasNoAddress, heading, sample, test, tests, visible, withdraw} from "./dom.js";
import {post, remove} from "./api.js";
import {NAME_CHARACTERS, TEXT_CHARACTERS, clip, clipName, copyRef, count, cutAt, detector, duration, exactTime, moreOf, number, pretty, severity, shortTime, text, time, undecided, usd} from "./format.js";
import {opinion} from "./opinion.js";
import {groupPath} from "./view_groups.js";
import {guardrail, suspectSentence} from "./view_group.js";
import {changeWords, policyLink} from "./view_changes.js";

const INDENTED = 100_000;    // characters: longer JSON that holds evidence is shown as it was sent
const AROUND = 200;          // characters on both sides of evidence further on
const STEPS_AT_ONCE = 200;
const MEMBERS_AT_ONCE = 200;
const FOLD_FROM = 3;         // equal steps, or rounds of a cycle
const LONGEST_CYCLE = 4;
const POLICIES_LOOKED_UP = 10;
const INVESTIGATED = 10;  // failures, for the change before each
const REVISIONS_OFFERED = 10;  // the latest ones
const EMPTY = "(empty)";     // in place of a text without characters, which could show no mark
const STEP_MEMBERS = new Set(["stepId", "stepKind", "stepName", "status", "startedAt", "endedAt", "at", "inputSummary", "outputSummary", "errorMessage",
  "errorCode", "retryCount", "metadata"]);
const RUN_MEMBERS = new Set(["runId", "state", "resolution", "revision", "receivedAt", "resolvedAt", "failures", "detectors", "policies", "userRequestText",
  "outcomeSummary", "success", "steps", "metadata", "startedAt", "endedAt", "at", "bufferedEvents", "warnings"]);
const FAILED = new Set(["failed", "failure", "error", "errored", "timed_out", "timeout", "blocked", "cancelled", "canceled", "rejected", "denied"]);
// Members that a detector requests when it could not decide.
const ASKED_FOR = ["metadata.inputTokens", "metadata.model", "outcomeSummary", "outputSummary", "inputSummary", "errorMessage", "userRequestText", "stepKind", "stepName", "status", "success", "steps"];

const escaped = (name) => name.replaceAll("~", "~0").replaceAll("/", "~1");
const stepPointer = (index) => `/steps/${index}`;
const stepHash = (index) => `#step-${index + 1}`;
const failurePath = (id) => `/v1/failures/${encodeURIComponent(id)}`;

// The first number under one of these names, of an object or of its usage.
const numberOf = (names) => (m) => [m, m?.usage].flatMap((one) => names.map((name) => one?.[name])).find((value) => typeof value === "number");
const inputTokens = numberOf(["inputTokens", "promptTokens", "input_tokens", "prompt_tokens"]);
const outputTokens = numberOf(["outputTokens", "completionTokens", "output_tokens", "completion_tokens"]);
const cost = numberOf(["costUsd", "cost_usd"]);

function tokenWords(metadata) {
  const [input, output] = [inputTokens(metadata), outputTokens(metadata)];
  if (input === undefined && output === undefined) return null;
  return [input === undefined ? null : `${number(input)} in`, output === undefined ? null : `${number(output)} out`].filter(Boolean).join(", ");
}

// Which steps are left out of sight: equal ones in a row, or equal rounds of a cycle, but for the first, the last and those in `kept`.
// Gives ranges [from, to).
export function foldsOf(steps, kept) {
  const names = steps.map((step) => JSON.stringify([step.stepName, step.inputSummary, String(step.status ?? "").toLowerCase(), step.outputSummary,
    step.errorMessage, step.errorCode]));
  const ranges = [];
  for (let at = 0; at < names.length;) {
    let best = null;
    for (let period = 1; period <= LONGEST_CYCLE; ++period) {
      let end = at + period;
      while (end < names.length && names[end] === names[end - period]) ++end;
      const rounds = Math.floor((end - at) / period);
      if (rounds >= FOLD_FROM && (best === null || rounds * period > best.length)) best = {period, length: rounds * period};
    }
    if (best === null) {
      at += 1;
      continue;
    }
    let from = at + best.period;
    const until = at + best.length - best.period;
    for (let i = from; i <= until; ++i) {
      if (i < until && !kept.has(i)) continue;
      if (i > from) ranges.push([from, i]);
      from = i + 1;
    }
    at += best.length;
  }
  return ranges;
}

// Draws fields of a run, and marks in them what the failures point at.
class Fields {
  // `opened`: how much the reader has opened, by what it is of.
  constructor(run, opened) {
    this.opened = opened;
    this.evidence = new Map();
    this.steps = new Map();  // index -> pieces of evidence
    this.holders = new Set();  // pointers of what evidence is in, and of the evidence itself
    for (const failure of run.failures ?? []) {
      for (const {pointer, value} of failure.evidence ?? []) {
        if (!this.evidence.has(pointer)) this.evidence.set(pointer, new Set());
        this.evidence.get(pointer).add(value);
        for (let at = pointer; at !== ""; at = at.slice(0, at.lastIndexOf("/"))) this.holders.add(at);
        const step = /^\/steps\/(\d+)(\/|$)/.exec(pointer);
        if (step) this.steps.set(Number(step[1]), (this.steps.get(Number(step[1])) ?? 0) + 1);
      }
    }
  }

  // Ranges of `shown` that are evidence, in order and apart; null: all of it is.
  rangesIn(pointer, shown) {
    const ranges = [];
    for (const [at, values] of this.evidence) {
      if (at !== pointer) {
        if (at.startsWith(`${pointer}/`)) return null;
        continue;
      }
      for (const value of values) {
        const start = value === "" ? -1 : shown.indexOf(value);
        if (start < 0) return null;
        ranges.push([start, start + value.length]);
      }
    }
    ranges.sort((a, b) => a[0] - b[0]);
    const apart = [];
    for (const [from, to] of ranges) {
      if (apart.length > 0 && from <= apart.at(-1)[1]) apart.at(-1)[1] = Math.max(apart.at(-1)[1], to);
      else apart.push([from, to]);
    }
    return apart;
  }

  mark(pointer, shown) {
    return h("mark@evidence", {"data-pointer": pointer, tabindex: "-1", title: `Evidence: ${pointer}`}, shown);
  }

  // Text with its marks. Draws only the text within `spans`; one line summarizes the rest of the `length`.
  pieces(pointer, shown, ranges, spans, length = shown.length) {
    const out = [];
    let at = 0;
    for (const [from, to] of spans) {
      if (from > at) out.push(h("span.gap", ` \u2026 ${number(from - at)} characters \u2026 `));
      let inside = from;
      for (const [start, end] of ranges) {
        if (end <= from || start >= to) continue;
        if (start > inside) out.push(shown.slice(inside, start));
        out.push(this.mark(pointer, shown.slice(Math.max(start, from), Math.min(end, to))));
        inside = Math.min(end, to);
      }
      out.push(shown.slice(inside, to));
      at = to;
    }
    if (at < shown.length) out.push(h("span.gap", ` \u2026 of ${number(length)} characters`));
    return out;
  }

  // A value in a line, marked where it is evidence.
  short(pointer, value) {
    if (value === undefined || value === null) return null;
    const shown = text(value);
    const ranges = this.rangesIn(pointer, shown);
    if (ranges === null) return this.mark(pointer, clipName(shown) || EMPTY);
    if (shown === "") return h("span.gap", EMPTY);
    return this.pieces(pointer, shown, ranges, [[0, cutAt(shown, Math.min(shown.length, NAME_CHARACTERS))]]);
  }

  // A text of any length in a block of its own.
  block(pointer, name, value, attributes) {
    if (value === undefined || value === null) return null;
    const [body, button] = value === "" ? [sample(name, this.short(pointer, value))] : this.body(pointer, name, value);
    return h("div.block", attributes, h("div.block-head", h("span.quiet", name), button), body);
  }

  // The text, and the button that opens the rest of it.
  body(pointer, name, value) {
    const body = sample(name, null, "pre", {"data-keep": `text-${pointer}`});
    const {length} = text(value);
    const fill = (most) => {
      const [shown, ranges] = this.shownOf(pointer, value, most + 1);
      const spans = [[0, cutAt(shown, Math.min(shown.length, most))]];
      for (const [start, end] of ranges) {
        if (end <= most || start === 0) continue;
        const from = cutAt(shown, Math.max(0, start - AROUND));
        const to = cutAt(shown, Math.min(shown.length, end + AROUND, start + TEXT_CHARACTERS));
        if (from <= spans.at(-1)[1]) spans.at(-1)[1] = Math.max(spans.at(-1)[1], to);
        else spans.push([from, to]);
      }
      body.replaceChildren(...this.pieces(pointer, shown, ranges, spans, length).map((piece) => (piece instanceof Node ? piece : visible(piece))));
      return spans.length === 1 && spans[0][1] === shown.length;
    };
    return [body, moreOf(body, length, this.opened, pointer, fill)];
  }

  // A text as it is shown, at least the first `most` characters of it, and the ranges of it that are evidence.
  shownOf(pointer, value, most) {
    const sent = text(value);
    const ranges = this.rangesIn(pointer, sent);
    if (ranges?.length === 0) return [pretty(value, most), ranges];
    const shown = sent.length > INDENTED ? sent : pretty(value);
    const inShown = this.rangesIn(pointer, shown);
    return inShown === null && ranges !== null ? [sent, ranges] : [shown, inShown ?? [[0, shown.length]]];
  }

  // A value among names and values.
  fact(pointer, name, value) {
    const isLong = value !== undefined && text(value).length > NAME_CHARACTERS;
    return [clipName(name), isLong ? this.body(pointer, clipName(name), value) : this.short(pointer, value)];
  }

  // The members of an object, as names and values: the first ones and those that hold evidence, and a button for more.
  members(pointer, object) {
    const key = `members ${pointer}`;
    const members = Object.entries(object ?? {}).map(([name, value]) => [`${pointer}/${escaped(name)}`, name, value]);
    let most = this.opened.get(key) ?? MEMBERS_AT_ONCE;
    const rest = members.filter(([at], i) => i >= most && !this.holders.has(at));
    const draw = (some) => some.map((member) => this.fact(...member));
    const list = facts(draw(members.filter(([at], i) => i < most || this.holders.has(at))), {tabindex: rest.length > 0 ? "-1" : null});
    if (rest.length === 0) return list;
    const offer = () => {
      more.textContent = `Show ${number(Math.min(MEMBERS_AT_ONCE, rest.length))} more of ${count(members.length, "member")}`;
      if (rest.length === 0) withdraw(more, list);
    };
    const more = button("", () => {
      this.opened.set(key, most += MEMBERS_AT_ONCE);
      list.append(...facts(draw(rest.splice(0, MEMBERS_AT_ONCE))).children);
      offer();
    }, {class: "small"});
    offer();
    return [list, h("p", more)];
  }
}

export async function show(context) {
  const {parameters: [id], query, get, frame, memory, listOf} = context;
  const path = `/v1/runs/${encodeURIComponent(id)}`;
  const up = listOf("/ui/runs", "group", "candidates");
  const revision = query.get("revision") ?? undefined;
  const [run, newest] = await Promise.all([get(path, {revision}), revision ? get(path, {view: "head"}) : null]);
  const last = newest ?? run;
  const replaced = run.revision < last.revision - (last.state === "open" ? 1 : 0);
  const failures = run.failures ?? [];
  const stored = replaced ? [] : failures;
  const [investigations, policies] = await Promise.all([
    Promise.all(stored.slice(0, INVESTIGATED).map(({failureId}) => get(`${failurePath(failureId)}/investigation`).catch(unlessGone))), authorsOf(get, run)]);
  const [groups, opinions] = await Promise.all([groupIds(get, stored), Promise.all(stored.map((failure) => opinionOf(get, failure)))]);
  const fields = new Fields(run, memory.opened ??= new Map());
  const steps = run.steps ?? [];
  const primary = new Set(failures.map((failure) => steps.findIndex((step) => step.stepId === failure.primaryStepId)).filter((index) => index >= 0));
  const linked = linkedStep(steps);
  const drawing = {run, fields, steps, primary, linked, memory};
  const nodes = [h("article@run-page", {"data-id": run.runId, "data-revision": run.revision, "data-state": run.state},
    h("p.crumbs", h("a", {href: up}, up.startsWith("/ui/groups/") ? "Group" : up.startsWith("/ui/candidates") ? "Candidates" : "Runs")), heading("Run ", h("code", run.runId)),
    replaced ? h("p.note", "A later revision has replaced this one, and its failures with it. ", h("a", {href: `/ui/runs/${encodeURIComponent(id)}`}, "Look at the latest revision")) : null,
    verdictSection({run, failures, replaced, groups, opinions, investigations, steps}, context),
    h("div.teardown", h("div", requestSection(run, fields), stepsSection(drawing), answerSection(run, fields)), besides(run, fields, policies, path, last.revision)))];
  return {
    title: `Run ${run.runId}`, up, nodes, followsDecisions: failures.length > 0 || run.detectors?.some((report) => report.suppressed?.length > 0),
    placed: () => toPlace(linked >= 0 ? stepHash(linked) : location.hash) ?? (primary.size > 0 ? toPlace(stepHash(Math.min(...primary))) : null),
    end: () => (run.state === "open" && linked < 0 ? tests("step", frame.main).at(-1) : null),
    keys: {n: () => walkEvidence(frame.main, 1), p: () => walkEvidence(frame.main, -1), f: () => toggleFolds(frame.main), y: () => press(frame.main, "review-right"), x: () => press(frame.main, "review-false-alarm")},
    live: (news) => news.filter((item) => (item.topic === "runs" ? item.run.runId : item.failure.runId) === run.runId),
  };
}

// The step that the address names, by its number or by its id; -1: none, or one that the run does not have.
function linkedStep(steps) {
  const number = /^#step-(\d+)$/.exec(location.hash);
  const id = new URLSearchParams(location.hash.slice(1)).get("step");
  if (number) return Number(number[1]) <= steps.length ? Number(number[1]) - 1 : -1;
  return id === null ? -1 : steps.findIndex((step) => step.stepId === id);
}

// What a model said of a failure, though a person may have said something since.
async function opinionOf(get, {failureId, review, confirmedBy}) {
  if (review?.opinion || !(review || confirmedBy)) return review;
  return (await get(`${failurePath(failureId)}/review/history`).catch(unlessGone))?.items.find((one) => one.opinion);
}

// Retention may have taken what a run still names.
function unlessGone(fault) {
  if (fault.status === 404) return null;
  throw fault;
}

// Who wrote the revisions that a run is stamped with, and when. The revision in force when the run ran may be another one by now: a revision
// that came in later may name an earlier time.
async function authorsOf(get, {policies = [], startedAt, receivedAt}) {
  return Promise.all(policies.map(async (stamp, i) => {
    if (i >= POLICIES_LOOKED_UP || hasNoAddress(stamp.policy)) return stamp;
    const path = `/v1/policies/${encodeURIComponent(stamp.policy)}`;
    const inForce = await get(path, {at: startedAt ?? receivedAt}).catch(unlessGone);
    if (inForce?.revision === stamp.revision) return inForce;
    const revisions = await get(path, {limit: 100}).catch(unlessGone);
    return revisions?.items.find((one) => one.revision === stamp.revision) ?? stamp;
  }));
}

// A group's id follows from its fingerprint. Browsers have the digest only where the page came by HTTPS or from this machine.
async function groupIds(get, failures) {
  if (!globalThis.crypto?.subtle) return Promise.all(failures.map(({fingerprint}) => groupIdOf(get, fingerprint)));
  return Promise.all(failures.map(async ({fingerprint}) => {
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(fingerprint)));
    return `cl_${[...digest.subarray(0, 10)].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
  }));
}

async function groupIdOf(get, fingerprint) {
  const {items} = await get("/v1/clusters", {q: fingerprint, state: "all", window: "90d", limit: 100});
  return items.find((one) => one.fingerprint === fingerprint)?.clusterId ?? null;
}

// A run that was reopened keeps the failures of its last revision until it is judged again.
function verdictSection(verdict, context) {
  const {run, failures, steps} = verdict;
  if (run.state === "open") {
    return [h("section.card", h("h2", "This run goes on"), h("p", `${count(steps.length, "step")} so far. It is judged when it ends; this page grows with it.`)),
      failures.length > 0 ? failuresSection(verdict, context) : null];
  }
  if (run.detectors.length === 0) return h("section.card", h("h2", "Not judged"), h("p", "No detector was live when this run came in."));
  if (failures.length === 0) {
    const open = undecided(run.detectors).length;
    return h("section.card", h("h2", "No failure found"), h("p", open === 0 ? `All ${count(run.detectors.length, "detector")} looked at it.`
      : `${count(open, "detector")} of ${number(run.detectors.length)} could not tell: see below for what is missing.`));
  }
  return failuresSection(verdict, context);
}

function failuresSection({run, failures, replaced, groups, opinions, investigations, steps}, context) {
  return h("section", h("h2.unseen", "What failed"), failures.map((failure, i) => failureCard(failure, {run, steps, replaced, group: groups[i], said: opinions[i], suspect: investigations[i]?.suspectChange}, context)));
}

// What the detector says beside what a model says.
function bothSides({confirmedBy, detectorKey, primaryStepId, summary}, said, run, steps) {
  const doubt = confirmedBy && run.detectors?.find((one) => one.key === detectorKey)?.suppressed?.find((one) => one.stepId === primaryStepId && one.confidence !== undefined);
  return [confirmedBy ? h("p.lead", `The detector was not sure; ${confirmedBy} read the run and confirmed it.`) : null,
    h("div.sides", h("div", h("p", h("strong", "The detector"), doubt ? " nearly found it." : confirmedBy ? " was not sure." : " found the failure in the run."),
      doubt ? h("p", letPass(doubt, steps)) : confirmedBy ? null : h("p", summary)), opinion(said, run))];
}

// A failure of a revision that was replaced is no longer stored by itself: nothing can be said of it.
function failureCard(failure, {run, steps, replaced, group, said, suspect}, context) {
  const index = steps.findIndex((step) => step.stepId === failure.primaryStepId);
  const provenance = failure.provenance;
  return h("section.card.failure@failure", {"data-row": failure.failureId, "data-detector": failure.detectorKey, "data-score": failure.suspicionScore,
    "data-level": failure.severity, "data-review": failure.review?.verdict},
    h("h3", failure.title), said ? bothSides(failure, said, run, steps) : h("p.lead", failure.summary),
    h("p.badges", severity(failure.severity), h("span", `Score ${failure.suspicionScore} of 100`), h("span", detector(failure.detectorKey)),
      failure.revision === run.revision ? null : h("span", `Found in revision ${failure.revision}`),
      failure.confirmedBy ? h("span@confirmed-by", `Confirmed by ${failure.confirmedBy}`) : null, failure.initialFailureSource ? h("span", `Began in: ${failure.initialFailureSource}`) : null,
      typeof failure.estimatedWasteUsd === "number" && failure.estimatedWasteUsd > 0 ? h("span", `Wasted about ${usd(failure.estimatedWasteUsd)}`) : null),
    suspect ? h("p.note", h("strong", "Which change brought it? "), suspectSentence(suspect), " ", changeWords(suspect), ", ", shortTime(suspect.at), ". ", copyRef(suspect)) : null,
    h("p.actions", index >= 0 ? h("a.button", {href: stepHash(index), on: {click: (event) => {
      const step = toPlace(stepHash(index));
      if (!step) return;  // it is not drawn: the link leads to the view that draws it
      event.preventDefault();
      step.querySelector("summary").focus({preventScroll: true});
    }}}, `Go to step ${index + 1}`) : null, group ? h("a", {href: groupPath(group, "7d")}, "All failures of this kind") : null),
    replaced ? null : review(failure, context),
    h("details", {"data-keep": `why-${failure.failureId}`}, h("summary", "Evidence and provenance"),
      h("ul.plain", (failure.evidence ?? []).slice(0, 50).map((one) => h("li", h("code", clip(one.pointer, 300)), ": ", apart(clip(one.value, 300) || EMPTY)))),
      facts([["Failure", h("code", failure.failureId)], ["Fingerprint", h("code", failure.fingerprint)], ["Detector version", provenance?.detectorVersion],
        ["Library SHA-256", provenance?.librarySha256 ? h("code", provenance.librarySha256) : null], ["Settings hash", provenance ? h("code", provenance.settingsHash) : null]])),
    replaced ? null : guardrail(failurePath(failure.failureId), context));
}

const REVIEW_WORDS = {right: "Right", false_alarm: "False alarm", unsure: "Unsure"};

// What a person says of a failure.
function review({failureId, review: last}, {frame, act}) {
  const said = last?.opinion ? null : last;
  const words = said ? h("p.quiet", h("strong", REVIEW_WORDS[said.verdict]), " by ", apart(said.author), ", ", shortTime(said.at), said.note ? [": ", apart(said.note)] : null) : null;
  if (!frame.may("manage")) return words;
  const path = `${failurePath(failureId)}/review`;
  const note = h("input@review-note", {type: "text", id: `note-${failureId}`, maxlength: "1000", autocomplete: "off", value: said?.note});
  const say = (verdict, name) => button(REVIEW_WORDS[verdict], (event) => act(post(path, {verdict, note: note.value || null}), "Reviewed", event.target.form),
    {"data-test": name, "aria-pressed": String(said?.verdict === verdict)});
  return [words, form(".actions", null, h("label.field.wide", h("span", "Is this a failure? Note (optional)"), note), say("right", "review-right"), say("false_alarm", "review-false-alarm"),
    said ? button("Take back", () => act(remove(path), "Taken back")) : null)];
}

// Of the chosen failure, else of the first.
const press = (main, name) => test(name, main.querySelector('[aria-current="true"]') ?? main)?.click();

function requestSection(run, fields) {
  return h("section@request", {id: "request"}, h("h2", "The user asked"),
    fields.block("/userRequestText", "request", run.userRequestText) ?? h("p.quiet", "The run holds no request text (userRequestText)."));
}

const successWords = (run) => (run.success ? "succeeded" : "failed");

function answerSection(run, fields) {
  const success = run.success === undefined ? null : h("p", "The agent says that it ", h("strong", fields.rangesIn("/success", String(run.success))?.length === 0 ? successWords(run) : fields.mark("/success", successWords(run))), ".");
  return h("section@answer", {id: "answer"}, h("h2", "The agent answered"), success,
    fields.block("/outcomeSummary", "answer", run.outcomeSummary) ?? h("p.quiet", "The run holds no answer (outcomeSummary)."));
}

function stepsSection(drawing) {
  const {run, fields, steps, primary, linked, memory} = drawing;
  const kept = new Set(primary);
  if (linked >= 0) kept.add(linked);
  const hidden = new Map(foldsOf(steps, kept).map(([from, to]) => [from, to]));
  const items = [];  // the steps that each line represents
  for (let i = 0; i < steps.length;) {
    const end = hidden.get(i) ?? i + 1;
    items.push([i, end, hidden.has(i)]);
    i = end;
  }
  const goesOn = run.state === "open";
  const middle = kept.size > 0 ? items.findIndex(([from]) => from === (linked >= 0 ? linked : Math.min(...primary))) : goesOn ? items.length : 0;
  let from = memory.from ?? Math.max(0, Math.min(middle - STEPS_AT_ONCE / 2, items.length - STEPS_AT_ONCE));
  let to = goesOn ? items.length : Math.min(items.length, memory.to ?? from + STEPS_AT_ONCE);  // what grows is drawn to its end
  const draw = (begin, end) => items.slice(begin, end).map(([first, last, folded]) => h("li", folded ? foldLine(first, last, drawing) : stepNode(first, fields, steps, primary)));
  const list = h("ol.steps", draw(from, to));
  const earlier = button("", () => {
    const begin = Math.max(0, from - STEPS_AT_ONCE);
    const drawn = draw(begin, from);
    list.prepend(...drawn);
    from = begin;
    grown(drawn);
  });
  const later = button("", () => {
    const end = Math.min(items.length, to + STEPS_AT_ONCE);
    const drawn = draw(to, end);
    list.append(...drawn);
    to = end;
    grown(drawn);
  });
  const offer = (more, [begin, end], which, drawn) => {
    if (begin === end) withdraw(more, firstSummary(drawn));
    more.parentElement.hidden = more.hidden;
    more.textContent = `Show ${number(Math.min(STEPS_AT_ONCE, end - begin))} ${which} lines`;
    const evidence = items.slice(begin, end).some(([first, last]) => evidenceIn(fields, first, last) > 0);
    if (evidence) more.parentElement.dataset.evidence = "";
    else delete more.parentElement.dataset.evidence;
  };
  const offerMore = (drawn) => {
    offer(earlier, [0, from], "earlier", drawn);
    offer(later, [to, items.length], "later", drawn);
  };
  const grown = (drawn) => {
    Object.assign(memory, {from, to});
    offerMore(drawn);
  };
  const section = h("section", h("h2", goesOn ? "The steps so far" : "What it did"), steps.length === 0 ? h("p.quiet", "The run holds no steps.") : null,
    h("p.more", earlier), list, h("p.more", later));
  offerMore([]);
  return section;
}

// Where the focus goes from a button that drew these lines and is gone.
const firstSummary = (lines) => lines[0]?.querySelector("summary");

// Pieces of evidence in the steps [from, to).
function evidenceIn(fields, from, to) {
  let evidence = 0;
  for (let i = from; i < to; ++i) evidence += fields.steps.has(i) ? 1 : 0;
  return evidence;
}

// What was drawn of it before a refresh is drawn at once: its evidence has to be there again.
function foldLine(from, to, {fields, steps, primary, memory}) {
  const unfolded = memory.unfolded ??= {};
  const evidence = evidenceIn(fields, from, to);
  const names = new Set(steps.slice(from, to).map((step) => clipName(step.stepName ?? "step")));
  const inside = h("ol.steps");
  let drawn = from;
  const grow = () => {
    const lines = [];
    for (const end = Math.min(to, drawn + STEPS_AT_ONCE); drawn < end; ++drawn) lines.push(h("li", stepNode(drawn, fields, steps, primary)));
    inside.append(...lines);
    unfolded[from] = drawn;
    if (drawn === to) withdraw(more, firstSummary(lines));
    more.textContent = `Show ${number(to - drawn)} more`;
  };
  const more = button("", grow, {class: "small"});
  const line = h("details.fold@fold", {"data-count": to - from, "data-evidence": evidence || null, "data-keep": `fold-${from}`, on: {toggle: () => { if (line.open && drawn === from) grow(); }}},
    h("summary", h("strong", `\u00d7${number(to - from)}, identical`), h("span", [...names].slice(0, LONGEST_CYCLE).map((name, i) => [i === 0 ? "" : ", ", apart(name)]), `, steps ${number(from + 1)} to ${number(to)}`),
      evidence > 0 ? h("span.badge", `${number(evidence)} ${evidence === 1 ? "is" : "are"} evidence`) : null), inside, more);
  for (const before = unfolded[from] ?? from; drawn < Math.min(before, to);) grow();
  return line;
}

// When a step was, and its id: one paragraph, since a run has thousands of steps.
function stamp({startedAt, at, endedAt, stepId}, pointer, fields) {
  const began = startedAt ?? at;
  return h("p.quiet", began ? [exactTime(began), endedAt ? [" to ", exactTime(endedAt)] : null, " \u00b7 "] : null, "stepId ", h("bdi", fields.short(`${pointer}/stepId`, stepId)));
}

function stepNode(index, fields, steps, primary) {
  const step = steps[index];
  const pointer = stepPointer(index);
  const status = step.status ?? "";
  const failed = FAILED.has(String(status).toLowerCase()) || Boolean(step.errorMessage);
  const isPrimary = primary.has(index);
  const open = isPrimary || fields.steps.has(index);
  const took = step.startedAt && step.endedAt ? duration(Date.parse(step.endedAt) - Date.parse(step.startedAt)) : null;
  const rest = Object.fromEntries(Object.entries(step).filter(([name]) => !STEP_MEMBERS.has(name)));
  const whole = fields.evidence.has(pointer);
  const name = clipName(step.stepName ?? step.stepId ?? "step");
  const cut = ["stepId", "stepName", "stepKind", "status"].filter((member) => text(step[member] ?? "").length > NAME_CHARACTERS);
  return h("details.step", {id: `step-${index + 1}`, open, "data-keep": `step-${index}`, "data-test": "step", "data-index": index, "data-kind": step.stepKind ?? "",
    "data-status": status, "data-primary": String(isPrimary), "data-failed": String(failed)},
  h("summary", h("span.index", index + 1), h("span.kind", fields.short(`${pointer}/stepKind`, step.stepKind) ?? "step"),
    h("strong.name", whole ? fields.mark(pointer, name) : step.stepName === undefined ? name : fields.short(`${pointer}/stepName`, step.stepName)),
    status === "" ? null : h("span.badge", {"data-level": failed ? "high" : "low"}, failed ? "\u2715 " : "\u2713 ", fields.short(`${pointer}/status`, status)),
    isPrimary ? h("span.badge", {"data-level": "critical"}, "It failed here") : null,
    h("span.quiet", [took, tokenWords(step.metadata), cost(step.metadata) === undefined ? null : usd(cost(step.metadata)),
      step.retryCount > 0 ? [fields.short(`${pointer}/retryCount`, step.retryCount), step.retryCount === 1 ? " retry" : " retries"] : null]
      .filter((one) => one !== null).flatMap((one, i) => (i === 0 ? [one] : [" \u00b7 ", one])))),
  h("div.body", null, stamp(step, pointer, fields), cut.map((member) => fields.block(`${pointer}/${member}`, member, step[member])),
    fields.block(`${pointer}/inputSummary`, "input", step.inputSummary),
    step.errorMessage ? fields.block(`${pointer}/errorMessage`, "error", step.errorMessage, {class: "block failed"}) : null,
    step.errorCode !== undefined ? facts([fields.fact(`${pointer}/errorCode`, "error code", step.errorCode)]) : null,
    fields.block(`${pointer}/outputSummary`, "output", step.outputSummary),
    step.metadata && Object.keys(step.metadata).length > 0 ? fields.members(`${pointer}/metadata`, step.metadata) : null,
    Object.keys(rest).length > 0 ? fields.members(pointer, rest) : null,
    step.inputSummary === undefined && step.outputSummary === undefined && !step.errorMessage ? h("p.quiet", "Neither input, output nor error was sent.") : null));
}

function besides(run, fields, policies, path, lastRevision) {
  const took = run.startedAt && run.endedAt ? duration(Date.parse(run.endedAt) - Date.parse(run.startedAt)) : null;
  const rest = Object.fromEntries(Object.entries(run).filter(([name]) => !RUN_MEMBERS.has(name)));
  const tokens = tokenWords(run.metadata);
  const revisions = Array.from({length: lastRevision}, (_, i) => i + 1).filter((one) => one === run.revision || one > lastRevision - REVISIONS_OFFERED);
  return h("aside", {"aria-label": "About the run"},
    h("section", h("h2", "The run"), facts([["State", run.state === "open" ? "open" : "resolved"], ["Received", time(run.receivedAt)], ["Started", time(run.startedAt)], ["Ended", time(run.endedAt)], ["Took", took],
      ["Tokens", h("span@tokens", tokens ?? "not sent")], ["Cost", h("span@cost", cost(run.metadata) === undefined ? "not sent" : usd(cost(run.metadata)))],
      ["Ended by", run.resolution && run.resolution !== "whole" ? run.resolution : null],
      ["Revision", lastRevision > 1 ? h("span.revisions", revisions.map((one) => [one === run.revision ? h("strong", one) : h("a", {href: `/ui/runs/${encodeURIComponent(run.runId)}?revision=${one}`}, one), " "])) : run.revision]]),
      fields.members("/metadata", run.metadata), Object.keys(rest).length > 0 ? fields.members("", rest) : null,
      h("p.actions", h("a", {href: `${path}?revision=${run.revision}`, "data-test": "raw"}, "Raw JSON"),
        run.state === "open" ? null : h("a", {href: `${path}/bundle?revision=${run.revision}`}, "Bundle"), copyButton(run.runId, "the run's id"))),
    h("section", h("h2", "Policies in force"), policies.length === 0 ? h("p.quiet", run.state === "open" ? "Known when the run ends." : "None.") : h("ul.plain", policies.map((one) =>
      h("li@policy", {"data-policy": one.policy, "data-revision": one.revision}, policyLink(one),
        " revision ", apart(one.revision), one.author ? [" by ", apart(clipName(one.author))] : null, one.at ? [", ", shortTime(one.at)] : null)))),
    run.detectors ? h("section", h("h2", "What the detectors say"), h("ul.plain", run.detectors.map((report) => verdictLine(report, run)))) : null);
}

const STATUS_WORDS = {fired: "found a failure", clean: "found nothing", not_evaluable: "could not tell", error: "failed", timeout: "took too long", quarantined: "is in quarantine"};
const STATUS_SIGNS = {fired: "\u25b2", clean: "\u2713", not_evaluable: "?", error: "\u2715", timeout: "\u2715", quarantined: "\u2715"};

function verdictLine(report, run) {
  const steps = run.steps ?? [];
  const [missing, hint] = splitReason(report.reason ?? "");
  const asked = report.status === "not_evaluable" ? ASKED_FOR.find((member) => (hint || missing).includes(member)) : undefined;
  return h("li@verdict", {"data-detector": report.key, "data-status": report.status},
    h("strong", `${STATUS_SIGNS[report.status] ?? ""} ${detector(report.key)}`), ` ${STATUS_WORDS[report.status] ?? report.status}`,
    missing ? h("p.quiet@verdict-reason", missing) : null,
    hint || asked ? h("p.quiet@verdict-hint", hint, asked && !hint?.includes(asked) ? [" JSON member: ", h("code", asked)] : null) : null,
    (report.suppressed ?? []).map((one) => h("p.quiet@suppressed", {"data-rule": one.rule}, letPass(one, steps))),
    report.review?.opinion ? opinion(report.review, run) : null);
}

function letPass({rule, stepId, reason, confidence}, steps) {
  const index = steps.findIndex((step) => step.stepId === stepId);
  return ["Let pass by rule ", h("code", rule), index >= 0 ? [" at ", h("a", {href: stepHash(index)}, `step ${index + 1}`)] : null,
    confidence === undefined ? null : ` with confidence ${number(confidence)}`, `: ${reason}`];
}

// "no steps: send the run's steps" -> what is missing, and the remedy.
function splitReason(reason) {
  const at = reason.indexOf(": ");
  return at < 0 ? [reason, ""] : [reason.slice(0, at), `${reason[at + 2].toUpperCase()}${reason.slice(at + 3)}`];
}

function reveal(node) {
  for (let parent = node.parentElement; parent; parent = parent.parentElement) {
    if (parent.localName === "details") parent.open = true;
  }
}

// "#step-3", "#request" or "#answer": opened, and on the screen. Gives its element, if it is drawn.
function toPlace(hash) {
  const place = /^#(step-\d+|request|answer)$/.test(hash) ? document.getElementById(hash.slice(1)) : null;
  if (!place) return null;
  place.open = true;
  reveal(place);
  place.scrollIntoView({block: "nearest"});
  return place;
}

// Not all steps are drawn: buttons draw more of those that hold evidence, in a fold and before and after what is there.
function walkEvidence(main, by) {
  const current = main.querySelector("mark.current");
  const next = () => {
    const all = [...main.querySelectorAll('[data-test="evidence"], [data-evidence] > button:not([hidden])')];
    const at = all.indexOf(current);
    return all.at(at < 0 ? (by > 0 ? 0 : -1) : (at + by) % all.length);
  };
  let to = next();
  while (to?.localName === "button") {
    to.click();
    to = next();
  }
  if (!to) return;
  current?.classList.remove("current");
  to.classList.add("current");
  reveal(to);
  to.focus({preventScroll: true});
  to.scrollIntoView({block: "center"});
}

function toggleFolds(main) {
  const folds = tests("fold", main);
  const open = folds.some((fold) => !fold.open);
  for (const fold of folds) fold.open = open;
}
