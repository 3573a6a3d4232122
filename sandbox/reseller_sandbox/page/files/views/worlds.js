// The worlds of the server: fork, delete, compare and save them, or open one from a dropped file.

import { action } from "../parts/action.js";
import { ask } from "../parts/api.js";
import { beside, change, go, onward, read } from "../parts/address.js";
import { h } from "../parts/dom.js";
import { notice } from "../parts/notices.js";
import { changed } from "../parts/pieces.js";
import { View } from "../parts/view.js";
import { instant, plural } from "../parts/words.js";

const MOST = 200; // maximum number of differing records shown

export default class extends View {
  async show(address, isCurrent) {
    this.watch();
    const { worlds, limit } = await ask("worlds.list");
    const { from, to } = address;
    const difference = from && to ? await ask("history.diff", { from: "now", to: `world:${to}`, limit: MOST }, { world: from }) : null;
    if (!isCurrent()) return;
    this.render(
      h("div.bar", h("h1", "Worlds"), h("span.quiet", `${worlds.length} of at most ${limit}`),
        action({ label: "Fork this world", operation: "worlds.fork", where: address, asks: ["name", "point", "now", "frozen", "seed"], leads: inside }),
        action({ label: "New from a fixture", operation: "worlds.fork", where: address, asks: ["fixture", "name", "now", "frozen", "assume"], args: { fixture: "default" }, leads: inside }),
        h("label.drop", { ondragover: (event) => event.preventDefault(), ondrop: (event) => {
          event.preventDefault();
          open(event.dataTransfer.files[0]);
        } }, "Drop a fixture or a recording here, or choose one: ",
          h("input", { type: "file", accept: ".yaml,.yml,.json,.recording", onchange: ({ target }) => open(target.files[0]).then(() => (target.value = "")) }))),
      h("div.scroll", { tabindex: 0, role: "region", "aria-label": "Worlds" }, h("table.grid",
        h("thead", h("tr", ["World", "Now", "Requests", "Orders", "Seed", "Actions"].map((word) => h("th", { scope: "col" }, word)))),
        h("tbody", worlds.map((world) => this.#row(world, address))))),
      h("section.part", h("h2", "Compare"), h("p.line", pick("from", "One world", worlds, address), pick("to", "and another", worlds, address)),
        difference && compared(difference)),
    );
  }

  #row(world, address) {
    const here = world.name === (address.world || "default");
    const where = { world: world.name === "default" ? "" : world.name };
    return h("tr", { key: world.name, "data-row": world.name, tabindex: -1, "aria-current": here ? "true" : null },
      h("td", h("a", { href: beside(where, "worlds") }, world.name), here && h("small", "shown here")),
      h("td", h("time", { datetime: world.now }, instant(world.now)), h("small", world.frozen ? "frozen" : "running")),
      h("td.num", { "data-label": "requests" }, world.requests), h("td.num", { "data-label": "orders" }, world.orders), h("td.code", { "data-label": "seed" }, world.seed),
      h("td.acts",
        h("a.do", { href: beside(where, "journal") }, "Journal"),
        action({ label: "Save", title: "Save the world as a fixture", operation: "history.export", where, then: ({ fixture }) => save(`${world.name}.yaml`, fixture),
          says: () => `Saved ${world.name}.yaml.` }),
        action({ label: "Recording", title: "Save the world with its history", operation: "recording.get", where, then: ({ base64 }) => save(`${world.name}.recording`, unpacked(base64)),
          says: ({ requests, notes }) => [`Saved ${world.name}.recording, with ${plural(requests, "request")}.`, ...notes].join(" ") }),
        world.name !== "default" && action({ label: "Drop", operation: "worlds.remove", args: { world: world.name }, tone: "danger",
          then: () => (read().world === world.name ? go({ view: "worlds" }) : this.update(this.address)) })));
  }
}

const pick = (key, label, worlds, address) => h("label", `${label} `, h("select", { value: address[key] ?? "", onchange: ({ target }) => change({ [key]: target.value }) },
  [{ name: "" }, ...worlds].map(({ name }) => h("option", { value: name, selected: name === (address[key] ?? "") }, name || "–"))));

const inside = ({ name }) => ({ view: "worlds", world: name === "default" ? "" : name });

async function open(file) {
  if (!file) return;
  const lead = onward();
  try {
    const content = new Uint8Array(await file.arrayBuffer());
    const made = await (isPacked(content) ? ask("worlds.open", { recording: await packed(file) })
      : ask("worlds.fork", { state: new TextDecoder().decode(content) }));
    notice(`${file.name} is open: world ${made.name}.`, made.difference && `The replay differs: ${made.difference}.`);
    lead(made.requests ? { view: "journal", world: made.name } : inside(made));
  } catch (problem) {
    notice(problem.message, problem.remedy, "bad");
  }
}

// A recording begins with the gzip signature. A fixture is text, so it cannot.
const isPacked = ([first, second]) => first === 0x1f && second === 0x8b;

const packed = (file) => new Promise((done, failed) => {
  const reader = new FileReader();
  Object.assign(reader, { onload: () => done(reader.result.split(",")[1]), onerror: () => failed(reader.error) });
  reader.readAsDataURL(file);
});

const unpacked = (base64) => Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));

function save(name, content) {
  const link = h("a", { href: URL.createObjectURL(new Blob([content])), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href));
}

const compared = ({ changes, settings, total }) => (!total && !settings.length ? h("p.quiet", "No differences.") : [
  h("p.quiet", `${total} records and ${settings.length} settings differ${total > MOST ? `; the first ${MOST} are shown` : ""}.`),
  h("table.changes", [...settings, ...changes].map(changed))]);
