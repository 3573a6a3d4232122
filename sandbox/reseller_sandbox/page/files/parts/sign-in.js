// If the server requires a control token, ask for it once. The browser then has a cookie.

import { signIn as send } from "./api.js";
import { h, render } from "./dom.js";

/** Ask for the token until it is correct. */
export function signIn() {
  return new Promise((done) => {
    const token = h("input", { type: "password", name: "token", autocomplete: "current-password", required: true });
    const wrong = h("div", { role: "alert" });
    const form = h("form", { onsubmit: async (event) => {
      event.preventDefault();
      try {
        await send(token.value);
        dialog.close();
        dialog.remove();
        done();
      } catch (problem) {
        render(wrong, h("p.refusal", problem.message));
        token.select();
      }
    } }, h("h2", "Control token"),
      h("p.about", "This server was started with a control token (--control-token). Enter the token once in this browser."),
      h("label.field", h("span.name", "Token"), token), wrong,
      h("p.buttons", h("button.do.first", { type: "submit" }, "Sign in")));
    const dialog = h("dialog.sheet", { "aria-label": "Control token", oncancel: (event) => event.preventDefault() }, form);
    document.body.append(dialog);
    dialog.showModal();
  });
}
