// Scroll positions. Each entry of the browser's history keeps its own, also after a reload.

import { PAUSE } from "./limits.js";

let timer, keepNow, shown, wanted;

const scroller = () => document.querySelector("main .scroller") ?? document.querySelector("main");

/** Keep and restore scroll positions. */
export function keepPlaces() {
  history.scrollRestoration = "manual";
  wanted = history.state?.scroll;
  addEventListener("popstate", ({ state }) => (wanted = state?.scroll));
  document.addEventListener("scroll", ({ target }) => {
    const scrolled = scroller();
    if (target !== scrolled) return;
    clearTimeout(timer);
    const { hash } = location;
    const keep = () => {
      clearTimeout(timer);
      timer = undefined;
      if (hash === location.hash) history.replaceState({ scroll: scrolled.scrollTop }, "");
    };
    keepNow = keep;
    timer = setTimeout(keep, PAUSE);
  }, true);
  // A click or a key can lead to another entry before the pause ends.
  for (const kind of ["click", "keydown"]) addEventListener(kind, () => timer && keepNow(), true);
  addEventListener("shown", () => {
    const place = location.hash.split("?")[0];
    if (wanted !== undefined) scroller().scrollTop = wanted;
    else if (place !== shown && scroller() === document.querySelector("main")) scroller().scrollTop = 0;
    [shown, wanted] = [place, undefined];
  });
}
