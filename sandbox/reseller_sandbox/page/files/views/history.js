import { Action } from "../parts/action.js";
import { write } from "../parts/address.js";
import { ask } from "../parts/api.js";
import { Graph, linesOf } from "../parts/branches.js";
import { COMPARED, DRAWN } from "../parts/limits.js";
import { Difference, Filter, html, Items, Part, Scroll, Time } from "../parts/pieces.js";
import { Restore } from "../parts/restore.js";
import { View } from "../parts/view.js";
import { instant, plural } from "../parts/words.js";

export default class extends View {
  async load({ world, from = "start", to, at, start }) {
    const here = { world };
    const [{ snapshots }, { branches }, before] = await Promise.all([
      ask("snapshots.list", {}, here), ask("branches.list", {}, here), this.#before(at, here)]);
    const [lines, difference] = await Promise.all([linesOf(world, branches, before),
      ask("history.diff", { from, to: to || at || "now", start, limit: COMPARED }, here)]);
    return { snapshots, branches, lines, difference };
  }

  // The event before which the graph ends, so that it shows the position in its middle.
  async #before(at = "", here) {
    const [, id] = at.split(":");
    if (!/^r\d+$/.test(id)) return undefined;
    const { events } = await ask("journal.get", { request: id }, here)
      .then(({ number }) => ask("events.list", { kind: "request", since: number, limit: 500 }, here)).catch(() => ({ events: [] }));
    return events[DRAWN / 2]?.number;
  }

  draw({ snapshots, branches, lines, difference }, address) {
    const { from = "start", to, at } = address;
    const drawn = lines[0].requests.map(({ id, words }) => [`after:${id}`, words]);
    const points = [["start", "the beginning"], ...drawn, ["now", "the present"],
      ...snapshots.map(({ name, now }) => [`snapshot:${name}`, `snapshot ${name} · ${instant(now)}`]),
      ...branches.map(({ name, now }) => [`branch:${name}`, `branch ${name} · ${instant(now)}`])];
    return html`<section class="part"><h1>The history of this world</h1><${Scroll} label="Lines"><${Graph} address=${address} lines=${lines} /><//></section>
      <div class="columns">
        <${Part} title="Branches"><${SavedStates} states=${branches} kind="branch" back="branches.switch" label="Switch to this branch" remove="branches.remove"
          none="No branches. A rewind keeps the previous state as a branch." /><//>
        <${Part} title="Snapshots"><${SavedStates} states=${snapshots} kind="snapshot" back="snapshots.restore" label="Go back" remove="snapshots.remove" />
          <${Action} label="Save snapshot" operation="snapshots.add" asks=${["name"]} says=${({ name }) => `Saved as ${name}.`} /><//></div>
      <${Part} title="Compare">
        <div class="line">from <${Point} label="From" of="from" value=${from} points=${points} /> to <${Point} label="To" of="to" value=${to || at || "now"} points=${points} /></div>
        <${Difference} of=${difference} />
        ${difference.next !== null && html`<p class="pages"><a href=${write({ ...address, start: difference.next })}>next →</a></p>`}<//>`;
  }
}

function Point({ value, points, ...more }) {
  const known = points.some(([point]) => point === value) ? points : [[value, value.replace(":", " ")], ...points];
  return html`<${Filter} ...${more} words=${known} value=${value} />`;
}

const SavedStates = ({ states, none, kind, back, label, remove }, { address }) => html`<${Items} of=${states} none=${none} item=${({ name, now, requests }) => html`<li key=${name} class="line">
  <a href=${write({ ...address, at: `${kind}:${name}` })}>${name}</a><${Time} at=${now} /><span class="quiet">${plural(requests, "request")}</span>
  <span class="tools end"><${Restore} label=${label} operation=${back} args=${{ name }} />
  <${Action} label="Delete" operation=${remove} args=${{ name }} tone="danger" /></span></li>`} />`;
