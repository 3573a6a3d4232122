// The keyboard: `/` searches, `j` and `k` go down and up a list, Enter opens, `?` shows the keys.

import { notice } from "./notices.js";

const WORDS = "/ searches · j and k move in lists · Enter opens · ← and → move the slider · g and a letter (j, n, h) changes the view";

/** Begin to listen to the keyboard. */
export function keys() {
  let going = false;
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    if (event.target.matches("input, select, textarea")) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    const led = going && document.querySelector(`nav [data-view^="${CSS.escape(event.key)}"]`);
    going = event.key === "g";
    if (led) led.click();
    else if (event.key === "/") document.querySelector("[type=search]")?.focus();
    else if (event.key === "j" || event.key === "k") move(event.key === "j" ? 1 : -1);
    else if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
      if (!slide(event.key === "ArrowRight" ? 1 : -1)) return;
    } else if (event.key === "Escape") document.querySelector("main .close")?.click();
    else if (event.key === "?") notice(WORDS);
    else return;
    event.preventDefault();
  });
}

// The arrows move the slider, wherever the focus is.
function slide(step) {
  const slider = document.querySelector("page-past:not([hidden]) input[type=range]");
  if (!slider) return false;
  slider.focus();
  slider.value = Number(slider.value) + step;
  slider.dispatchEvent(new Event("input"));
  return true;
}

function move(step) {
  const rows = [...document.querySelectorAll("main [data-row]")];
  if (!rows.length) return;
  const at = rows.findIndex((row) => row.contains(document.activeElement));
  const chosen = rows.findIndex((row) => row.getAttribute("aria-current") === "true");
  const from = at < 0 ? chosen : at;
  const next = rows[Math.max(0, Math.min(rows.length - 1, from < 0 ? 0 : from + step))];
  (next.querySelector("a") ?? next).focus();
  next.scrollIntoView({ block: "nearest" });
}
