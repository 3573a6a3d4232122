// Notices of the results of actions, shown in a corner for some time.

import { h } from "./dom.js";

const STAYS = 6000;

/** Show `text` and a remedy. With the `tone` "bad", for a refusal, it stays until the user closes it. */
export function notice(text, more = "", tone = "") {
  const shown = h("div.notice", { class: tone }, h("p", text, more && h("small", more)),
    h("button", { type: "button", "aria-label": "Close", onclick: () => shown.remove() }, "×"));
  const corner = document.querySelector("page-notices");
  corner.append(shown);
  while (corner.children.length > 3) corner.firstChild.remove();
  if (!tone) setTimeout(() => shown.remove(), STAYS);
}
