// Buttons that call an operation. Each shows the equivalent command and calls.

import { onward } from "./address.js";
import { ask, operations } from "./api.js";
import { interfaces } from "./interfaces.js";
import { h, render } from "./dom.js";
import { fields, plain, values } from "./form.js";
import { notice } from "./notices.js";

/**
 * Return a button for an operation with the arguments `args`, and a second one that shows the form and interfaces.
 * Values that depend on other views are functions, which are called when the button is pressed.
 *
 * `where` is the address of the action. With `asks`, a list of parameters or true for all, the button opens
 * the form first. `then` is called with the response. `says` returns the text of the notice. `leads` returns
 * the next address of the page, unless the user has left before the response.
 */
export function action({ label, operation, args = {}, where, asks = false, tone = "", then, leads, says, title }) {
  const about = plain(title ?? operations[operation].about.split("\n")[0]);
  const all = { label, operation, args, where, then, leads, says, asks };
  const main = h("button.do", { type: "button", class: tone, title: about, onclick: (event) =>
    asks ? sheet(all) : carryOut(all, asOf(args), event.currentTarget) }, label);
  return h("span.action", { key: `${operation} ${label}` }, main, interfacesButton(all));
}

/** Return a button that shows an operation's form, with the equivalent command and calls. */
export const interfacesButton = (all) => h("button.interfaces", {
  type: "button", title: "The form, and the equivalent command and calls",
  "aria-label": `${all.label}: form, command and calls`, onclick: () => sheet({ ...all, asks: true }),
}, "›_");

async function carryOut({ operation, where, then, leads, says, label }, args, button) {
  const lead = onward();
  if (button) button.busy = button.disabled = true;
  try {
    const answer = await ask(operation, args, present(where));
    notice(says ? says(answer) : `${label}: done.`);
    await then?.(answer);
    if (leads) lead(leads(answer));
    return true;
  } catch (problem) {
    if (!button) throw problem;
    notice(problem.message, problem.remedy, "bad");
    return false;
  } finally {
    if (button) button.busy = button.disabled = false;
  }
}

const asOf = (args) => (typeof args === "function" ? args() : args);

// Actions always apply to the present.
const present = (where) => (where ? { ...where, at: undefined } : where);

/**
 * Show an operation's form, with its interfaces below, which follow the values of the form.
 *
 * `abouts` are descriptions by parameter name, which replace the descriptions of the declaration.
 */
export function sheet(all) {
  const { label, operation, where, asks, abouts = {} } = all;
  const args = asOf(all.args);
  const { about, parameters } = operations[operation];
  if (document.querySelector("dialog[open]")) return; // another is open
  const asked = (asks === true ? parameters : asks.map((name) => parameters.find((parameter) => parameter.name === name)))
    .map((parameter) => ({ ...parameter, about: abouts[parameter.name] ?? parameter.about }));
  const fixed = Object.fromEntries(Object.entries(args).filter(([key]) => !asked.some(({ name }) => name === key)));
  const current = () => ({ ...fixed, ...values(form) });
  const ways = h("div.ways");
  const wrong = h("div", { role: "alert" });
  const follow = () => render(ways, interfacesShown(operation, current(), present(where)));
  const form = h("form", { method: "dialog", oninput: follow, onsubmit: async (event) => {
    event.preventDefault();
    render(wrong);
    try {
      await carryOut(all, current());
      dialog.close();
    } catch (problem) {
      render(wrong, h("p.refusal", problem.message, h("small", problem.remedy)));
    }
  } },
    h("h2", label), about.split("\n\n").map((part) => h("p.about", plain(part))), fields(asked, args), wrong,
    h("p.buttons", h("button.do.first", { type: "submit" }, label),
      h("button", { type: "button", onclick: () => dialog.close() }, "Cancel")),
    h("h3", "Do this with…"), ways);
  const dialog = h("dialog.sheet", { "aria-label": label, onclose: () => dialog.remove() }, form);
  document.body.append(dialog);
  follow();
  dialog.showModal();
}

/** Return the equivalent command and calls, each with a button to copy it. */
const interfacesShown = (operation, args, where) =>
  Object.entries(interfaces(operation, args, where)).map(([name, text]) => copied(name, text));

/** Return a text with its name and a button to copy it. */
export const copied = (name, text) => h("div.copied", { key: name },
  h("span", name), h("code", { tabindex: 0 }, text),
  h("button", { type: "button", "aria-label": `Copy: ${name}`, onclick: async ({ currentTarget }) => {
    await navigator.clipboard?.writeText(text);
    currentTarget.textContent = "copied";
    setTimeout(() => (currentTarget.textContent = "copy"), 1200);
  } }, "copy"));
