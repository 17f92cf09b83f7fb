// What surrounds every view: navigation, theme, live switch, help, errors, and the keyboard.

import {button, h, test, visible} from "./dom.js";

const NAV = [["groups", "/ui/groups", "Groups", "g"], ["runs", "/ui/runs", "Runs", "r"], ["candidates", "/ui/candidates", "Candidates", "a"], ["changes", "/ui/changes", "Changes", "c"],
  ["baseline", "/ui/baseline", "Baseline", "b"], ["detectors", "/ui/detectors", "Detectors", "d"]];
const PARENT = {group: "groups", run: "runs"};
const KEYS = [["j k", "next, previous row"], ["Enter o", "open the chosen row"], ["u", "up to the list, or to the group"], ["/", "search, or the id of a run"],
  ["g then g r a c b d", "go to groups, runs, candidates, changes, baseline, detectors"], ["n p", "next, previous evidence in a run"],
  ["f", "fold or unfold repeated steps"], ["y x", "a failure is right, a false alarm"], ["e", "resolve the group"], ["i", "ignore the group"], ["l", "live on or off"],
  ["t", "light or dark"], ["?", "this help"], ["Esc", "close"]];
const HELD = new Set(["j", "k", "n", "p"]);  // keys that do it again while they are held
// Esc empties a search before it leaves it, in every browser.
function leaveField(field) {
  if (field.type !== "search" || field.value === "") return field.blur();
  field.value = "";
  field.dispatchEvent(new Event("input"));
}

export const opener = (row) => row?.querySelector("a[href], summary");  // a row's buttons do something else
const GO_TIMEOUT_MS = 1500;
const SLOW_MS = 500;
const LOADING = "Loading";

// localStorage may be switched off.
const stored = {
  get: (key) => { try { return localStorage.getItem(key); } catch { return null; } },
  set: (key, value) => { try { localStorage.setItem(key, value); } catch { /* then it lasts as long as the page */ } },
};

export class Frame {
  constructor({go, refresh, logOut, onLive}) {
    this.go = go;
    this.refresh = refresh;
    this.onLive = onLive;
    this.viewKeys = {};
    this.up = null;
    this.live = stored.get("rw-live") !== "off";
    this.answered = true;
    this.holding = false;
    this.shortcuts = this.wantsShortcuts();
    this.goUntil = 0;
    this.dark = matchMedia("(prefers-color-scheme: dark)");
    this.build(logOut);
    this.applyTheme();
    this.applyLive();
    this.dark.addEventListener("change", () => this.applyTheme());
    window.addEventListener("storage", () => {  // another tab has switched something
      this.shortcuts = this.toggle.checked = this.wantsShortcuts();
      this.applyTheme();
    });
    document.addEventListener("keydown", (event) => this.onKey(event));
  }

  build(logOut) {
    this.links = NAV.map(([name, href, text]) => h("a", {href, "data-test": `nav-${name}`, "data-name": name}, text));
    this.liveButton = button("Live", () => this.toggleLive(), {class: "small", "data-test": "live"});
    this.themeButton = button("Theme", () => this.toggleTheme(), {class: "small", "data-test": "theme-toggle"});
    this.tenant = h("span.tenant@tenant");
    this.key = h("span.quiet@session-key");
    this.controls = h("div.controls", this.liveButton, this.themeButton,
      h("button.small", {type: "button", "aria-label": "Help: keys", on: {click: () => this.help.showModal()}}, "?"),
      this.account = h("span.account", this.tenant, this.key,
        button("Log out", logOut, {class: "small", "data-test": "logout"})));
    this.nav = h("nav", {"aria-label": "Views"}, this.links);
    this.errors = h("div.errors");
    this.status = h("p.unseen", {role: "status", "aria-live": "polite"});
    this.main = h("main", {id: "main", tabindex: "-1"});
    this.toggle = h("input@shortcuts-toggle", {type: "checkbox", checked: this.shortcuts, on: {change: () => {
      this.shortcuts = this.toggle.checked;
      stored.set("rw-shortcuts", this.shortcuts ? "on" : "off");
    }}});
    this.help = h("dialog@help", {"aria-label": "Keys"}, h("h2", "Keys"),
      h("table", h("caption.unseen", "Keys and what they do"),
        h("thead", h("tr", h("th", {scope: "col"}, "Key"), h("th", {scope: "col"}, "Does"))),
        h("tbody", KEYS.map(([keys, does]) => h("tr", h("td", h("kbd", keys)), h("td", does))))),
      h("p", h("label", this.toggle, " Single letters work as keys")),
      h("p", button("Close", () => this.help.close())));
    this.nodes = [h("a.skip", {href: "#main", on: {click: (event) => {
      event.preventDefault();
      this.main.focus();
    }}}, "Skip to content"),
      h("header", h("a.brand", {href: "/ui/"}, "runwarden"), this.nav, this.controls), this.errors, this.status, this.main, this.help];
  }

