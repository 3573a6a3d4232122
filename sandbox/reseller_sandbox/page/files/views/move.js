// The form that moves the clock, with a preview of the events. It is in the flow of the page, so that it covers nothing.

import { Action } from "../parts/action.js";
import { advance } from "../parts/advance.js";
import { ask, choices } from "../parts/api.js";
import { OF_NAME, PREVIEWED, SUGGESTED } from "../parts/limits.js";
import { Component, html, Select, Subject, Time } from "../parts/pieces.js";
import { Problem, throttle, View } from "../parts/view.js";
import { instant, money, plural } from "../parts/words.js";

const SPANS = { "1 hour": "PT1H", "1 day": "P1D", "30 days": "P30D", "1 year": "P365D" };
const WAYS = { by: "by a duration", to: "to an instant", next: "to the next due event", stage: "until a name reaches a stage" };

/** Tells the button and the form that the form opens (`detail` is true) or closes. */
const turned = (isOpen) => dispatchEvent(new CustomEvent("move-time", { detail: isOpen }));

export class Move extends View {
  state = { way: "by", by: "P30D", to: "", domain: "", stage: "overdue", names: [] };
  foresee = throttle(() => this.#foresee());

  componentDidMount() {
    super.componentDidMount();
    addEventListener("move-time", this.#turn);
    addEventListener("pointerdown", this.#leave);
    addEventListener("hashchange", this.#close);
    addEventListener("keydown", this.#escape, true);
  }

  componentWillUnmount() {
    super.componentWillUnmount();
    removeEventListener("move-time", this.#turn);
    removeEventListener("pointerdown", this.#leave);
    removeEventListener("hashchange", this.#close);
    removeEventListener("keydown", this.#escape, true);
  }

  /** @type {(event: any) => void} */
  #turn = ({ detail: isOpen }) => {
    const { address } = this.props;
    const domain = address.view === "names" && address.subject ? address.subject : this.state.domain;
    this.setState({ isOpen, domain }, () => this.update(true));
  };

  #close = () => this.state.isOpen && turned(false);

  /** @type {(event: any) => void} */
  #leave = ({ target }) => target.closest("page-move, page-clock, dialog, .commands-button") || this.#close();

  // Before other handlers, which would close the open request or leave the past.
  #escape = (event) => {
    if (event.key !== "Escape" || !this.state.isOpen) return;
    event.stopPropagation();
    this.#close();
  };

  async load() {
    if (!this.state.isOpen) return {};
    this.foresee();
    return this.ask("clock.show");
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

  draw({ now }) {
    const { isOpen, way, by, to, domain, stage, names, foreseen } = this.state;
    if (!isOpen) return null;
    const input = (key, value, more) => html`<input value=${value} ...${more} onInput=${({ target }) => this.#choose({ [key]: target.value })} />`;
    return html`<section class="panel" aria-label="Move time">
      <div class="line"><b>Advance</b>
        <${Select} label="How" words=${Object.entries(WAYS)} value=${way} change=${(word) => this.#choose({ way: word })} />
        ${way === "by" && html`${input("by", by, { "aria-label": "Duration", size: 8 })}
          ${Object.entries(SPANS).map(([label, span]) => html`<button type="button" aria-pressed=${String(by === span)} onClick=${() => this.#choose({ by: span })}>${label}</button>`)}`}
        ${way === "to" && input("to", to, { "aria-label": "The instant", placeholder: now.slice(0, 16), size: 20 })}
        ${way === "stage" && html`${input("domain", domain, { "aria-label": "The name", placeholder: names[0], size: 24, list: "due-names" })}
          <datalist id="due-names">${names.map((name) => html`<option value=${name} />`)}</datalist>
          <${Select} label="The stage" none="–" words=${choices("names.list", "stage")} value=${stage} change=${(word) => this.#choose({ stage: word })} />`}
        <${Action} label="Advance" tone="first" ...${advance} args=${() => this.args} then=${this.#close} />
        <button type="button" class="close end" aria-label="Close" onClick=${this.#close}>×</button></div>
      ${foreseen ? preview(foreseen) : html`<p class="quiet">…</p>`}
    </section>`;
  }
}

/** The button that opens and closes the form. */
Move.Button = class extends Component {
  /** @type {(event: any) => void} */
  #turn = ({ detail: isOpen }) => this.setState({ isOpen });

  componentDidMount() {
    addEventListener("move-time", this.#turn);
  }

  componentWillUnmount() {
    removeEventListener("move-time", this.#turn);
  }

  render(_, { isOpen }) {
    return html`<button type="button" class="do" aria-expanded=${String(Boolean(isOpen))} onClick=${() => turned(!isOpen)}>Move time</button>`;
  }
};

function preview(foreseen) {
  if (foreseen instanceof Error) return html`<${Problem} of=${foreseen} />`;
  const { now, total, events } = foreseen;
  return html`<p class="quiet">Preview: ${instant(now)}, after ${plural(total, "event")}${total ? ":" : "."}</p>
    <ol class="events">${events.map((event) => html`<li><${Time} at=${event.at} /><b>${event.event}</b> <${Subject} of=${event} />
        <span class="quiet">${event.account}</span><span class="money">${money(event.charged)}</span>${event.note && html`<small>${event.note}</small>`}</li>`)}
      ${total > events.length && html`<li class="quiet">and ${total - events.length} more</li>`}</ol>`;
}
