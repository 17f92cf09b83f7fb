// Charts as SVG: bars, vertical marks, axes. Every chart has a name; the large ones come with a table of the same numbers.

import {h, table, visible} from "./dom.js";
import {absolute, count, number, percent} from "./format.js";

const SPARK = {width: 96, height: 22};
const CHART = {width: 720, height: 190, left: 46, right: 8, top: 26, bottom: 24};

export function spark(buckets, name) {
  const top = Math.max(1, ...buckets);
  const step = SPARK.width / Math.max(1, buckets.length);
  return h("svg.spark@spark", {role: "img", "aria-label": name, viewBox: `0 0 ${SPARK.width} ${SPARK.height}`,
    width: SPARK.width, height: SPARK.height, preserveAspectRatio: "none", focusable: "false"},
  h("line.axis", {x1: 0, y1: SPARK.height - 0.5, x2: SPARK.width, y2: SPARK.height - 0.5}),
  h("path.bar", {d: bars(buckets, top, step)}));
}

// One path for all: a list of fifty groups would hold thousands of rectangles.
function bars(buckets, top, step) {
  const width = Math.max(0.8, step - 0.6).toFixed(2);
  return buckets.map((value, i) => {
    if (value === 0) return "";
    const height = Math.max(2, value / top * (SPARK.height - 2)).toFixed(2);
    return `M${(i * step).toFixed(2)} ${SPARK.height}v-${height}h${width}v${height}z`;
  }).join("");
}

// A share and its confidence interval, on a scale from 0 to `top`.
export function range({value, low, high}, top, name) {
  const x = (share) => (top > 0 ? share / top * 192 + 4 : 4).toFixed(1);
  return h("svg.range", {role: "img", "aria-label": name, viewBox: "0 0 200 18", width: 200, height: 18, focusable: "false"},
    h("line.axis", {x1: 4, y1: 9, x2: 196, y2: 9}), h("line.span", {x1: x(low), y1: 9, x2: x(high), y2: 9}), h("circle.bar", {cx: x(value), cy: 9, r: 5}));
}

// A round number at or above: 1, 2 or 5 times a power of ten.
function roundUp(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((times) => times * power).find((round) => round >= value * 0.9999);
}

// Short text for a tick: the day where buckets are long, the time where they are short.
function tick(at, spanMs) {
  const words = absolute(at);
  return spanMs > 2 * 86400e3 ? words.slice(5, 10) : words.slice(11);
}

