// The world selector in the head.

import { ask } from "../parts/api.js";
import { go } from "../parts/address.js";
import { h } from "../parts/dom.js";
import { View } from "../parts/view.js";

class World extends View {
  async show({ world = "default" }, isCurrent) {
    this.watch();
    const { worlds } = await ask("worlds.list");
    if (!isCurrent()) return;
    const names = worlds.map(({ name }) => name);
    if (!names.includes(world)) names.push(world);
    this.hidden = names.length < 2;
    this.render(h("select", { "aria-label": "World", value: world, onchange: ({ target }) => {
      go({ view: this.address.view, world: target.value === "default" ? "" : target.value });
    } }, names.map((name) => h("option", { value: name, selected: name === world }, name))));
  }

  news() {} // the events are only of this world
}

customElements.define("page-world", World);
