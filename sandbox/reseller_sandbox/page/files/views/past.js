// A strip below the head: a slider over the world's history, and actions at its position.
// While it is in the past, the whole page shows the state at that point.

import { Action } from "../parts/action.js";
import { change, read } from "../parts/address.js";
import { ask } from "../parts/api.js";
import { html } from "../parts/html.js";
import { Time } from "../parts/pieces.js";
import { placeOf, pointAt, reachOf, undo, wordsOf } from "../parts/points.js";
import { View } from "../parts/view.js";

export class Past extends View {
  async load({ at, world, view }) {
    if (!at && view !== "history") return null;
    const [, id] = (at ?? "").split(":");
    const [reach, clock, request] = await Promise.all([reachOf(world), at && this.ask("clock.show"),
      /^r\d+$/.test(id) && ask("journal.get", { request: id }, { world }).catch(() => null)]);
    return { reach, now: clock?.now, request };
  }

  draw(data, { at }) {
    if (!data) return null;
    const { reach, now, request } = data;
    const last = reach.last - reach.first + 2;
    const words = wordsOf(at, request);
    // The slider is where the address says. A view is drawn with its old address until its new data is there, and a
    // slider that went back to the old place would lose the second of two quick key presses.
    return html`<input type="range" aria-label="Position in the history" min="0" max=${last} value=${placeOf(reach, read().at)}
        aria-valuetext=${words} onInput=${({ target }) => change({ at: pointAt(reach, Number(target.value)) }, true)} />
      <span class="point">${at ? html`<b>${words}</b> <${Time} at=${now} />`
        : html`<span class="quiet">${last > 1 ? "the present: move the slider to view the past" : "no history yet"}</span>`}</span>
      ${at && this.#ways(at)}`;
  }

  #ways(at) {
    const [side, name] = at.split(":");
    const back = {
      before: ["history.rewind", { request: name, side }], after: ["history.rewind", { request: name, side }],
      snapshot: ["snapshots.restore", { name }], branch: ["branches.switch", { name }], start: ["history.reset", {}],
    }[side];
    return html`<span class="tools">
      ${back && html`<${Action} key=${at} label=${side === "start" ? "Reset world" : "Go back here"} operation=${back[0]} args=${back[1]}
        tone=${side === "start" ? "danger" : ""} leads=${() => ({ ...read(), at: "" })} undo=${undo}
        says=${({ branch }) => (branch ? `Restored. The previous state is branch ${branch.name}.` : "The world is reset.")} />`}
      <${Action} key="fork" label="Fork from here" operation="worlds.fork" args=${{ point: at }}
        leads=${({ name: fork }) => ({ ...read(), at: "", world: fork })} says=${({ name: fork }) => `World ${fork} begins here.`} />
      <button type="button" class="do first" onClick=${() => change({ at: "" })}>Back to the present</button></span>`;
  }

  news() {
    if (this.state.data) this.refresh();
  }
}