// `timeline`: an answer of /v1/timeline. `kind`: "share", failures per run, or "counts", runs with failures in front of them.
// `markName(mark)` says what a mark is.
export function timeline(answer, {name, kind = "share", markName}) {
  const {buckets, marks} = answer;
  const from = Date.parse(answer.from);
  const until = Math.max(Date.parse(answer.until), from + 1);
  const inner = {width: CHART.width - CHART.left - CHART.right, height: CHART.height - CHART.top - CHART.bottom};
  const x = (ms) => CHART.left + Math.min(1, Math.max(0, (ms - from) / (until - from))) * inner.width;
  const valueOf = (bucket) => (kind === "counts" ? bucket.runs : bucket.runs === 0 ? 0 : bucket.failures / bucket.runs);
  const highest = Math.max(...buckets.map((bucket) => Math.max(valueOf(bucket), kind === "counts" ? bucket.failures : 0)), 0);
  const top = highest === 0 ? 1 : roundUp(highest);
  const y = (value) => CHART.top + inner.height * (1 - Math.min(1, value / top));
  const label = (value) => (kind === "counts" ? number(value) : percent(value));
  const bottom = CHART.top + inner.height;
  const bar = (bucket) => {
    const at = Date.parse(bucket.at);
    const left = x(at);
    const width = Math.max(1, x(at + answer.bucketSeconds * 1000) - left - 1);
    const words = `${absolute(bucket.at)}: ${count(bucket.failures, "failure")} in ${count(bucket.runs, "run")}`;
    const rect = (className, value) => (value === 0 ? null : h(`rect.${className}`, {x: left.toFixed(1), y: Math.min(y(value), bottom - 2).toFixed(1),
      width: width.toFixed(1), height: Math.max(2, bottom - y(value)).toFixed(1)}));
    return h("g@bar", {"data-at": bucket.at, "data-runs": bucket.runs, "data-failures": bucket.failures, "aria-label": words, role: "img"},
      h("rect.hit", {x: left.toFixed(1), y: CHART.top, width: (width + 1).toFixed(1), height: inner.height}),
      kind === "counts" ? rect("total", bucket.runs) : null, rect("bar", kind === "counts" ? bucket.failures : valueOf(bucket)),
      titled(words));
  };
  const marked = (mark) => {
    const at = x(Date.parse(mark.at)).toFixed(1);
    const words = `${absolute(mark.at)}: ${markName(mark)}${mark.suspect ? " (suspect)" : ""}`;
    return h(mark.suspect ? "g.mark.suspect" : "g.mark", {"data-test": "mark", "data-id": mark.changeId, "data-kind": mark.kind,
      "data-suspect": String(Boolean(mark.suspect)), role: "img", "aria-label": words},
    h("line", {x1: at, x2: at, y1: CHART.top - 6, y2: bottom}),
    mark.kind === "policy" ? h("rect", {x: at - 5, y: CHART.top - 16, width: 10, height: 10}) : h("circle", {cx: at, cy: CHART.top - 11, r: 5}),
    titled(words));
  };
  const suspectLast = [...marks].sort((a, b) => Boolean(a.suspect) - Boolean(b.suspect));  // what is drawn later covers what is there
  const ticks = [0, 1, 2, 3, 4].map((i) => from + (until - from) * i / 4);
  const drawing = h("svg.chart", {viewBox: `0 0 ${CHART.width} ${CHART.height}`, role: "group", "aria-label": name, focusable: "false"},
    [0, 0.5, 1].map((part) => h("line.grid", {x1: CHART.left, x2: CHART.width - CHART.right, y1: y(top * part), y2: y(top * part)})),
    [0, 0.5, 1].map((part) => h("text.label", {x: CHART.left - 6, y: y(top * part) + 4, "text-anchor": "end"},
      kind === "counts" && !Number.isInteger(top * part) ? "" : label(top * part))),
    ticks.map((at, i) => h("text.label", {x: x(at), y: CHART.height - 6, "text-anchor": i === 0 ? "start" : i === 4 ? "end" : "middle"}, tick(at, until - from))),
    buckets.map(bar), suspectLast.map(marked));
  return h("figure@timeline", h("div.scroll", {tabindex: "0", role: "region", "aria-label": `${name}, chart`}, drawing), legend(kind, marks, answer.marksLeftOut), tableOf(answer, name));
}

function titled(words) {
  const title = document.createElementNS("http://www.w3.org/2000/svg", "title");
  title.textContent = visible(words);
  return title;
}

function legend(kind, marks, leftOut) {
  const sign = (className) => h(`span.sign.${className}`, {"aria-hidden": "true"});
  return h("figcaption.quiet", kind === "counts" ? [sign("total"), "runs ", sign("bar"), "failures "] : [sign("bar"), "failures per run "],
    marks.length > 0 ? [sign("change"), "change ", sign("policy"), "policy revision "] : null,
    marks.some((mark) => mark.suspect) ? [sign("suspect"), "suspect change "] : null,
    leftOut > 0 ? `(${count(leftOut, "older mark")} not shown)` : null);
}

function tableOf(answer, name) {
  return h("details", {"data-keep": `table-${name}`}, h("summary", "The same as a table"),
    table(`${name}, as numbers`, ["From", "Runs", "Failures"], answer.buckets.filter((bucket) => bucket.runs > 0 || bucket.failures > 0).map(
      (bucket) => h("tr", h("td", absolute(bucket.at)), h("td.number", number(bucket.runs)), h("td.number", number(bucket.failures))))));
}
