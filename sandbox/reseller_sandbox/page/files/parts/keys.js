import { change, go, read } from "./address.js";
import { dialog } from "./dialog.js";
import { html, Pairs } from "./pieces.js";

const KEYS = {
  "/": "search in the view", "j, k": "next and previous row; an open request follows", "Enter": "open the row",
  "Esc": "leave the search, then the open request, then the past", "← →": "move through the history",
  "g, then j n h f c t m a w": "go to a view by its first letter", "?": "this help",
};

export function keys() {
  let isGoing = false;
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    const target = /** @type {HTMLElement} */ (event.target);
    if (target.matches("input:not([type=range]), select, textarea")) {
      if (event.key === "Escape") target.blur();
      return;
    }
    const view = isGoing && find(`nav [data-view^="${CSS.escape(event.key)}"]`);
    isGoing = event.key === "g";
    if (view) view.click();
    else if (event.key === "/") find("[type=search]")?.focus();
    else if (event.key === "j" || event.key === "k") move(event.key === "j" ? 1 : -1);
    else if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
      if (!slide(event.key === "ArrowRight" ? 1 : -1)) return;
    } else if (event.key === "Escape") leave();
    else if (event.key === "?") help();
    else return;
    event.preventDefault();
  });
}

/** Return the first element for a selector. @type {(selector: string) => any} */
const find = (selector) => document.querySelector(selector);

const help = () => dialog("Keys", (close) => html`<h2>Keys</h2>
  <${Pairs} of=${KEYS} />
  <p class="buttons"><button type="button" class="do first" onClick=${close}>Close</button></p>`);

function leave() {
  const close = find("main .close");
  if (close) close.click();
  else if (read().at) change({ at: "" });
}

// The arrows move the slider, wherever the focus is.
function slide(step) {
  const slider = find("page-past input[type=range]");
  if (!slider) return false;
  slider.focus();
  slider.stepUp(step);
  slider.dispatchEvent(new Event("input"));
  return true;
}

function move(step) {
  /** @type {HTMLElement[]} */
  const rows = Array.from(document.querySelectorAll("main [data-row]"));
  if (!rows.length) return;
  const chosen = rows.findIndex((row) => row.getAttribute("aria-current") === "true");
  const focused = rows.findIndex((row) => row.contains(document.activeElement));
  const from = focused < 0 ? chosen : focused;
  const next = rows[from < 0 ? 0 : from + step] ?? rows[from];
  const link = next.querySelector("a");
  (link ?? next).focus();
  next.scrollIntoView({ block: "nearest" });
  if (chosen >= 0 && link?.hash && document.querySelector("main .detail")) go(read(link.hash), true);
}
