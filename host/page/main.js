// Which view an address shows, and the way from one address to the next. The address is the state; each entry of the history also keeps the
// address that led to it.

import {ApiError, currentSession, get, load, logOut, sameSession, whenSessionEnds} from "./api.js";
import {button, h, heading, visible} from "./dom.js";
import {Frame, opener} from "./frame.js";
import {count} from "./format.js";

const VIEWS = [
  ["groups", /^\/ui\/(?:groups\/?)?$/],
  ["group", /^\/ui\/groups\/([^/]+)\/?$/],
  ["runs", /^\/ui\/runs\/?$/],
  ["run", /^\/ui\/runs\/([^/]+)\/?$/],
  ["candidates", /^\/ui\/candidates\/?$/],
  ["changes", /^\/ui\/changes\/?$/],
  ["baseline", /^\/ui\/baseline\/?$/],
  ["detectors", /^\/ui\/detectors\/?$/],
  ["login", /^\/ui\/login\/?$/],
];
const LIVE_TICK_MS = 700;      // the session is looked at with each,
const TAIL_EVERY_TICKS = 3;    // what has come since with every third

const root = document.documentElement;
let session = null;  // with `tail`, from where it follows what is committed
let ended = false;   // whether the last one ended by itself
let shown = null;  // {address, context, drawn, from} of what is on the screen; `from`: the address that led to it
let turn = 0;      // of the newest navigation: older ones give up
let failed = null; // {fault, quiet} of the last view that the reader asked for, where it could not be shown
let aborter = new AbortController();

const frame = new Frame({
  go: (path, how) => navigate(path, how),
  refresh: () => draw({quiet: true}),
  logOut: async () => {
    try {
      await logOut();
    } catch (fault) {
      return frame.showError(fault);
    }
    session = null;
    ended = false;
    navigate("/ui/login", {replace: true});
  },
  onLive: (on) => (on ? startLive() : null),
});

whenSessionEnds(() => {
  if (root.dataset.view === "login") return;
  session = null;
  ended = true;
  navigate(loginPath(), {replace: true});
});

// The login only redirects to an address of this page: one that is still such once the browser has resolved its dots.
function nextOf(search) {
  const next = new URLSearchParams(search).get("next") ?? "";
  if (!next.startsWith("/ui/") || /\/\/|\\|[\u0000-\u001f\u007f-\u009f]/.test(next)) return "/ui/";
  const {pathname} = new URL(next, location.origin);
  return pathname.startsWith("/ui/") && !pathname.startsWith("/ui/login") ? next : "/ui/";
}

const address = () => location.pathname + location.search;
const here = () => address() + location.hash;

// Where the reader of this session was in the latest views that were left, by their addresses: back, forward and up lead there again.
const MAX_LEFT = 100;
const left = new Map();
history.scrollRestoration = "manual";

const chosenRow = () => frame.main.querySelector('[data-row][aria-current="true"]');

function leave() {
  if (shown) {
    left.delete(shown.address);  // what is set again comes last
    left.set(shown.address, {scrollY: window.scrollY, chosen: chosenRow()?.dataset.row, memory: shown.context.memory, from: shown.from});
    if (left.size > MAX_LEFT) left.delete(left.keys().next().value);
  }
  shown = null;
}

// Nothing that another session was shown outlives it.
function begin(fresh) {
  session = fresh;
  left.clear();
}

function choose(chosen) {
  for (const row of frame.main.querySelectorAll("[data-row]")) {
    if (chosen !== undefined && row.dataset.row === chosen) row.setAttribute("aria-current", "true");
  }
}

// This address with other members in its query; an empty one goes.
function addressWith(changes) {
  const members = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(changes)) {
    if (value === "") members.delete(name); else members.set(name, value);
  }
  return location.pathname + (members.size > 0 ? `?${members}` : "");
}

