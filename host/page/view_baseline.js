// Is this version better or worse than the one before: two rates, their difference, and the same for each group.

import {clientSelect, emptyCard, filters, h, heading, rows, sample} from "./dom.js";
import {range} from "./charts.js";
import {count, interval, number, percent, windowField, windowWords} from "./format.js";
import {groupPath} from "./view_groups.js";

const BEFORE = "before";
const FIRST = ["version", "model"];  // what is compared where the address does not say
const VERDICTS = {worse: "\u25b2 Worse", better: "\u25bc Better", no_difference: "= No difference to be seen", too_few: "? Too few runs to tell"};
const LEVELS = {worse: "high", better: "low"};

const badge = (name) => h("span.badge", {"data-level": LEVELS[name] ?? "none"}, VERDICTS[name] ?? name);
// "+12" percentage points, of a difference between two shares
const points = (value) => `${value > 0 ? "+" : value < 0 ? "\u2212" : ""}${percent(Math.abs(value)).slice(0, -2)}`;

export async function show({query, get, set}) {
  const given = {window: query.get("window") || "7d", against: query.get("against") || BEFORE, dimension: query.get("dimension"), value: query.get("value")};
  const asked = given.dimension && given.value ? get("/v1/baseline", given) : null;  // both are on their way at once
  asked?.catch(() => {});
  const {items: dimensions} = await get("/v1/dimensions");
  const head = heading("Better or worse");
  if (dimensions.length === 0) return {title: "Baseline", nodes: [head, nothingYet()], live: (news) => news};
  const names = dimensions.map((one) => one.dimension);
  const wanted = {...given, dimension: given.dimension || FIRST.find((name) => names.includes(name)) || names[0]};
  const values = dimensions.find((one) => one.dimension === wanted.dimension)?.values ?? [];
  const newest = [...values].sort((a, b) => Date.parse(b.firstSeen) - Date.parse(a.firstSeen))[0];
  wanted.value = given.value || newest?.value || "";
  const known = (list, value) => (value === "" || list.some(([one]) => one === value) ? list : [...list, [value, value]]);
  const options = values.map(({value, runs}) => [value, `${value} (${count(runs, "run")})`]);
  const field = (name, label, list, change) => clientSelect(name, label, known(list, wanted[name]), wanted[name], change ?? ((value) => set({[name]: value})));
  const answer = wanted.value === "" ? null : await (asked ?? get("/v1/baseline", wanted));
  return {
    title: `Baseline of ${wanted.value}`,
    nodes: [head, filters("Baseline",
      field("dimension", "Compare by", names.map((name) => [name, name]), (dimension) => set({dimension, value: "", against: ""})),
      field("value", "This", options), field("against", "Against", [[BEFORE, "the runs before it"], ...options.filter(([value]) => value !== wanted.value)]),
      windowField(wanted.window, set)),
    ...answer === null ? [emptyCard("Nobody sent this dimension", h("p", "Choose another one."))] : [...comparison(answer, wanted), groups(answer, wanted)]],
    live: (news) => news.filter((item) => item.topic === "failures" || item.run.state === "resolved"),
  };
}

const otherWords = ({against, value}) => (against === BEFORE ? `before ${value}` : against);

function comparison({this: here, against, difference, verdict}, wanted) {
  const top = Math.max(here.high, against.high);
  const rate = (one, name, words) => h(`div.card@${name}`, {"data-runs": one.runs, "data-failures": one.affectedRuns, "data-low": one.low, "data-high": one.high},
    h("h2", words), one.runs === 0 ? h("p", `No run, ${windowWords(wanted.window)}.`) : [h("p.lead", h("strong", percent(one.value)), ` of ${count(one.runs, "run")} failed`),
      range(one, top, `${words}: ${percent(one.value)}, 95 % interval ${interval(one)}`), h("p.quiet", `${interval(one)} with 95 % confidence`)]);
  return [h("div.rates", rate(here, "rate-this", wanted.value), rate(against, "rate-against", otherWords(wanted))),
    h("section.card@rate-verdict", {"data-verdict": verdict, "data-level": LEVELS[verdict]}, h("h2", VERDICTS[verdict] ?? verdict),
      h("p@rate-difference", {"data-low": difference.low, "data-high": difference.high}, verdict === "too_few" ? "Both sides need 20 runs at least."
        : `${points(difference.value)} percentage points; with 95 % confidence between ${points(difference.low)} and ${points(difference.high)}.`))];
}

function groups({groups: items}, wanted) {
  if (items.length === 0) return h("p.quiet", "No group of failures on either side.");
  const rate = (one) => [h("strong", percent(one.value)), h("span.quiet", `${number(one.affectedRuns)} of ${number(one.runs)}`)];
  return h("section", h("h2", "Group by group, largest rise first"), rows("groups.compared", "Groups compared", items.map((one) =>
    h("li@baseline-group", {"data-row": one.clusterId, "data-id": one.clusterId, "data-verdict": one.verdict, "data-low": one.difference.low, "data-high": one.difference.high},
      h("div.what", h("a.title", {href: groupPath(one.clusterId, wanted.window), id: `b-${one.clusterId}`}, one.title), h("p.quiet", badge(one.verdict))),
      h("div.figures", h("span.quiet", wanted.value), rate(one.this)), h("div.figures", h("span.quiet", otherWords(wanted)), rate(one.against)),
      h("div.figures", h("span.quiet", "difference"), h("strong", `${points(one.difference.value)} points`))))));
}

function nothingYet() {
  return emptyCard("No run says which version it is of", h("p", "Runs are compared by members of their ", h("code", "metadata"),
    ". Send one of model, version, environment or agent with each run, or name others in the configuration under ", h("code", "page.dimensions"), ":"),
  sample("Metadata of a run", '"metadata": {"version": "2.4.1", "model": "gpt-4o", "environment": "production"}'));
}
