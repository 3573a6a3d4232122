// The clock, always visible: the time, and the next due event.

import { Action } from "../parts/action.js";
import { advance } from "../parts/advance.js";
import { connection } from "../parts/live.js";
import { html, Time } from "../parts/pieces.js";
import { View } from "../parts/view.js";
import { distance, instant } from "../parts/words.js";
import { Move } from "./move.js";

export class Clock extends View {
  async load({ at }) {
    const [shows, { due: [next] }] = await Promise.all([this.ask("clock.show"), this.ask("clock.due", { limit: 1 })]);
    this.since = performance.now();
    clearInterval(this.tick);
    if (!shows.frozen && !at) this.tick = setInterval(() => connection.isLost || this.setState({}), 500);
    return { ...shows, next };
  }

  connection() {
    this.stopped = this.now;
    this.setState({});
  }

  get now() {
    const { data: { frozen, now } = { frozen: true } } = this.state;
    if (connection.isLost && this.stopped) return this.stopped;
    return frozen ? now : new Date(Date.parse(now) + performance.now() - this.since).toISOString();
  }

  news(events) {
    if (events.some(({ kind, effect }) => kind !== "request" || effect.changes)) super.news(events);
  }

  componentWillUnmount() {
    super.componentWillUnmount();
    clearInterval(this.tick);
  }

  draw({ frozen, next }, { at }) {
    const state = connection.isLost ? "not connected" : frozen ? "frozen" : "running";
    const again = () => this.update(true);
    return html`<span class="now" title="The time in this world, in UTC"><${Time} at=${this.now} /><span class="state ${state.replace(" ", "-")}">${state}</span></span>
      ${!at && html`<span class="tools">
        ${next && html`<${Action} key=${next.at + next.subject} label=${html`Next event <span class="quiet">${next.subject} ${distance(this.now, next.at)}</span>`} ...${advance} tone="next" args=${{ until: "next" }} then=${again}
          title="Advance to the next event: ${next.event} ${next.subject}, ${instant(next.at)}" />`}
        <${Action} key=${frozen} label=${frozen ? "Run" : "Freeze"} operation=${frozen ? "clock.run" : "clock.freeze"}
          then=${again} says=${({ frozen: is }) => `The clock ${is ? "is frozen" : "runs"}.`} />
        <${Move.Button} /></span>`}`;
  }
}
