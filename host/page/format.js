// Numbers, times and words as people read them.

import {ApiError} from "./api.js";
import {copyButton, h, select, withdraw} from "./dom.js";

const NUMBER = new Intl.NumberFormat("en-US");
const WINDOWS = {"1h": 3600e3, "24h": 86400e3, "7d": 7 * 86400e3, "30d": 30 * 86400e3, "90d": 90 * 86400e3};

const WINDOW_OPTIONS = [["1h", "Last hour"], ["24h", "Last 24 hours"], ["7d", "Last 7 days"], ["30d", "Last 30 days"], ["90d", "Last 90 days"]];
export const windowField = (chosen, set, label = "Window") => select("window", label, WINDOW_OPTIONS, chosen, (window) => set({window}), "filter-window");
export function windowMs(name) {
  if (!Object.hasOwn(WINDOWS, name)) throw new ApiError(400, {title: "There is no such window", detail: `A window is one of ${Object.keys(WINDOWS).join(", ")}.`});
  return WINDOWS[name];
}
export const windowWords = (name) => (WINDOW_OPTIONS.find(([value]) => value === name) ?? ["", name])[1].toLowerCase();

// The place to cut a text at, or the one before it where that is within a character.
export const cutAt = (text, at) => (/[\udc00-\udfff]/.test(text.charAt(at)) ? at - 1 : at);
export const clip = (text, most) => (text.length > most ? `${text.slice(0, cutAt(text, most))}\u2026` : text);
export const NAME_CHARACTERS = 200;  // of what a client may make as long as it likes, where it stands in a line
export const TEXT_CHARACTERS = 2000;  // of a text, until it is opened
const SLICE_CHARACTERS = 100_000;     // of it, with each press of the button that opens it: browsers take seconds to lay out a million
export const clipName = (name) => clip(String(name), NAME_CHARACTERS);
export const copyRef = ({ref}) => (ref ? copyButton(ref, `the reference ${clipName(ref)}`) : null);
export const number = (value) => NUMBER.format(value);
export const count = (value, one, many = `${one}s`) => `${number(value)} ${value === 1 ? one : many}`;
// A text of its own in a row, opened on demand where it is long; `keep` names it over a refresh.
export const longText = (text, keep) => (text.length <= TEXT_CHARACTERS ? h("p", text)
  : h("details", {"data-keep": keep}, h("summary", `${clipName(text)} (${number(text.length)} characters)`), h("p", text)));
// The button that opens more and more of a text of so many characters. `fill` draws the first `most` of them in `body`, and gives whether those are
// all; `opened` keeps under `key` how many they were.
export function moreOf(body, length, opened, key, fill, unit = "characters") {
  let most = opened.get(key) ?? TEXT_CHARACTERS;
  const more = h("button.small", {type: "button", on: {click: () => {
    most = (most > TEXT_CHARACTERS ? most : 0) + SLICE_CHARACTERS;
    opened.set(key, most);
    draw();
  }}});
  const draw = () => {
    more.textContent = `Show ${most > TEXT_CHARACTERS || length > SLICE_CHARACTERS ? "more of" : "all"} ${number(length)} ${unit}`;
    if (fill(most)) withdraw(more, body);
  };
  draw();
  return more;
}
export const usd = (value) => (value > 0 && value < 0.0001 ? "< $0.0001" : `$${value.toFixed(value > 0 && value < 0.01 ? 4 : 2)}`);

// 0.0025 -> "0.25 %": at least two digits that say something, down to one in a million.
export function percent(share) {
  const value = share * 100;
  const digits = value < 0.00005 || value >= 9.95 ? 0 : value >= 0.995 ? 1 : Math.min(4, 1 - Math.floor(Math.log10(value)));
  return `${value.toFixed(digits)}\u00a0%`;
}

// What the interval says, in the digits it deserves.
export const interval = (rate) => `${percent(rate.low)} to ${percent(rate.high)}`;

export function duration(ms) {
  if (!Number.isFinite(ms) || ms < 0) return null;
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 59.95e3) return `${(ms / 1000).toFixed(1)} s`;
  const [seconds, minutes, hours] = [1e3, 60e3, 3600e3].map((unit) => Math.round(ms / unit));  // first, so that no part of it becomes 60
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  if (minutes < 1440) return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