  // Which view it surrounds; without a session only what a stranger may use.
  show(name, session) {
    const current = PARENT[name] ?? name;
    for (const link of this.links) {
      if (link.dataset.name === current) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    this.nav.hidden = this.account.hidden = this.liveButton.hidden = session === null;
    this.tenant.textContent = session === null ? "" : session.tenant;
    this.key.textContent = session === null ? "" : visible(`${session.keyName} (${session.scopes.join(", ")})`);
    this.session = session;
  }

  may(scope) {
    return this.session?.scopes.includes(scope) ?? false;
  }

  say(text) {
    this.status.textContent = text;
  }

  errorBox(fault, ...rest) {
    return h("div.error@error", {role: "alert"}, h("strong", fault.title ?? "This page made a mistake"),
      h("p", fault.message), fault.requestId ? h("p.quiet", "Request ", h("code", fault.requestId)) : null, rest);
  }

  // Above the view, and on the screen wherever the reader is in it.
  showError(fault) {
    this.errors.replaceChildren(this.errorBox(fault, button("Close", () => {
      this.clearError();
      this.main.focus({preventScroll: true});
    }, {class: "small"})));
  }

  clearError() {
    this.errors.replaceChildren();
  }

  wantsShortcuts() {
    return stored.get("rw-shortcuts") !== "off";
  }

  applyTheme() {
    const chosen = stored.get("rw-theme") ?? this.theme;
    const theme = chosen === "light" || chosen === "dark" ? chosen : this.dark.matches ? "dark" : "light";
    document.documentElement.dataset.theme = theme;
    this.themeButton.setAttribute("aria-label", `Theme: ${theme}. Switch to ${theme === "dark" ? "light" : "dark"}`);
    this.themeButton.textContent = theme === "dark" ? "Dark" : "Light";
  }

  toggleTheme() {
    this.theme = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
    stored.set("rw-theme", this.theme);
    this.applyTheme();
  }

  applyLive() {
    this.liveButton.dataset.state = this.live ? "on" : "off";
    this.liveButton.setAttribute("aria-pressed", String(this.live));
    this.liveButton.textContent = !this.live ? "Live off" : !this.answered ? "Live: no answer" : this.holding ? "Live: on hold" : "Live on";
  }

  // Whether the service answered the last request that follows it. Gives whether that is new.
  heard(answered) {
    if (answered === this.answered) return false;
    this.answered = answered;
    this.applyLive();
    return true;
  }

  // A view is on its way. One that takes long is announced, and what it will replace is dimmed.
  wait(waiting) {
    clearTimeout(this.slow);
    if (this.status.textContent === LOADING) this.say("");
    delete this.main.dataset.slow;
    this.main.setAttribute("aria-busy", String(waiting));
    if (!waiting) return;
    this.slow = setTimeout(() => {
      this.main.dataset.slow = "";
      this.say(LOADING);
    }, SLOW_MS);
  }

  // Whether what came in waits for the reader to let go of what is shown.
  hold(holding) {
    if (holding === this.holding) return;
    this.holding = holding;
    this.applyLive();
  }

  toggleLive() {
    this.live = !this.live;
    stored.set("rw-live", this.live ? "on" : "off");
    this.applyLive();
    this.onLive(this.live);
  }

  rows() {
    return [...this.main.querySelectorAll("[data-row]")];
  }

  // The chosen row is marked, and its link has the focus.
  choose(step) {
    const rows = this.rows();
    if (rows.length === 0) return;
    const at = rows.findIndex((row) => row.getAttribute("aria-current") === "true");
    const to = at < 0 ? (step > 0 ? 0 : rows.length - 1) : Math.min(Math.max(at + step, 0), rows.length - 1);
    for (const row of rows) row.removeAttribute("aria-current");
    rows[to].setAttribute("aria-current", "true");
    (opener(rows[to]) ?? rows[to]).focus();
    rows[to].scrollIntoView({block: "nearest"});
  }

  openChosen() {
    opener(this.main.querySelector('[data-row][aria-current="true"]'))?.click();
  }

  onKey(event) {
    if (event.ctrlKey || event.altKey || event.metaKey || event.defaultPrevented || event.isComposing || this.help.open) return;
    if (event.repeat && !HELD.has(event.key)) return;
    const target = event.target;
    if (event.key === "Escape") {
      if (target.matches?.("input, textarea, select")) leaveField(target);
      if (target.type === "search") event.preventDefault();
      this.clearError();
      return;
    }
    if (target.matches?.("textarea, select, input:not([type=checkbox])") || target.isContentEditable) return;
    if (event.key === "Enter") {
      if (!target.matches?.("a, button, summary, input")) this.openChosen();
      return;
    }
    if (!this.shortcuts || this.session == null) return;
    if (this.onLetter(event.key)) event.preventDefault();
  }

  // Whether the letter meant something.
  onLetter(key) {
    const now = performance.now();
    const going = now < this.goUntil;
    this.goUntil = 0;
    if (going) {
      const to = NAV.find(([, , , letter]) => letter === key);
      if (to) this.go(to[1]);
      return to !== undefined;
    }
    switch (key) {
      case "g": this.goUntil = now + GO_TIMEOUT_MS; return true;
      case "j": this.choose(1); return true;
      case "k": this.choose(-1); return true;
      case "o": this.openChosen(); return true;
      case "u": if (this.up) this.go(this.up, {again: true}); return true;
      case "/": { const search = test("search", this.main) ?? test("open-run", this.main); search?.focus(); return search !== null; }
      case "l": this.toggleLive(); return true;
      case "t": this.toggleTheme(); return true;
      case "?": this.help.showModal(); return true;
      default: if (!Object.hasOwn(this.viewKeys, key)) return false;
    }
    this.viewKeys[key]();
    return true;
  }
}
