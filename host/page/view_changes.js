// What was changed: changes and policy revisions on one timeline with runs and failures, a policy's revisions, and how two of them differ.

import {apart, button, clientSelect, command, emptyCard, filters, h, hasNoAddress, heading, named, rows, sample, visible} from "./dom.js";
import {timeline} from "./charts.js";
import {NAME_CHARACTERS, clip, clipName, copyRef, count, longText, moreOf, number, pretty, shortTime, text, time, windowField} from "./format.js";

const PAGE = 50;
const MAX_DIFF_LINES = 1500;

// Words of ours, and texts of clients, each in an array of its own.
function nameParts({kind, ref, summary, policy, revision}, most) {
  const what = policy ? ["policy ", [clip(policy, most)], " revision ", [revision]] : ref ? [`${kind} `, [clip(ref, most)]] : [kind];
  return summary ? [...what, ": ", [clip(summary, most)]] : what;
}

// For labels, which hold no elements.
export const changeName = (change, most = NAME_CHARACTERS) => clip(nameParts(change, most / 2).flat().join(""), most);
export const changeWords = (change) => nameParts(change, NAME_CHARACTERS).map((part) => (Array.isArray(part) ? apart(part[0]) : part));

export function policyLink({policy, revision}, attributes, words = apart(named(policy))) {
  if (hasNoAddress(policy)) return h("span", attributes, words);
  return h("a", {href: `/ui/changes?${new URLSearchParams({policy, to: revision})}`, ...attributes}, words);
}

export async function show(context) {
  const policy = context.query.get("policy");
  if (hasNoAddress(policy)) return unreachablePolicy(policy);
  return policy ? showPolicy(context, policy) : showChanges(context);
}

const unreachablePolicy = (name) => ({title: `Policy ${name}`, up: "/ui/changes",
  nodes: [h("p.crumbs", h("a", {href: "/ui/changes"}, "Changes")), heading("Policy ", h("code", name)),
    h("p.note", "Browsers take this name in an address for a step up, so they cannot ask for this policy. Its revisions are among the changes.")]});

async function showChanges({query, get, list, set, navigate}) {
  const window = query.get("window") || "7d";
  const kind = query.get("kind") || "";
  const [line, {items, more}] = await Promise.all([get("/v1/timeline", {window, buckets: 60}), list("/v1/changes", {kind, limit: PAGE})]);
  const kinds = [...new Set(["code", "runtime", "policy", ...items.map((item) => item.kind), ...(kind ? [kind] : [])])];
  const marks = kind ? line.marks.filter((mark) => mark.kind === kind) : line.marks;
  return {
    title: "Changes", followsAll: true,
    nodes: [heading("What was changed"), filters("Changes",
      windowField(window, set, "Window of the chart"),
      clientSelect("kind", "Kind", [["", "Any kind"], ...kinds.map((one) => [one, one])], kind, (value) => set({kind: value}))),
    timeline({...line, marks}, {name: "Runs, failures and changes", kind: "counts", markName: changeName}),
    items.length > 0 ? rows("entries", "Changes", items.map(row)) : kind ? emptyCard("No change of this kind", button("Clear the filter", () => navigate("/ui/changes")))
      : emptyCard("No change yet", h("p", "Tell the service of each deploy, and it can say which one brought a failure:"), command("A command that sends a change",
        `curl -s "${location.origin}/v1/ingest/changes" -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' -d '{"kind": "code", "ref": "9f3c2d1", "summary": "New refund client"}'`)),
    more],
  };
}

function row(change) {
  const title = change.policy ? policyLink(change, {class: "title"}, [apart(change.policy), ", revision ", apart(change.revision)])
    : h("strong.title", clipName(change.ref || change.summary || change.kind));
  const attributes = {"data-row": change.changeId, "data-id": change.changeId, "data-kind": change.kind, tabindex: title.localName === "a" ? null : "-1"};
  return h("li.change@change", {...attributes}, h("span.badge", {"data-kind": change.kind}, change.kind), h("div.what", title,
    change.summary && (change.ref || change.policy || change.summary.length > NAME_CHARACTERS) ? longText(change.summary, `summary-${change.changeId}`) : null,
    change.author ? h("p.quiet", h("span", "by ", apart(clipName(change.author)))) : null),
  h("div.figures", time(change.at), copyRef(change)));
}

const indexOf = (items, revision) => items.findIndex((one) => one.revision === revision);

// The latest revisions, and so many of those before them that `to`, the one before it and `from` are there.
async function revisionsOf(get, name, {from, to}) {
  const items = [];
  let nextCursor;
  let isComplete;
  do {
    const page = await get(`/v1/policies/${encodeURIComponent(name)}`, {limit: 200, cursor: nextCursor});
    items.push(...page.items);
    nextCursor = page.nextCursor;
    const [newer, older] = [to, from].map((revision) => indexOf(items, revision));
    isComplete = (to === null || newer >= 0) && (from === null ? newer + 1 < items.length : older >= 0);
  } while (nextCursor && !isComplete);
  return {items, nextCursor};
}

