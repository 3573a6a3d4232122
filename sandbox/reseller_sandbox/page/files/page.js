// The page: the address, the head with the clock, and the view that the address names.

import { openCommands } from "./parts/action.js";
import { go, read, write } from "./parts/address.js";
import { begin as load } from "./parts/api.js";
import { html, render } from "./parts/html.js";
import { keys } from "./parts/keys.js";
import { connection, listen, onEvents, retry, stopListening } from "./parts/live.js";
import { notice } from "./parts/notices.js";
import { keepPlaces } from "./parts/places.js";
import { signIn } from "./parts/sign-in.js";
import { begin, Problem } from "./parts/view.js";
import { Balance } from "./views/balance.js";
import { Clock } from "./views/clock.js";
import { Connection } from "./views/connection.js";
import { Move } from "./views/move.js";
import { Past } from "./views/past.js";
import { World } from "./views/world.js";

const main = document.querySelector("main");
const nav = document.querySelector("nav");
const more = nav.querySelector("details");
/** @type {HTMLAnchorElement[]} */
const links = Array.from(document.querySelectorAll("[data-view]"));
const heads = { "page-balance": Balance, "page-clock": Clock, "page-move": Move, "page-world": World, "page-past": Past, "page-connection": Connection };

let turn = 0;
let signing;

// Show the latest address, even if an earlier one is ready later.
async function show() {
  if (location.hash && !location.hash.startsWith("#/")) return;
  const mine = ++turn;
  const end = begin(show);
  const address = read();
  const { view, world, at } = address;
  mark(address);
  document.body.classList.toggle("past", Boolean(at));
  delete main.dataset.shown;
  document.title = [address.subject, view, world, "reseller-sandbox"].filter(Boolean).join(" · ");
  await listen(world).catch(() => {}); // the view reports a missing world
  if (mine !== turn) return;
  for (const [name, Head] of Object.entries(heads)) render(html`<${Head} address=${address} aside />`, document.querySelector(name));
  if (!links.some((link) => link.dataset.view === view)) {
    go({ view: "journal", world, at }, true);
    return;
  }
  const shown = await module(view).then(({ default: Shown }) => html`<${Shown} key=${view} address=${address} />`)
    .catch(() => html`<${Problem} of=${{ message: `The view ${view} cannot be loaded.`, remedy: "Check that the server runs." }} again=${reload} />`);
  if (mine !== turn) return;
  render(shown, main);
  end();
}

const module = (view) => import(`./views/${view}.js`);

// A browser does not repeat the import of a module that failed.
const reload = () => (connection.isLost ? retry() : location.reload());

/** @param {Record<string, any>} address */
function mark({ view, world, at }) {
  for (const link of links) {
    link.href = write({ view: link.dataset.view || "journal", world, at });
    // The closed menu has the name of its chosen entry.
    const shown = more.contains(link) ? more.firstElementChild : link;
    if (link.dataset.view === view) shown.setAttribute("aria-current", "page");
    else if (shown === link) link.removeAttribute("aria-current");
  }
  const chosen = [...more.querySelectorAll("a")].find((link) => link.dataset.view === view);
  more.open = false;
  more.firstElementChild.textContent = chosen?.textContent ?? "More";
  if (!chosen) more.firstElementChild.removeAttribute("aria-current");
}

// Many calls can fail without the token, but the page asks for it once.
addEventListener("sign-in", () => (signing ??= signIn().then(() => (signing = undefined)).then(start)));
addEventListener("click", ({ target }) => more.contains(/** @type {Node} */ (target)) || (more.open = false));
addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || !more.open) return;
  event.stopPropagation();
  more.open = false;
}, true);
document.querySelector(".commands-button").addEventListener("click", openCommands);
onEvents({ restarted: async () => {
  notice("The server has restarted. The page shows the data of the new server.");
  await start();
} });
keys();
keepPlaces();

async function start() {
  try {
    await load();
  } catch (problem) {
    if (!problem.error?.startsWith("control_token")) render(html`<${Problem} of=${problem} again=${start} />`, main);
    return; // the page asks for the token itself
  }
  stopListening();
  addEventListener("hashchange", show);
  await show();
  // Load the other views, so that they open at once, and without the server.
  for (const { dataset } of links) if (dataset.view) await module(dataset.view).catch(() => {});
}

start();
