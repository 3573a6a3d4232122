// The strip below the head: a slider over the world's history, and actions at its position. The whole page shows the
// state at that point. Its points are the beginning, the moment after each request in the journal, and the present.

import { Action } from "../parts/action.js";
import { change, read } from "../parts/address.js";
import { ask } from "../parts/api.js";
import { html, Time } from "../parts/pieces.js";
import { Restore } from "../parts/restore.js";
import { View } from "../parts/view.js";

export class Past extends View {
  async load({ at, world, view }) {
    if (!at && view !== "history") return null;
    const [, id] = (at ?? "").split(":");
    const [{ first, last }, clock, request] = await Promise.all([ask("journal.list", { limit: 0 }, { world }), at && this.ask("clock.show"),
      /^r\d+$/.test(id) && ask("journal.get", { request: id }, { world }).catch(() => null)]);
    return { first: numberOf(first ?? "r1"), last: numberOf(last ?? "r0"), now: clock?.now, request };
  }

  draw(data, { at }) {
    if (!data) return null;
    const { now, request } = data;
    const end = data.last - data.first + 2;
    const words = wordsOf(at, request);
    // The slider is where the newest address says, although the view may still show an older one. Otherwise the second
    // of two quick key presses would be lost.
    return html`<input type="range" aria-label="Position in the history" min="0" max=${end} value=${placeOf(data, read().at)}
        aria-valuetext=${words} onInput=${({ target }) => change({ at: pointAt(data, Number(target.value)) }, true)} />
      <span class="point">${at ? html`<b>${words}</b> <${Time} at=${now} />`
        : html`<span class="quiet">${end > 1 ? "the present: move the slider to view the past" : "no history yet"}</span>`}</span>
      ${at && this.#ways(at)}`;
  }

  #ways(at) {
    const [side, name] = at.split(":");
    const back = {
      before: ["history.rewind", { request: name, side }], after: ["history.rewind", { request: name, side }],
      snapshot: ["snapshots.restore", { name }], branch: ["branches.switch", { name }], start: ["history.reset", {}],
    }[side];
    return html`<span class="tools">
      ${back && html`<${Restore} key=${at} label=${side === "start" ? "Reset world" : "Go back here"} operation=${back[0]} args=${back[1]} tone=${side === "start" && "danger"} />`}
      <${Action} key="fork" label="Fork from here" operation="worlds.fork" args=${{ point: at }}
        leads=${({ name: fork }) => ({ ...read(), at: "", world: fork })} says=${({ name: fork }) => `World ${fork} begins here.`} />
      <button type="button" class="do first" onClick=${() => change({ at: "" })}>Back to the present</button></span>`;
  }

  news() {
    if (this.state.data) this.refresh();
  }
}

const numberOf = (id) => Number(id.slice(1));

// The first place of the slider is the beginning, the last one the present.
const pointAt = ({ first, last }, place) => (place === 0 ? "start" : first + place - 1 > last ? "" : `after:r${first + place - 1}`);

// The point before a request is after the previous request.
function placeOf({ first, last }, point = "") {
  const [side, id] = point.split(":");
  if (side === "start") return 0;
  const number = /^r\d+$/.test(id) ? numberOf(id) : last + 1;
  return Math.max(0, Math.min(number - first + (side === "before" ? 0 : 1), last - first + 2));
}

function wordsOf(point, request) {
  if (!point) return "the present";
  if (point === "start") return "the beginning";
  const [side, name] = point.split(":");
  if (!request) return `${side} ${name}`;
  const { id, operation, domains, outcome } = request;
  return [side === "before" && "before", id, operation, ...domains.slice(0, 2), outcome !== "ok" && outcome].filter(Boolean).join(" ");
}
