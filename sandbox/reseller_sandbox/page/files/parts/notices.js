import { read } from "./address.js";
import { html, render } from "./html.js";
import { NOTICE } from "./limits.js";

const corner = document.querySelector("page-notices");
let shown = [];

const place = () => JSON.stringify(["view", "subject", "world"].map((key) => read()[key]));

// A notice belongs to the place that it was shown at.
addEventListener("hashchange", () => {
  shown = shown.filter((one) => one.place === place());
  draw();
});

/** Show a notice. With a tone, or with an action (a label and a function), it stays until the user closes it or leaves. */
export function notice(text, more = "", tone = "", action = null) {
  const one = { text, more, tone, action, id: performance.now(), place: place() };
  shown = [...shown, one].slice(-3);
  draw();
  if (!tone && !action) setTimeout(() => close(one), NOTICE);
  return () => close(one);
}

export const report = ({ message, remedy }) => notice(message, remedy, "bad");

function close(one) {
  shown = shown.filter((other) => other !== one);
  draw();
}

const draw = () => render(shown.map((one) => html`<div class="notice ${one.tone}" key=${one.id}>
  <p>${one.text}${one.more && html`<small>${one.more}</small>`}</p>
  ${one.action && html`<button type="button" class="act" onClick=${() => { close(one); one.action[1](); }}>${one.action[0]}</button>`}
  <button type="button" aria-label="Close" onClick=${() => close(one)}>×</button></div>`), corner);