// A list of the service, as many pages of it as the reader asked for, and the button for one more.
async function pagesOf(context, path, members, words = "Show more") {
  const {get, memory, refresh} = context;
  const pages = [await get(path, members)];
  while (pages.length < (memory.pages ?? 1) && pages.at(-1).nextCursor) pages.push(await get(path, {...members, cursor: pages.at(-1).nextCursor}));
  const more = pages.at(-1).nextCursor ? h("p", button(words, () => {
    memory.pages = pages.length + 1;
    refresh();
  }, {id: "more"})) : null;
  return {first: pages[0], items: pages.flatMap((page) => page.items), more};
}

// Asks the service to change something, says that it is done, empties the form that said what, and shows what has become of it.
async function act({refresh}, request, done, form) {
  try {
    await request;
    form?.reset();
    frame.say(done);
    await refresh();
  } catch (fault) {
    frame.showError(fault);
  }
}

function loginPath() {
  const now = here();
  return now === "/ui/" || now.startsWith("/ui/login") ? "/ui/login" : `/ui/login?${new URLSearchParams({next: now})}`;
}

function viewOf(path) {
  for (const [name, pattern] of VIEWS) {
    const match = pattern.exec(path);
    if (!match) continue;
    try {
      return {name, parameters: match.slice(1).map(decodeURIComponent)};
    } catch {
      return null;
    }
  }
  return null;
}

