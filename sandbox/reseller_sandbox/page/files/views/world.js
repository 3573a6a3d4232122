// The world selector in the head.

import { go } from "../parts/address.js";
import { ask } from "../parts/api.js";
import { html, Select } from "../parts/pieces.js";
import { View } from "../parts/view.js";

export class World extends View {
  async load({ world = "default" }) {
    this.watch();
    const { worlds } = await ask("worlds.list");
    return [...new Set([...worlds.map(({ name }) => name), world])];
  }

  draw(names, { view, world = "default" }) {
    return names.length > 1 && html`<${Select} label="World" none="default" value=${world === "default" ? "" : world}
      words=${names.filter((name) => name !== "default")} change=${(name) => go({ view, world: name })} />`;
  }

  news() {} // the events are only of this world
}
