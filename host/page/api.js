// Requests to the service that this page came from, by the session's cookie. Answers are never kept by the browser.

export class ApiError extends Error {
  constructor(status, problem) {
    super(problem.detail ?? problem.title ?? `the service answered ${status}`);
    this.status = status;
    this.title = problem.title ?? "The service could not answer";
    this.requestId = problem.requestId ?? "";
    this.retryAt = performance.now() + 1000 * (problem.retryAfter || 0);
  }
}

let csrf = null;  // of the session that is shown
let onEnded = () => {};

export const whenSessionEnds = (listener) => { onEnded = listener; };

const unreachable = () => new ApiError(0, {title: "The service does not answer", detail: "No connection to the service."});

// JSON in which whole numbers keep the digits that a number of JavaScript has no room for, in browsers that show them.
const MANY_DIGITS = /\d{16}/;
const withDigits = (_, value, context) => (typeof value === "number" && !Number.isSafeInteger(value) && /^-?\d+$/.test(context?.source) ? JSON.rawJSON(context.source) : value);
const parse = (text) => JSON.parse(text, MANY_DIGITS.test(text) ? withDigits : undefined);

async function send(method, path, {body, signal} = {}) {
  const headers = {Accept: "application/json"};
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (method !== "GET" && csrf !== null) headers["X-CSRF-Token"] = csrf;
  let answer;
  try {
    answer = await fetch(path, {method, headers, signal, body: body === undefined ? undefined : JSON.stringify(body),
      cache: "no-store", credentials: "same-origin", redirect: "error"});
  } catch (fault) {
    if (fault.name === "AbortError") throw fault;
    throw unreachable();
  }
  if (answer.status === 204) return null;
  let value = {};
  try {
    const text = await answer.text();
    value = answer.headers.get("Content-Type") === "application/yaml" ? text : parse(text);
  } catch (fault) {
    if (fault.name === "AbortError") throw fault;
  }
  if (answer.ok) return value;
  throw new ApiError(answer.status, {requestId: answer.headers.get("X-Request-Id"), retryAfter: Number(answer.headers.get("Retry-After")), ...value});
}

// Loads a script of the page. All of them exist, so a failure means that the service is away.
export const load = (file) => import(`/ui/assets/${file}`).catch(() => { throw unreachable(); });

// {a: 1, b: undefined} -> "?a=1"
export function query(members) {
  const text = new URLSearchParams(Object.entries(members).filter(([, value]) => value !== undefined && value !== null && value !== "")).toString();
  return text === "" ? "" : `?${text}`;
}

async function guarded(request) {
  try {
    return await request;
  } catch (fault) {
    if (fault.status === 401) onEnded();
    throw fault;
  }
}

export const get = (path, members = {}, signal = undefined) => guarded(send("GET", path + query(members), {signal}));
export const post = (path, body) => guarded(send("POST", path, {body}));
export const remove = (path) => guarded(send("DELETE", path));

const adopted = (session) => {
  csrf = session?.csrf ?? null;
  return session;
};

// The session, or null if there is none.
export async function currentSession() {
  try {
    return adopted(await send("GET", "/v1/session"));
  } catch (fault) {
    if (fault.status === 401) return adopted(null);
    throw fault;
  }
}

export const logIn = async (key) => adopted(await send("POST", "/v1/session", {body: {key}}));

// A session that has ended already is left as well.
export async function logOut() {
  await send("DELETE", "/v1/session").catch((fault) => { if (fault.status !== 401) throw fault; });
  adopted(null);
}

// Whether the browser still has the session that is shown; its tabs share one cookie, and another of them may have logged in anew. Throws 401
// like any request.
export const sameSession = async () => (await guarded(send("GET", "/v1/session"))).csrf === csrf;
