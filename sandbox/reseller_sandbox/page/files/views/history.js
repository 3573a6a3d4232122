// History: the past of the world, its branches and snapshots, and the differences between two points.

import { ask } from "../parts/api.js";
import { action } from "../parts/action.js";
import { change, read, write } from "../parts/address.js";
import { h } from "../parts/dom.js";
import { graph, linesOf } from "../parts/branches.js";
import { changed } from "../parts/pieces.js";
import { labelOf, stopsOf } from "../parts/stops.js";
import { View } from "../parts/view.js";
import { instant, plural } from "../parts/words.js";

const MOST = 100;

export default class extends View {
  async show(address, isCurrent) {
    const { world } = address;
    const here = { world };
    const [stops, { snapshots }, { branches }] = await Promise.all(
      [stopsOf(world), ask("snapshots.list", {}, here), ask("branches.list", {}, here)]);
    const lines = await linesOf(world, branches);
    const from = address.from || "start";
    const to = address.to || address.at || "now";
    const difference = await ask("history.diff", { from, to, start: address.start, limit: MOST }, here);
    if (!isCurrent()) return;
    const points = [...stops.map((stop) => [stop.point || "now", labelOf(stop)]),
      ...snapshots.map(({ name, now }) => [`snapshot:${name}`, `snapshot ${name} · ${instant(now)}`]),
      ...branches.map(({ name, now }) => [`branch:${name}`, `branch ${name} · ${instant(now)}`])];
    this.render(
      h("section.part", h("h1", "The history of this world"),
        h("div.scroll", { tabindex: 0, role: "region", "aria-label": "Lines" }, graph(address, lines))),
      h("div.columns.ruled",
        h("section.part", h("h2", "Branches"), branches.length ? savedStates(address, branches, "branch", "branches.switch", "Switch to this branch", "branches.remove")
          : h("p.quiet", "No branches. A rewind keeps the previous state as a branch.")),
        h("section.part", h("h2", "Snapshots"), savedStates(address, snapshots, "snapshot", "snapshots.restore", "Go back", "snapshots.remove"),
          action({ label: "Save snapshot", operation: "snapshots.add", where: address, asks: ["name"], then: () => this.update(this.address), says: ({ name }) => `Saved as ${name}.` }))),
      h("section.part", h("h2", "Compare"),
        h("div.line", "from ", this.#point("From", from, points, "from"), " to ", this.#point("To", to, points, "to"),
          h("span.quiet", plural(difference.total, "record"))),
        difference.settings.length > 0 && h("table.changes", difference.settings.map(changed)),
        h("table.changes", difference.changes.map(changed)),
        difference.next !== null && h("p.pages", h("a", { href: write({ ...address, start: difference.next }) }, "next →"))));
  }

  #point(label, chosen, points, key) {
    const known = points.some(([point]) => point === chosen) ? points : [[chosen, chosen.replace(":", " ")], ...points];
    return h("select", { "aria-label": label, value: chosen, onchange: ({ target }) => change({ start: "", [key]: target.value }) },
      known.map(([point, words]) => h("option", { value: point, selected: point === chosen }, words)));
  }
}

const savedStates = (address, states, kind, back, label, remove) => h("ul.plain.kept", states.map(({ name, now, requests }) => h("li",
  h("a", { href: write({ ...address, at: `${kind}:${name}` }) }, name), h("time", { datetime: now }, instant(now)),
  h("span.quiet", plural(requests, "request")),
  h("span.tools", action({ label, operation: back, args: { name }, where: address,
    leads: () => ({ ...read(), at: "" }), says: ({ branch }) => `Restored. The previous state is branch ${branch.name}.` }),
  action({ label: "Delete", operation: remove, args: { name }, where: address, tone: "danger" })))));
