// The page: the address, the head with the clock, and the view that the address names.

import { ask, begin } from "./parts/api.js";
import { go, read, write } from "./parts/address.js";
import { follow } from "./parts/live.js";
import { keys } from "./parts/keys.js";
import { signIn } from "./parts/sign-in.js";
import "./views/clock.js";
import "./views/world.js";
import "./views/past.js";

const main = document.querySelector("main");
const links = [...document.querySelectorAll("[data-view]")];
const heads = ["page-clock", "page-world", "page-past"].map((name) => document.querySelector(name));

let stream;
let turn = 0;
let signing;

// Only the latest address is shown, even if an earlier one is ready later.
async function show() {
  if (location.hash && !location.hash.startsWith("#/")) return;
  const mine = ++turn;
  const { hash } = location;
  const address = read(hash);
  const { view, world, at } = address;
  for (const link of links) {
    link.href = write({ view: link.dataset.view || "journal", world, at });
    if (link.dataset.view === view) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  showLink();
  document.body.classList.toggle("past", Boolean(at));
  delete main.dataset.shown;
  for (const element of shown()) element.discard();
  document.title = [address.subject, view, world].filter(Boolean).join(" · ") + " · reseller-sandbox";
  await listen(world).catch(() => {}); // the view reports a missing world
  if (mine !== turn) return;
  for (const head of heads) head.update(address);
  const part = await viewCalled(view);
  if (mine !== turn) return;
  if (!part) go({ view: "journal", world, at }, true);
  else await part.update(address);
  if (mine === turn) main.dataset.shown = hash; // for scripts that drive the page
}

// A narrow window shows only a part of the menu: scroll it to the entry of the view.
function showLink() {
  const link = links.find((entry) => entry.hasAttribute("aria-current"));
  if (link) link.parentNode.scrollLeft = link.offsetLeft - link.parentNode.offsetLeft - link.offsetWidth;
}

const shown = () => [...heads, main.firstElementChild].filter(Boolean);

async function viewCalled(name) {
  const tag = `view-${name}`;
  if (main.firstElementChild?.localName === tag) return main.firstElementChild;
  if (!links.some((link) => link.dataset.view === name)) return null;
  if (!customElements.get(tag)) {
    const { default: made } = await import(`./views/${name}.js`);
    if (!customElements.get(tag)) customElements.define(tag, made);
  }
  if (read().view === name && main.firstElementChild?.localName !== tag) {
    main.replaceChildren(document.createElement(tag));
    scrollTo(0, 0);
  }
  return main.firstElementChild;
}

// One stream for the whole page sends the world's events to every visible part. Each view waits until the
// stream has begun, because an earlier request could miss events that the stream does not send either.
function listen(world = "") {
  if (stream?.world === world) return stream.begun;
  stopStream();
  const mine = (stream = { world });
  mine.begun = begun(mine).catch((problem) => {
    if (stream === mine) stream = undefined;
    throw problem;
  });
  return mine.begun;
}

async function begun(mine) {
  const where = { world: mine.world };
  const { events: [last] } = await ask("events.find", { limit: 1 }, where);
  if (stream !== mine) return;
  mine.stop = follow("events.follow", { since: last?.number ?? 0 }, where, {
    receive: (events) => shown().forEach((element) => element.news(events)),
    missed: () => shown().forEach((element) => element.missed()),
    state: (state) => (document.body.dataset.stream = state),
  });
}

function stopStream() {
  stream?.stop?.();
  stream = undefined;
}

// Many calls can fail without the token, but the page asks for it once.
addEventListener("sign-in", () => (signing ??= signIn().then(() => (signing = undefined)).then(start)));
keys();

async function start() {
  try {
    await begin();
  } catch {
    return; // it asks for the token itself
  }
  stopStream();
  addEventListener("hashchange", show);
  addEventListener("resize", showLink);
  await show();
}

start();
