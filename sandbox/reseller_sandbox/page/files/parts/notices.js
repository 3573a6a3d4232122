// What has come of something that was done, for a while in a corner.

import { h } from "./dom.js";

const STAYS = 6000;

/** Tell `text`, and what may help; `tone` is "bad" for what was refused, which stays until it is closed. */
export function notice(text, more = "", tone = "") {
  const shown = h("div.notice", { class: tone }, h("p", text, more && h("small", more)),
    h("button", { type: "button", "aria-label": "Close", onclick: () => shown.remove() }, "×"));
  const corner = document.querySelector("page-notices");
  corner.append(shown);
  while (corner.children.length > 3) corner.firstChild.remove();
  if (!tone) setTimeout(() => shown.remove(), STAYS);
}
