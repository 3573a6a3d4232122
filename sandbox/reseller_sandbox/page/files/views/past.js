// A strip below the head while the page looks at the past: where it is, and the ways on from there.

import { action } from "../parts/action.js";
import { go, read } from "../parts/address.js";
import { h } from "../parts/dom.js";
import { View } from "../parts/view.js";
import { instant } from "../parts/words.js";

class Past extends View {
  async show({ at, world }) {
    this.hidden = !at;
    if (!at) return this.render();
    const { now } = await this.ask("clock.show");
    const [side, request] = at.split(":");
    const where = this.address;
    const back = {
      before: ["history.rewind", { request, side }], after: ["history.rewind", { request, side }],
      snapshot: ["snapshots.restore", { name: request }], branch: ["branches.switch", { name: request }],
      start: ["history.reset", {}],
    }[side];
    this.render(
      h("span", "You look at the past: ", h("b", at.replace(":", " ")), " ", h("time", { datetime: now }, instant(now))),
      h("button.do.first", { type: "button", onclick: () => go({ ...read(), at: "" }) }, "Let go"),
      back && action({ label: "Go back here", operation: back[0], given: back[1], where,
        then: () => go({ ...read(), at: "" }),
        says: ({ branch }) => branch ? `The world is there again; what was left behind is branch ${branch.name}.` : "The world is there again." }),
      action({ label: "Fork from here", operation: "worlds.fork", given: { point: at }, where,
        then: ({ name }) => go({ ...read(), at: "", world: name }), says: ({ name }) => `World ${name} begins here.` }),
    );
  }
}

customElements.define("page-past", Past);