// The clocks of the browser and of the service may differ a little.
export function ago(ms) {
  if (ms < -60e3) return "in the future";
  if (ms < 45e3) return "just now";
  if (ms < 90 * 60e3) return `${Math.max(1, Math.round(ms / 60e3))} min ago`;
  if (ms < 36 * 3600e3) return `${Math.round(ms / 3600e3)} h ago`;
  return `${Math.round(ms / 86400e3)} days ago`;
}

const pad = (value) => String(value).padStart(2, "0");

// Local time, to the minute; the offset is in the title.
export function absolute(at) {
  const d = new Date(at);
  return `${d.getFullYear()}-${pad(d.getMonth() + 1)}-${pad(d.getDate())} ${pad(d.getHours())}:${pad(d.getMinutes())}`;
}

// To the millisecond, for what follows closely.
function exact(at) {
  const d = new Date(at);
  return `${absolute(at)}:${pad(d.getSeconds())}.${String(d.getMilliseconds()).padStart(3, "0")}`;
}

const since = (at) => ago(Date.now() - Date.parse(at));
const timeNode = (at, attributes, words) => (at ? h("time", {datetime: at, title: at, ...attributes}, words(at)) : null);
export const time = (at, attributes) => timeNode(at, attributes, () => `${absolute(at)} (${since(at)})`);
export const exactTime = (at) => timeNode(at, null, exact);
export const shortTime = (at, attributes) => timeNode(at, attributes, since);

export const STATE_WORDS = {new: "New", ongoing: "Ongoing", regressed: "Came back", resolved: "Resolved", ignored: "Ignored"};
const TREND_WORDS = {rising: "rising", falling: "falling", steady: "steady", too_few: "too few to tell"};
const TREND_SIGNS = {rising: "\u2197", falling: "\u2198", steady: "\u2192", too_few: ""};
export const trend = (name) => `${TREND_SIGNS[name] ?? ""} ${TREND_WORDS[name] ?? name}`.trim();
const DETECTOR_WORDS = {
  false_success: "False success", expensive_loop: "Expensive loop", schema_ghost: "Schema ghost",
  missing_tool_call: "Missing tool call", context_overflow: "Context overflow",
};
// How many could neither find a failure nor rule it out.
export const undecided = (reports = []) => reports.filter((one) => !["clean", "fired"].includes(one.status));
export const detector = (key) => DETECTOR_WORDS[key] ?? key;

const SEVERITY_SIGNS = {critical: "\u25b2\u25b2", high: "\u25b2", medium: "\u25c6", low: "\u25bd"};
export const severity = (name, attributes) => h("span.badge", {"data-level": name, ...attributes}, `${SEVERITY_SIGNS[name] ?? ""} ${name}`);
export const stateBadge = (name, attributes) => h("span.badge", {"data-state": name, ...attributes}, STATE_WORDS[name] ?? name);

// "2.4.1" of {value: "2.4.1"} or plain text, number or boolean.
export const text = (value) => (typeof value === "string" ? value : JSON.stringify(value));

const JSON_TOKEN = /"(?:[^"\\]|\\.)*"|[[\]{}:,]|[^\s"[\]{}:,]+/g;
const MAX_DEPTH = 100;  // of what is indented: each line of it begins with twice as many spaces

// JSON indented, everything else of it as it was sent: parsing would round its numbers, and drop all but one of the members of one name.
// Of a long one at least `most` characters.
export function pretty(value, most = Infinity) {
  const shown = text(value);
  if (!/^\s*[[{]/.test(shown)) return shown;
  try {
    JSON.parse(shown);
  } catch {
    return shown;
  }
  return indented(shown, most) ?? shown;
}

function indented(json, most) {
  let out = "";
  let depth = 0;
  let last = "";
  const newLine = () => `\n${"  ".repeat(depth)}`;
  for (const [token] of json.matchAll(JSON_TOKEN)) {
    const opened = last === "{" || last === "[";
    if (token === "}" || token === "]") {
      depth -= 1;
      if (!opened) out += newLine();
    } else if (opened || last === ",") {
      out += newLine();
    }
    out += token === ":" ? ": " : token;
    if (token === "{" || token === "[") depth += 1;
    if (depth > MAX_DEPTH) return null;
    if (out.length >= most) break;
    last = token;
  }
  return out;
}
