// The login: an API key for a session. The key is not kept.

import {h, heading} from "./dom.js";
import {ApiError, currentSession, logIn} from "./api.js";

export function show({ended, frame, query, navigate, nextOf, loggedIn}) {
  const field = h("input", {id: "key", type: "password", name: "key", autocomplete: "off", spellcheck: "false", required: true,
    "data-test": "login-key", placeholder: "rw_...", "aria-describedby": `${ended ? "ended " : ""}login-error key-hint`});
  const fault = h("p.error@login-error", {id: "login-error", role: "alert", hidden: true});
  const submit = h("button.primary@login-submit", {type: "submit"}, "Log in");
  const form = h("form.card.login", {on: {submit: async (event) => {
    event.preventDefault();
    submit.disabled = true;
    fault.hidden = true;
    fault.textContent = "";
    field.removeAttribute("aria-invalid");
    try {
      await logIn(field.value.trim());
      const session = await currentSession();
      if (session === null) throw new ApiError(0, {detail: "This browser did not keep the cookie of the session. Allow cookies for this address, and log in again."});
      loggedIn(session);
      field.value = "";
      navigate(nextOf(`?${query}`), {replace: true});
    } catch (error) {
      fault.textContent = error.message;
      fault.hidden = false;
      if (error.status === 401 || error.status === 403) field.setAttribute("aria-invalid", "true");
      submit.disabled = false;
      field.focus();
      field.select();
    }
  }}}, heading("Log in to runwarden"),
  ended ? h("p.note@login-ended", {id: "ended"}, "Your session has ended. Log in again to go on where you were.") : null,
  h("p", "See which agent runs failed although they looked fine, since when, and which change brought it."),
  h("label", {for: "key"}, "API key"), field,
  h("p.quiet", {id: "key-hint"}, "A key with the scope read. Make one on the server: ",
    h("code", "runwarden keys create --tenant T --scopes read")),
  fault, submit);
  frame.up = null;
  return {title: "Log in", nodes: [form], placed: () => field.focus()};
}
