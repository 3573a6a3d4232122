// The clock, always visible: the time, the next due event, and a form to move it with a preview.

import { ask, choices } from "../parts/api.js";
import { action } from "../parts/action.js";
import { beside } from "../parts/address.js";
import { h, render } from "../parts/dom.js";
import { throttle } from "../parts/live.js";
import { registry_event } from "../parts/pieces.js";
import { View } from "../parts/view.js";
import { distance, instant, plural } from "../parts/words.js";

const SPANS = { "1 hour": "PT1H", "1 day": "P1D", "30 days": "P30D", "1 year": "P365D" };
const SHOWN = 200;

class Clock extends View {
  move = { way: "by", by: "P30D", to: "", domain: "", stage: "overdue" };
  #tick = setInterval(() => this.#show(), 500);
  #look = throttle(() => this.#foresee(), 250);

  async show(_, isCurrent) {
    const [shows, coming] = await Promise.all([this.ask("clock.show"), this.ask("clock.due", { limit: 1 })]);
    if (!isCurrent()) return;
    Object.assign(this, { shows, coming, since: performance.now() });
    this.#show();
    if (this.open) this.#look();
  }

  get now() {
    const passed = this.shows.frozen ? 0 : performance.now() - this.since;
    return new Date(Date.parse(this.shows.now) + passed).toISOString();
  }

  #show() {
    if (!this.shows || (this.shows.frozen && this.drawn === this.shows && !this.stale)) return;
    [this.drawn, this.stale] = [this.shows, false];
    const where = this.address;
    const next = this.coming.due[0];
    const { frozen } = this.shows;
    this.render(
      h("span.now", { title: "The time in this world, in UTC" }, h("time", { datetime: this.now }, instant(this.now)),
        h("span.state", { class: frozen ? "frozen" : "running" }, frozen ? "frozen" : "running")),
      h("span.next", next
        ? ["next ", h("b", next.event), " ", subject(where, next), " ", h("span.quiet", distance(this.now, next.at))]
        : h("span.quiet", "nothing is due")),
      where.at ? null : h("span.tools",
        action({ label: frozen ? "Run" : "Freeze", operation: frozen ? "clock.run" : "clock.freeze", where,
          then: () => this.update(this.address), says: (clock) => `The clock ${clock.frozen ? "is frozen" : "runs"}.` }),
        h("button.do", { type: "button", "aria-expanded": String(Boolean(this.open)), onclick: () => this.toggle() }, "Move time")),
      this.open && !where.at ? this.#panel(where) : null,
    );
  }

  news(events) {
    if (events.some(({ kind, effect }) => kind !== "request" || effect.changes)) super.news(events);
  }

  toggle() {
    this.open = !this.open;
    this.#redraw();
    if (this.open) this.#look();
  }

  #redraw() {
    this.stale = true;
    this.#show();
  }

  get args() {
    const { way, by, to, domain, stage } = this.move;
    return { by: { by }, to: { to }, next: { until: "next" }, stage: { until: { domain, stage } } }[way];
  }

  // Discard the preview of an earlier choice.
  async #foresee() {
    const { move, address } = this;
    const preview = await ask("clock.advance", { ...this.args, dry_run: true, limit: SHOWN }, address).catch((problem) => problem);
    if (move !== this.move || address !== this.address) return;
    this.foreseen = preview;
    this.#redraw();
  }

  #choose(change) {
    this.move = { ...this.move, ...change };
    this.foreseen = undefined;
    this.#redraw();
    this.#look();
  }

  #panel(where) {
    const { way, by, to, domain, stage } = this.move;
    const text = (key, value, more) => h("input", { value, ...more, oninput: ({ target }) => this.#choose({ [key]: target.value }) });
    const ways = { by: "by a duration", to: "to an instant", next: "to the next due event", stage: "until a name reaches a stage" };
    const inputs = {
      by: () => [text("by", by, { "aria-label": "Duration", size: 8 }),
        Object.entries(SPANS).map(([label, span]) =>
          h("button.chip", { type: "button", "aria-pressed": String(by === span), onclick: () => this.#choose({ by: span }) }, label))],
      to: () => text("to", to, { "aria-label": "The instant", placeholder: this.now.slice(0, 16), size: 20 }),
      next: () => null,
      stage: () => [text("domain", domain, { "aria-label": "The name", placeholder: "shop-example.com", size: 24 }),
        h("select", { "aria-label": "The stage", value: stage, onchange: ({ target }) => this.#choose({ stage: target.value }) },
          choices("names.list", "stage").map((word) => h("option", { value: word, selected: word === stage }, word)))],
    }[way]();
    return h("section.panel", { "aria-label": "Move time" },
      h("div.line", "Advance ", h("select", { "aria-label": "How", value: way, onchange: ({ target }) => this.#choose({ way: target.value }) },
        Object.entries(ways).map(([value, label]) => h("option", { value, selected: value === way }, label))),
      inputs,
      action({ label: "Advance", tone: "first", operation: "clock.advance", args: this.args, where,
        then: () => { this.open = false; return this.update(this.address); },
        says: ({ now, total }) => `The clock is at ${instant(now)}, after ${plural(total, "event")}.` })),
      this.#foreseen(where));
  }

  #foreseen(where) {
    const preview = this.foreseen;
    if (!preview) return h("p.quiet", "…");
    if (preview instanceof Error) return h("p.refusal", preview.message);
    const more = preview.total - preview.events.length;
    return [
      h("p.quiet", `Preview: ${instant(preview.now)}, after ${plural(preview.total, "event")}${preview.total ? ":" : "."}`),
      h("ol.events", preview.events.map((event) => registry_event(where, event)), more > 0 && h("li.quiet", `and ${more} more`)),
    ];
  }

  leave() {
    clearInterval(this.#tick);
  }
}

const subject = (where, { subject: name, order }) =>
  order ? h("a", { href: beside(where, "names", name) }, name) : h("b", name);

customElements.define("page-clock", Clock);
