// Travel: the history of the world, its branches and snapshots, and the differences between two points.

import { ask } from "../parts/api.js";
import { action } from "../parts/action.js";
import { change, read, write } from "../parts/address.js";
import { h } from "../parts/dom.js";
import { graph, linesOf } from "../parts/branches.js";
import { changed } from "../parts/pieces.js";
import { stopsOf, told } from "../parts/stops.js";
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
    const found = await ask("history.diff", { from, to, start: address.start, limit: MOST }, here);
    if (!isCurrent()) return;
    const points = [...stops.map((stop) => [stop.point || "now", told(stop)]),
      ...snapshots.map(({ name, now }) => [`snapshot:${name}`, `snapshot ${name} · ${instant(now)}`]),
      ...branches.map(({ name, now }) => [`branch:${name}`, `branch ${name} · ${instant(now)}`])];
    this.render(
      h("section.part", h("h1", "The history of this world"),
        h("div.scroll", { tabindex: 0, role: "region", "aria-label": "Lines" }, graph(address, lines))),
      h("div.columns.ruled",
        h("section.part", h("h2", "Branches"), branches.length ? kept(address, branches, "branch", "branches.switch", "Take it up", "branches.remove")
          : h("p.quiet", "Whoever goes back leaves a branch behind. There is none yet.")),
        h("section.part", h("h2", "Snapshots"), kept(address, snapshots, "snapshot", "snapshots.restore", "Go back", "snapshots.remove"),
          action({ label: "Keep this moment", operation: "snapshots.add", where: address, asks: ["name"], then: () => this.update(this.address), says: ({ name }) => `Kept as ${name}.` }))),
      h("section.part", h("h2", "What differs"),
        h("div.line", "from ", this.#point("From", from, points, "from"), " to ", this.#point("To", to, points, "to"),
          h("span.quiet", plural(found.total, "record"))),
        found.settings.length > 0 && h("table.changes", found.settings.map(changed)),
        h("table.changes", found.changes.map(changed)),
        found.next !== null && h("p.pages", h("a", { href: write({ ...address, start: found.next }) }, "further →"))));
  }

  #point(label, chosen, points, key) {
    const known = points.some(([point]) => point === chosen) ? points : [[chosen, chosen.replace(":", " ")], ...points];
    return h("select", { "aria-label": label, value: chosen, onchange: ({ target }) => change({ start: "", [key]: target.value }) },
      known.map(([point, words]) => h("option", { value: point, selected: point === chosen }, words)));
  }
}

const kept = (address, found, kind, back, label, remove) => h("ul.plain.kept", found.map(({ name, now, requests }) => h("li",
  h("a", { href: write({ ...address, at: `${kind}:${name}` }) }, name), h("time", { datetime: now }, instant(now)),
  h("span.quiet", plural(requests, "request")),
  h("span.tools", action({ label, operation: back, given: { name }, where: address,
    leads: () => ({ ...read(), at: "" }), says: ({ branch }) => `The world is there; what was left behind is branch ${branch.name}.` }),
  action({ label: "Delete", operation: remove, given: { name }, where: address, tone: "danger" })))));