// Revisions never change: where there are no others than before, what was `drawn` of them stays.
async function showPolicy({query, get, set, memory, drawn}, name) {
  const [from, to] = [query.get("from"), query.get("to")];
  const {items, nextCursor} = await revisionsOf(get, name, {from, to});
  const at = (revision) => indexOf(items, revision);
  const newer = Math.max(0, at(to));
  const older = at(from) >= 0 ? at(from) : Math.min(newer + 1, items.length - 1);
  const gone = [from, to].filter((revision) => revision !== null && at(revision) < 0);
  const ids = JSON.stringify([newer, older, gone, items.map((one) => one.policyRevisionId)]);
  if (drawn?.ids === ids) return drawn;
  memory.opened ??= new Map();
  const pick = (member) => (value) => set({from: items[older].revision, to: items[newer].revision, [member]: value});
  const revisions = items.map((one) => [one.revision, `Revision ${one.revision}`]);
  return {
    title: `Policy ${name}`, up: "/ui/changes", followsAll: true, ids,
    nodes: [h("p.crumbs", h("a", {href: "/ui/changes"}, "Changes")), heading("Policy ", h("code", name)),
      ...gone.map((revision) => h("p.note", "There is no revision ", h("code", revision), " of this policy.")),
      h("section", h("h2", older === newer ? "What it says" : "How two revisions differ"), items.length > 1 ? filters("Revisions",
        clientSelect("from", "From", revisions, items[older].revision, pick("from")),
        clientSelect("to", "To", revisions, items[newer].revision, pick("to"))) : null,
      older === newer ? content(items[newer], memory.opened) : difference(items[older], items[newer], memory.opened)),
      h("section", h("h2", "Revisions"), rows("entries", "Revisions", items.map((one, i) => h("li.change@policy-revision", {"data-policy": one.policy, "data-revision": one.revision,
        "data-row": one.policyRevisionId}, h("div.what", h("a.title", {href: `/ui/changes?${new URLSearchParams({policy: name, to: one.revision})}`}, "Revision ", apart(one.revision)),
        one.summary ? longText(one.summary, `summary-${one.policyRevisionId}`) : null, h("p.quiet", h("span", one.author ? ["by ", apart(clipName(one.author)), ", "] : "", "in force ", time(one.at), i > 0 ? [" until ", shortTime(items[i - 1].at)] : null)),
        one.ref ? h("p.quiet", "Reference ", h("code", clipName(one.ref)), " ", copyRef(one)) : null, h("p.quiet.clip", "SHA-256 ", h("code", one.contentSha256)))))),
      nextCursor ? h("p.quiet", `The latest ${number(items.length)} revisions are shown.`) : null)],
  };
}

// Lines that only one of two texts has, by their longest common subsequence.
export function diffLines(a, b) {
  const longest = Array.from({length: a.length + 1}, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; --i) {
    for (let j = b.length - 1; j >= 0; --j) longest[i][j] = a[i] === b[j] ? longest[i + 1][j + 1] + 1 : Math.max(longest[i + 1][j], longest[i][j + 1]);
  }
  const out = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      out.push([" ", a[i++]]);
      j += 1;
    } else if (j >= b.length || (i < a.length && longest[i + 1][j] >= longest[i][j + 1])) {
      out.push(["\u2212", a[i++]]);
    } else {
      out.push(["+", b[j++]]);
    }
  }
  return out;
}

const contentOf = (revision, most) => pretty(revision.content ?? null, most);

// A text that is opened on demand, with the button for more of it.
const openable = (body, ...all) => [body, h("p", moreOf(body, ...all))];

function content(revision, opened) {
  const body = sample("Content", null);
  return openable(body, text(revision.content ?? null).length, opened, revision.policyRevisionId, (most) => {
    const shown = contentOf(revision, most + 1);
    body.replaceChildren(visible(clip(shown, most)));
    return shown.length <= most;
  });
}

const LINE_TAGS = {" ": "span", "+": "ins", "\u2212": "del"};

function difference(before, after, opened) {
  const [a, b] = [before, after].map((revision) => contentOf(revision).split("\n"));
  if (a.length > MAX_DIFF_LINES || b.length > MAX_DIFF_LINES) {
    return h("p.note", `These revisions have ${count(a.length, "line")} and ${count(b.length, "line")}: too long to be compared here (at most ${number(MAX_DIFF_LINES)}).`);
  }
  const lines = diffLines(a, b);
  if (lines.every(([sign]) => sign === " ")) return h("p.quiet", "They say the same.");
  const body = sample("Difference", null, "pre.diff");
  const longest = Math.max(...lines.map(([, line]) => line.length));
  return openable(body, longest, opened, `${before.policyRevisionId} ${after.policyRevisionId}`, (most) => {
    body.replaceChildren(...lines.map(([sign, line]) => h(LINE_TAGS[sign], `${sign} ${clip(line, most)}`)));
    return longest <= most;
  }, "characters of the longest line");
}
