// Elements from data. Text only ever becomes text nodes, and only the attributes below exist: what a client sent can be read, and never
// runs, links or styles.

const SVG = "http://www.w3.org/2000/svg";
const SVG_TAGS = new Set(["svg", "g", "rect", "line", "path", "circle", "text", "desc"]);
const PLAIN = new Set([
  "autocomplete", "checked", "class", "cx", "cy", "d", "datetime", "focusable", "for", "height", "hidden", "id",
  "maxlength", "method", "name", "open", "placeholder", "r", "required", "role", "rows", "scope", "selected", "spellcheck",
  "tabindex", "title", "type", "value", "viewBox", "width", "x", "x1", "x2", "y", "y1", "y2", "preserveAspectRatio", "text-anchor",
]);

// Characters that cannot be seen, or turn the text around them: shown as their code points.
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]|\udb40[\udc00-\udc7f]/g;

// Joiners belong to the spelling of many scripts, and of emoji.
const JOINED = /^(?:(?![\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}])[\p{L}\p{M}]|\p{Extended_Pictographic}|[\ufe0f\u{1f3fb}-\u{1f3ff}])$/u;

function joins(text, at) {
  const before = [...text.slice(Math.max(0, at - 2), at)].at(-1) ?? "";
  const [after = ""] = text.slice(at + 1, at + 3);
  return JOINED.test(before) && JOINED.test(after);
}

export function visible(text) {
  return String(text).replace(HIDDEN, (c, at, whole) => ((c === "\u200c" || c === "\u200d") && joins(whole, at)) ? c : `\u27e8U+${c.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}\u27e9`);
}

// Browsers take "." and ".." in a path for steps up, however they are written: what is named so has no address.
export const hasNoAddress = (name) => name === "." || name === "..";

// A text of a client within a line of ours: where it runs from right to left, the words around it stay where they are.
export const apart = (text) => h("bdi", text);

// A link needs words: quotation marks where a name is nothing but spaces.
export const named = (text) => (text.trim() === "" ? `"${text}"` : text);

function setAttribute(node, name, value) {
  if (name === "href") {
    if (!/^(\/ui\/|\/v1\/|#)/.test(value) || value.startsWith("//")) throw new Error("a link leads to /ui/, /v1/ or #");
  } else if (name === "title" || name.startsWith("aria-")) {
    value = visible(value);
  } else if (!PLAIN.has(name) && !name.startsWith("data-")) {
    throw new Error(`no such attribute: ${name}`);
  }
  node.setAttribute(name, value === true ? "" : value);
}

function append(node, child) {
  if (child === null || child === undefined || child === false) return;
  if (Array.isArray(child)) {
    for (const one of child) append(node, one);
  } else {
    node.append(child instanceof Node ? child : visible(child));
  }
}

// h("a.quiet@raw", {href, on: {click}}, "text", [more]): tag, classes, data-test; attributes, of which those that are null, undefined or
// false are left out, and which may be missing; children.
export function h(tag, attributes, ...children) {
  if (typeof attributes !== "object" || attributes instanceof Node || Array.isArray(attributes)) {
    children.unshift(attributes);
    attributes = null;
  }
  const [path, name] = tag.split("@");
  const [kind, ...classes] = path.split(".");
  const node = SVG_TAGS.has(kind) ? document.createElementNS(SVG, kind) : document.createElement(kind);
  if (classes.length > 0) node.setAttribute("class", classes.join(" "));
  if (name) node.dataset.test = name;
  for (const [key, value] of Object.entries(attributes ?? {})) {
    if (key === "on") {
      for (const [event, listener] of Object.entries(value)) node.addEventListener(event, listener);
    } else if (value !== null && value !== undefined && value !== false) {
      setAttribute(node, key, value);
    }
  }
  append(node, children);
  return node;
}

export const test = (name, root = document) => root.querySelector(`[data-test="${name}"]`);
export const tests = (name, root = document) => [...root.querySelectorAll(`[data-test="${name}"]`)];

// A list of names and values; pairs whose value is null are left out.
export function facts(pairs, attributes) {
  return h("dl.facts", attributes, pairs.filter(([, value]) => value !== null && value !== undefined && value !== "").map(
    ([name, value]) => h("div", h("dt", name), h("dd", value))));
}

export function table(caption, heads, rows, attributes) {
  return h("div.scroll", {tabindex: "0", role: "region", "aria-label": caption}, h("table", attributes, h("caption.unseen", caption),
    h("thead", h("tr", heads.map((head) => h("th", {scope: "col"}, head)))), h("tbody", rows)));
}

// `change` is called with the value that was chosen.
function choice(attribute, name, label, options, chosen, change, testName) {
  return h("label.field", h("span", label), h(testName ? `select@${testName}` : "select", {name, id: `f-${name}`, on: {change: (event) => change?.(options[event.target.selectedIndex][0])}},
    options.map(([value, text]) => h("option", {[attribute]: value, selected: value === chosen}, text))));
}
export const select = (...all) => choice("value", ...all);
// Of values that clients sent.
export const clientSelect = (...all) => choice("data-value", ...all);

// Fields that belong together; their buttons act, and the form itself is never sent.
export const form = (tag, attributes, ...fields) => h(`form${tag}`, {...attributes, on: {submit: (event) => event.preventDefault()}}, fields);
// Fields that say what a view shows.
export const filters = (label, ...fields) => form(".filters", {role: "search", "aria-label": label}, fields);

export const heading = (...words) => h("h1", {tabindex: "-1"}, words);
export const rows = (kind, label, items) => h(`ul.rows.${kind}`, {"aria-label": label}, items);
// A name needs a role: that of `pre` takes none.
export const sample = (name, text, tag = "pre", attributes = null) => h(tag, {tabindex: "0", role: "group", "aria-label": name, ...attributes}, text);
export const emptyCard = (title, ...rest) => h("div.card.empty@empty", h("h2", title), rest);
export const command = (name, text) => sample(name, text, "pre@empty-curl");

// An action that is not begun again while it goes on; one that is no promise is over at once.
export function once(action) {
  let going = false;
  return async (...all) => {
    if (going) return;
    going = true;
    try {
      const result = action(...all);
      if (result instanceof Promise) await result;
    } finally {
      going = false;
    }
  };
}

export const button = (text, click, attributes) => h("button", {type: "button", on: {click: once(click)}, ...attributes}, text);

// Takes a control away; the focus that it has goes to `next`.
export function withdraw(control, next) {
  if (document.activeElement === control) next?.focus({preventScroll: true});
  control.hidden = true;
}

// The button keeps its name; what became of it is a status of its own.
export function copyButton(text, what) {
  const status = h("span.unseen", {role: "status"});
  const copy = button("Copy", async () => {
    const isCopied = await navigator.clipboard?.writeText(text).then(() => true, () => false);
    copy.textContent = status.textContent = isCopied ? "Copied" : "Select it by hand";
  }, {class: "small", "aria-label": `Copy ${what}`});
  return [copy, status];
}
