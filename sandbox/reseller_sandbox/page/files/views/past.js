// A strip below the head: a slider over the world's history, and actions at its position.
// While it is in the past, the whole page shows the state at that point.

import { action } from "../parts/action.js";
import { change, read } from "../parts/address.js";
import { h } from "../parts/dom.js";
import { placeOf, stopsOf } from "../parts/stops.js";
import { View } from "../parts/view.js";
import { instant } from "../parts/words.js";

class Past extends View {
  async show({ at, world = "", view }, isCurrent) {
    this.hidden = !at && view !== "history";
    if (this.hidden) return;
    if (!this.known || this.world !== world) Object.assign(this, { known: this.#stopsOf(world), world });
    const stops = await this.known;
    const now = at ? (await this.ask("clock.show")).now : "";
    if (!isCurrent()) return;
    const last = stops.length - 1;
    const place = at ? placeOf(stops, at) : last;
    const stop = stops[place];
    this.render(
      h("input", { type: "range", "aria-label": "Position in the history", min: 0, max: last, value: place < 0 ? last : place,
        "aria-valuetext": stop?.words ?? at, list: "stops", oninput: ({ target }) => change({ at: stops[target.value].point }, true) }),
      h("span.point", at ? [h("b", stop?.words ?? at.replace(":", " ")), " ", h("time", { datetime: now }, instant(now))]
        : h("span.quiet", last > 1 ? "the present: move the slider to view the past" : "no history yet")),
      at && this.#ways(at));
  }

  // Cache the stops until the next event. After an error, load them again.
  #stopsOf(world) {
    const known = stopsOf(world);
    known.catch(() => this.known === known && (this.known = undefined));
    return known;
  }

  #ways(at) {
    const where = this.address;
    const [side, name] = at.split(":");
    const back = {
      before: ["history.rewind", { request: name, side }], after: ["history.rewind", { request: name, side }],
      snapshot: ["snapshots.restore", { name }], branch: ["branches.switch", { name }], start: ["history.reset", {}],
    }[side];
    return h("span.tools",
      back && action({ label: side === "start" ? "Reset world" : "Go back here", operation: back[0], args: back[1], where,
        tone: side === "start" && "danger", leads: () => ({ ...read(), at: "" }),
        says: ({ branch }) => branch ? `Restored. The previous state is branch ${branch.name}.` : "The world is reset." }),
      action({ label: "Fork from here", operation: "worlds.fork", args: { point: at }, where,
        leads: ({ name: fork }) => ({ ...read(), at: "", world: fork }), says: ({ name: fork }) => `World ${fork} begins here.` }),
      h("button.do.first", { type: "button", onclick: () => change({ at: "" }) }, "Back to the present"));
  }

  news() {
    this.missed();
  }

  missed() {
    this.known = undefined;
    if (!this.hidden) super.missed();
  }
}

customElements.define("page-past", Past);
