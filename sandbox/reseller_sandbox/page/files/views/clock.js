// The clock, always visible: the time, the next due event, and a form to move it with a preview.

import { Action } from "../parts/action.js";
import { ask, choices } from "../parts/api.js";
import { OF_NAME, PREVIEWED, SUGGESTED } from "../parts/limits.js";
import { connection } from "../parts/live.js";
import { html, Select, Subject, Time } from "../parts/pieces.js";
import { Problem, throttle, View } from "../parts/view.js";
import { distance, instant, money, moved, plural } from "../parts/words.js";

const SPANS = { "1 hour": "PT1H", "1 day": "P1D", "30 days": "P30D", "1 year": "P365D" };
const WAYS = { by: "by a duration", to: "to an instant", next: "to the next due event", stage: "until a name reaches a stage" };

export class Clock extends View {
  state = { way: "by", by: "P30D", to: "", domain: "", stage: "overdue", names: [] };
  foresee = throttle(() => this.#foresee());

  async load({ at }) {
    const [shows, { due: [next] }] = await Promise.all([this.ask("clock.show"), this.ask("clock.due", { limit: 1 })]);
    this.since = performance.now();
    clearInterval(this.tick);
    if (!shows.frozen && !at) this.tick = setInterval(() => connection.isLost || this.setState({}), 500);
    if (this.state.isOpen) this.foresee();
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
    const { isOpen } = this.state;
    const state = connection.isLost ? "not connected" : frozen ? "frozen" : "running";
    return html`<span class="now" title="The time in this world, in UTC"><${Time} at=${this.now} /><span class="state ${state.replace(" ", "-")}">${state}</span></span>
      <span class="next" title=${next && `${next.event} ${next.subject}, ${instant(next.at)}`}>${next ? html`next <b>${next.event}</b> <${Subject} of=${next} /> <span class="quiet">${distance(this.now, next.at)}</span>` : html`<span class="quiet">nothing is due</span>`}</span>
      ${!at && html`<span class="tools">
        <${Action} key=${frozen} label=${frozen ? "Run" : "Freeze"} operation=${frozen ? "clock.run" : "clock.freeze"}
          then=${() => this.update(true)} says=${({ frozen: is }) => `The clock ${is ? "is frozen" : "runs"}.`} />
        <button type="button" class="do" aria-expanded=${String(Boolean(isOpen))} onClick=${() => this.#open(!isOpen)}>Move time</button></span>
        ${isOpen && this.#panel()}`}`;
  }

  #open(isOpen) {
    const { address } = this.props;
    const domain = address.view === "names" && address.subject ? address.subject : this.state.domain;
    this.setState({ isOpen, domain }, () => isOpen && this.foresee());
  }

  get args() {
    const { way, by, to, domain, stage } = this.state;
    return { by: { by }, to: { to }, next: { until: "next" }, stage: { until: { domain, stage } } }[way];
  }

  // Discard the preview of an earlier choice.
  async #foresee() {
    const { args, props: { address } } = this;
    const foreseen = await ask("clock.advance", { ...args, dry_run: true, limit: PREVIEWED }, address).catch((problem) => problem);
    if (JSON.stringify(args) === JSON.stringify(this.args) && address === this.props.address) this.setState({ foreseen });
  }

  #choose(chosen) {
    this.setState({ ...chosen, foreseen: undefined }, this.foresee);
    if (chosen.way === "stage" || "domain" in chosen) this.#suggest(chosen.domain ?? this.state.domain);
  }

  async #suggest(text) {
    const { due } = text ? { due: [] } : await this.ask("clock.due", { limit: OF_NAME });
    const { names } = await this.ask("names.list", { like: text ? `*${text}*` : undefined, limit: SUGGESTED });
    this.setState({ names: [...new Set([...due.filter(({ order }) => order).map(({ subject }) => subject), ...names.map(({ name }) => name)])] });
  }

  #panel() {
    const { way, by, to, domain, stage, names, foreseen } = this.state;
    const input = (key, value, more) => html`<input value=${value} ...${more} onInput=${({ target }) => this.#choose({ [key]: target.value })} />`;
    return html`<section class="panel" aria-label="Move time">
      <div class="line"><b>Advance</b>
        <${Select} label="How" words=${Object.entries(WAYS)} value=${way} change=${(word) => this.#choose({ way: word })} />
        ${way === "by" && html`${input("by", by, { "aria-label": "Duration", size: 8 })}
          ${Object.entries(SPANS).map(([label, span]) => html`<button type="button" aria-pressed=${String(by === span)} onClick=${() => this.#choose({ by: span })}>${label}</button>`)}`}
        ${way === "to" && input("to", to, { "aria-label": "The instant", placeholder: this.now.slice(0, 16), size: 20 })}
        ${way === "stage" && html`${input("domain", domain, { "aria-label": "The name", placeholder: names[0], size: 24, list: "due-names" })}
          <datalist id="due-names">${names.map((name) => html`<option value=${name} />`)}</datalist>
          <${Select} label="The stage" none="–" words=${choices("names.list", "stage")} value=${stage} change=${(word) => this.#choose({ stage: word })} />`}
        <${Action} label="Advance" tone="first" operation="clock.advance" args=${() => this.args}
          then=${() => { this.#open(false); return this.update(true); }} says=${moved} />
        <button type="button" class="close end" aria-label="Close" onClick=${() => this.#open(false)}>×</button></div>
      ${foreseen ? preview(foreseen) : html`<p class="quiet">…</p>`}
    </section>`;
  }
}

function preview(foreseen) {
  if (foreseen instanceof Error) return html`<${Problem} of=${foreseen} />`;
  const { now, total, events } = foreseen;
  return html`<p class="quiet">Preview: ${instant(now)}, after ${plural(total, "event")}${total ? ":" : "."}</p>
    <ol class="events">${events.map((event) => html`<li><${Time} at=${event.at} /><b>${event.event}</b> <${Subject} of=${event} />
        <span class="quiet">${event.account}</span><span class="money">${money(event.charged)}</span>${event.note && html`<small>${event.note}</small>`}</li>`)}
      ${total > events.length && html`<li class="quiet">and ${total - events.length} more</li>`}</ol>`;
}