const nameOf = (address) => viewOf(address.split(/[?#]/)[0])?.name;

// {replace}: no entry of its own in the history, as for the address that is shown; {quiet}: the same view goes on, its focus stays; {again}: to where the reader was in it. An
// entry of the history knows the address that led to its view; the way up to a view leaves that as it was.
function navigate(path, {replace = false, quiet = false, again = false} = {}) {
  if (replace || path === here()) history.replaceState(history.state, "", path);
  else history.pushState(nameOf(path) === nameOf(here()) ? history.state : (again && left.get(path)?.from) || here(), "", path);
  return draw({quiet, again});
}

// What a view is of: the list as the reader left it, or one of the `others` that led to it, else the list at that address.
function listOf(path, ...others) {
  return history.state && [nameOf(path), ...others].includes(nameOf(history.state)) ? history.state : path;
}

function skeleton() {
  return h("div@skeleton", {"aria-hidden": "true"}, [1, 2, 3].map(() => h("div.bone")));
}

function problemView(fault) {
  return {title: "Error", nodes: [heading(fault.status === 404 ? "Not found" : "This could not be shown"),
    frame.errorBox(fault), h("p", button("Try again", () => draw()), " ",
      h("a", {href: "/ui/"}, "All groups"))]};
}

// Gives true once the view is on the screen, false after a fault, null where the reader's hands are on what it would replace (`live`), and nothing
// where a newer navigation has taken over.
function draw(how = {}) {
  const drawing = drawView(how);
  if (how.live) return drawing;
  const mine = turn;
  frame.wait(true);
  return drawing.finally(() => { if (mine === turn) frame.wait(false); });
}

// {retry}: of what has failed; the fault that is shown stays until there is something else to show.
async function drawView({quiet = false, again = false, live = false, retry = false}) {
  const mine = ++turn;
  aborter.abort();
  aborter = new AbortController();
  performance.mark("view-begin");
  const {name, parameters} = viewOf(location.pathname) ?? {name: "groups", parameters: null};
  quiet &&= root.dataset.view === name;
  let same = true;  // whether the session is the one that the frame shows
  root.dataset.ready = "false";
  root.dataset.view = name;
  if (!quiet && !retry) {
    leave();
    composing = false;
    frame.clearError();
    frame.main.replaceChildren(heading("Loading"), skeleton());
  }
  try {
    const module = load(`view_${name}.js`);  // loads while the session is requested
    module.catch(() => {});
    if (name !== "login" && session === null) {
      const fresh = await currentSession();
      if (mine !== turn) return;
      begin(fresh);
      if (session === null) return navigate(loginPath(), {replace: true});
    } else if (name !== "login") {
      same = sameSession().catch(() => true);  // what fails here fails in the view's own requests, too
    }
    frame.show(name, name === "login" ? null : session);
    if (name !== "login") session.tail ??= (await get("/v1/tail")).after;  // before what is shown: nothing comes in between unseen
    if (mine !== turn) return;
    if (parameters === null) throw new ApiError(404, {title: "There is no such page", detail: `Nothing is shown at ${location.pathname}.`});
    const signal = aborter.signal;
    const view = await module;
    const was = again ? left.get(address()) : undefined;
    const context = {parameters, query: new URLSearchParams(location.search), session, ended, signal, frame, navigate, nextOf, listOf, drawn: quiet ? shown?.drawn : undefined,
      memory: (quiet ? shown?.context.memory : was?.memory) ?? {},
      get: (path, members) => get(path, members, signal),
      refresh: () => navigate(here(), {replace: true, quiet: true}), set: (changes) => navigate(addressWith(changes), {replace: true, quiet: true}),
      loggedIn: (fresh) => {
        begin(fresh);
        ended = false;
      }};
    context.list = (...all) => pagesOf(context, ...all);
    context.act = (request, done, form) => act(context, request, done, form);
    const drawn = await view.show(context);
    const isSame = await same;
    if (mine !== turn) return;
    if (!isSame) return startAnew();
    if (live && isOccupied()) {
      root.dataset.ready = "true";
      return null;
    }
    place(name, context, drawn, {quiet, was});
    return true;
  } catch (fault) {
    if (mine !== turn || fault.name === "AbortError") return;
    if (fault.status === 401 && name !== "login") return;
    if (!await same) return startAnew();
    if (mine !== turn) return;
    if (session === null) frame.show(name, null);
    if (quiet && !retry) frame.showError(fault);
    else if (!retry) place(name, {}, problemView(fault), {quiet: false});
    if (!live || retry) failed = {fault, quiet};
    root.dataset.ready = "true";
  }
  return false;
}

const attribute = (node, name) => (node.hasAttribute(name) ? `[${name}="${CSS.escape(node.getAttribute(name))}"]` : "");

// Finds an element again once its view has been drawn anew: by its id or what it is kept by, else by its name or kind, what it points at, and its
// place among the like of its row.
function traceOf(node) {
  const row = node.closest("[data-row]");
  const own = node === row ? "" : node.id ? `#${CSS.escape(node.id)}` : attribute(node, "data-keep") || (attribute(node, "data-test") || node.localName) + attribute(node, "data-pointer");
  const selector = `${row ? `[data-row="${CSS.escape(row.dataset.row)}"]` : ""} ${own}`;
  const like = () => [...frame.main.querySelectorAll(selector)];
  const at = like().indexOf(node);
  return () => like()[at];
}

// The row that has the place of one that is gone, or the last one: what was at work there goes on with it. None in another list.
function successorOf(row) {
  const at = frame.rows().indexOf(row);
  if (at < 0 || shown?.address !== address()) return () => undefined;
  return () => {
    const rows = frame.rows();
    return rows.some((one) => one.dataset.row === row.dataset.row) ? undefined : rows[Math.min(at, rows.length - 1)];
  };
}

// Where the focus goes: to where it was, else to what held that or has its place, else to the heading. What has the focus outside of the view
// keeps it.
function focusKept() {
  const focused = document.activeElement;
  if (!frame.main.contains(focused)) return () => {};
  const [own, ...others] = [focused, focused.closest("details")?.querySelector("summary"), frame.main.querySelector("h1")].filter(Boolean).map(traceOf);
  const next = successorOf(focused.closest("[data-row]"));
  const places = [own, () => opener(next()), ...others];
  const {selectionStart, selectionEnd} = focused;
  return () => {
    const found = places.map((find) => find());
    found.find(Boolean)?.focus({preventScroll: true});
    if (typeof selectionStart === "number") found[0]?.setSelectionRange(selectionStart, selectionEnd);
  };
}

const isTyped = ({options, selectedIndex, value, defaultValue}) => (options ? !options[selectedIndex]?.defaultSelected : value !== defaultValue);

// What the reader has typed and chosen and not sent. The address keeps what filters a view, but not the search that goes on.
function typedKept() {
  const typed = [...frame.main.querySelectorAll("input, select:not(.filters *)")].filter(isTyped).map((control) => [traceOf(control), control.value]);
  return () => {
    for (const [find, value] of typed) {
      const control = find();
      if (!control || control.value === value || (control.options && ![...control.options].some((one) => one.value === value))) continue;
      control.value = value;
      control.dispatchEvent(new Event("input"));
    }
  };
}

// The first row on the screen of whoever has scrolled to it stays where it is, whatever comes in above it.
function rowKept() {
  const top = (row) => row.getBoundingClientRect().top;
  const row = window.scrollY > 0 ? frame.rows().find((one) => one.getBoundingClientRect().bottom > 0) : undefined;
  if (!row) return () => {};
  const [find, was] = [traceOf(row), top(row)];
  return () => {
    const found = find();
    if (found) window.scrollBy(0, top(found) - was);
  };
}

// What scrolls by itself and was scrolled. Asking thousands of boxes for it would lay out each that is not on the screen.
const scrolledBoxes = new Set();
frame.main.addEventListener("scroll", ({target}) => scrolledBoxes.add(target), {capture: true, passive: true});

// How far those are scrolled.
function scrolledKept() {
  const scrolled = [...scrolledBoxes].filter((box) => box.isConnected && (box.scrollTop > 0 || box.scrollLeft > 0))
    .map((box) => [traceOf(box), box.scrollTop, box.scrollLeft]);
  scrolledBoxes.clear();
  return () => {
    for (const [find, top, left] of scrolled) find()?.scrollTo(left, top);
  };
}

// The piece of evidence that the reader has walked to.
function currentKept() {
  const current = frame.main.querySelector("mark.current");
  const find = current ? traceOf(current) : () => undefined;
  return () => find()?.classList.add("current");
}

const toEnd = (drawn) => drawn.end?.()?.scrollIntoView({block: "nearest"});

// What the reader has opened, chosen and typed, and where the focus is, outlives a refresh. Who sees the end of what grows goes on seeing it.
function keepPlace(fill, drawn) {
  const kept = () => frame.main.querySelectorAll("details[data-keep]");
  const open = new Map([...kept()].map((d) => [d.dataset.keep, d.open]));
  const chosen = chosenRow();
  const next = successorOf(chosen);
  const type = typedKept();
  const current = currentKept();
  const scrolled = scrolledKept();
  const focus = focusKept();
  const row = rowKept();
  const {scrollX, scrollY} = window;
  const sawEnd = shown?.drawn.end?.()?.getBoundingClientRect().top < innerHeight;
  fill();
  for (const details of kept()) details.open = open.get(details.dataset.keep) ?? details.open;
  choose((next() ?? chosen)?.dataset.row);
  type();
  current();
  scrolled();
  focus();
  window.scrollTo(scrollX, scrollY);
  row();
  if (sawEnd) toEnd(drawn);
}

function place(name, context, drawn, {quiet, was}) {
  frame.wait(false);
  failed = null;
  const fill = () => frame.main.replaceChildren(...drawn.nodes.filter(Boolean));
  document.title = visible(`${drawn.title} · runwarden`);
  if (quiet) {
    if (drawn !== shown?.drawn) keepPlace(fill, drawn);
  } else {
    fill();
    for (const wide of frame.main.querySelectorAll("figure .scroll")) wide.scrollLeft = wide.scrollWidth;  // what is newest, where not all of it fits
    window.scrollTo(0, was?.scrollY ?? 0);
    frame.main.querySelector("h1")?.focus({preventScroll: true});
    if (was) {
      choose(was.chosen);
    } else {
      drawn.placed?.();
      toEnd(drawn);
    }
  }
  shown = {address: address(), context, drawn, from: history.state};
  frame.viewKeys = drawn.keys ?? {};
  frame.up = drawn.up ?? null;
  root.dataset.ready = "true";
  performance.measure("view", "view-begin");
  if (name !== "login") startLive();
}

// Follows what is committed after the position that was taken before a view's data.
let liveTimer = null;
let ticks = 0;
let stale = false;  // what came in could not be shown
let composing = false;  // a text with an input method, which would lose the field that it writes to
let pressed = false;    // a button of the pointer, or a finger
const OPEN_SELECT = CSS.supports("selector(select:open)") ? "select:open" : null;

// Whether the reader is at something that a view drawn anew would take away: a click between its two halves, an open choice, a selected text.
function isOccupied() {
  const {isCollapsed, anchorNode, focusNode} = getSelection();
  const isSelecting = !isCollapsed && (frame.main.contains(anchorNode) || frame.main.contains(focusNode));
  return pressed || isSelecting || (OPEN_SELECT !== null && frame.main.querySelector(OPEN_SELECT) !== null);
}

function startLive() {
  if (liveTimer === null) liveTimer = setTimeout(tick, LIVE_TICK_MS);
}

async function tick() {
  liveTimer = null;
  if (document.hidden || root.dataset.view === "login" || (session === null && failed === null)) return;
  const isThird = ticks++ % TAIL_EVERY_TICKS === 0;
  try {
    let isBack = false;
    if (session !== null) {  // else its request has failed
      if (frame.live && !composing && isThird) await follow();
      else if (!await sameSession()) return startAnew();
      isBack = frame.heard(true);
    }
    if (isBack || isThird) await retry();
  } catch (fault) {
    if (fault.status === 401) return;
    if (fault.status === 400 && session !== null) await startOver();
    else frame.heard(false);
  }
  startLive();
}

// What another try may have another answer to.
const isPassing = ({status}) => status === 0 || status === 429 || status >= 500;

// Shows what the service was away for, or had no room for, once it answers again.
async function retry() {
  if (failed === null || !isPassing(failed.fault) || performance.now() < failed.fault.retryAt || root.dataset.ready !== "true" || composing || isOccupied()) return;
  const {quiet} = failed;
  if (await draw({quiet, retry: true, live: true}) && quiet) frame.clearError();
}

// Another tab has logged in: what is shown here is of a session that is gone.
function startAnew() {
  session = null;
  return draw();
}

// The position is no longer available: everything may have changed since.
async function startOver() {
  session.tail = undefined;
  await draw({quiet: true});
}

async function follow() {
  const mine = session;
  const answer = await get("/v1/tail", {after: mine.tail, topics: "runs,failures"});
  if (session !== mine || root.dataset.ready !== "true") return;  // the view that is being drawn asks again from the same position
  const before = mine.tail;
  const moved = answer.after !== before;  // also by what is never among the items: a change, a decision, a review
  mine.tail = answer.after;
  const was = shown?.drawn;
  const {live, followsAll, followsDecisions} = was ?? {};
  const concerned = live?.(answer.items) ?? [];
  if (concerned.length === 0 && !(moved && (followsAll || (followsDecisions && answer.items.length === 0)))) return frame.hold(false);
  const isDrawn = isOccupied() ? null : await draw({quiet: true, live: true});
  frame.hold(isDrawn === null);
  if (isDrawn === null || isDrawn === false) mine.tail = before;  // it comes again
  if (isDrawn === false) stale = true;
  if (!isDrawn) return;
  const failures = concerned.filter((item) => item.topic === "failures").length;
  if (shown.drawn !== was) frame.say(failures > 0 ? count(failures, "new failure") : count(Math.max(1, concerned.length), "update"));
  if (stale) frame.clearError();
  stale = false;
}

document.addEventListener("compositionstart", () => { composing = true; });
document.addEventListener("compositionend", () => { composing = false; });
document.addEventListener("pointerdown", () => { pressed = true; }, true);
for (const type of ["pointerup", "pointercancel"]) document.addEventListener(type, () => { pressed = false; }, true);
document.addEventListener("pointermove", ({buttons}) => { if (buttons === 0) pressed = false; }, true);  // let go outside, or in a menu of the browser
document.addEventListener("visibilitychange", () => { if (!document.hidden) startLive(); });
window.addEventListener("pageshow", (event) => { if (event.persisted) { session = null; draw(); } });
window.addEventListener("popstate", () => draw({again: address() !== shown?.address}));

// Links within the page navigate without reloading it.
document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[href]");
  if (!link || event.defaultPrevented || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  const href = link.getAttribute("href");
  if (!/^(\/ui\/|#)/.test(href)) return;
  event.preventDefault();
  navigate(href.startsWith("#") ? address() + href : href, {again: link.closest(".crumbs") !== null});
});

document.body.prepend(...frame.nodes);
draw();
