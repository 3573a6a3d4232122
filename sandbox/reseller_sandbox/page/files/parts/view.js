import { ask } from "./api.js";
import { html, Component } from "./html.js";
import { LONGEST_PAUSE, PAUSE, WATCH } from "./limits.js";
import { onEvents } from "./live.js";

// Views that load data for a new address. Until they are ready, the page shows that it is busy.
const busy = new Set();

/** Mark `task` as running until the returned function is called. */
export function begin(task) {
  const main = document.querySelector("main");
  busy.add(task);
  main.setAttribute("aria-busy", "true");
  return () => {
    busy.delete(task);
    if (busy.size) return;
    main.removeAttribute("aria-busy");
    main.dataset.shown = location.hash; // for scripts that drive the page
    dispatchEvent(new CustomEvent("shown"));
  };
}

/** A view: `load(address)` returns data, `draw(data, address)` returns elements. It updates after events. */
export class View extends Component {
  #turn = 0;
  #seen;
  #latest;
  #end = () => {};
  #watch;
  refresh = throttle(() => this.update(true));

  /** @returns {any} */
  load(_address) {}

  /** @returns {any} */
  draw(_data, _address) {}

  // Components get the address whose data the view shows.
  getChildContext() {
    return { address: this.state.shown ?? this.props.address };
  }

  componentDidMount() {
    this.stop = onEvents(this);
    this.update();
  }

  componentDidUpdate(before) {
    if (before.address !== this.props.address) this.update();
    const { data, shown } = this.state;
    if (!data || shown.subject === this.#seen) return;
    this.#seen = shown.subject;
    this.arrived();
  }

  /** Handle the first data of a subject, which are on the page now. */
  arrived() {}

  componentWillUnmount() {
    this.#turn++;
    this.#latest = undefined;
    this.stop();
    this.refresh.stop();
    clearInterval(this.#watch);
    this.#end();
  }

  /** Load the data again. The promise ends when the view shows them, or newer data. */
  update(isQuiet = false) {
    return (this.#latest = this.#load(isQuiet));
  }

  // Discard data for an older address, or of an older state.
  async #load(isQuiet) {
    const { address } = this.props;
    const turn = ++this.#turn;
    if (!isQuiet && !this.props.aside) {
      this.#end();
      this.#end = begin({});
    }
    const result = { shown: address, problem: undefined };
    try {
      result.data = await this.load(address);
    } catch (problem) {
      result.problem = problem;
      if (!("remedy" in problem)) console.error(problem);
    }
    if (turn !== this.#turn) return this.#latest;
    this.setState(result, this.#end);
  }

  render(_, { data, problem, shown }) {
    if (problem) return this.failed(problem);
    return data === undefined ? null : this.draw(data, shown);
  }

  // Beside a view, which reports the problem, the last known data stay.
  failed(problem) {
    const { data, shown } = this.state;
    if (this.props.aside) return data === undefined ? null : this.draw(data, shown);
    return html`<${Problem} of=${problem} again=${() => this.update()} />`;
  }

  ask(operation, args) {
    return ask(operation, args, this.props.address);
  }

  /** Handle new `events` of the world. */
  news(_events) {
    if (!this.props.address.at) this.refresh();
  }

  /** Handle missed events of the world. */
  missed() {
    View.prototype.news.call(this);
  }

  /** Update every few seconds, because other worlds have no stream here. */
  watch() {
    this.#watch ??= setInterval(() => document.hidden || this.missed(), WATCH);
  }
}

export const Problem = ({ of: { message, remedy }, again }) => html`<p class="refusal" role="alert">${message}
  ${remedy && html`<small>${remedy}</small>`}
  ${again && html`<button type="button" onClick=${again}>Try again</button>`}</p>`;

/** Return `act` limited, to spare the server: never concurrent, and with pauses of `share` times its duration. */
export function throttle(act, pause = PAUSE, share = 20) {
  let timer, isBusy, isWanted;
  const run = async () => {
    [isBusy, isWanted] = [true, false];
    const began = performance.now();
    try {
      await act();
    } finally {
      timer = setTimeout(() => {
        isBusy = false;
        if (isWanted) run();
      }, Math.max(pause, Math.min(share * (performance.now() - began), LONGEST_PAUSE)));
    }
  };
  const call = () => {
    isWanted = true;
    if (!isBusy) run();
  };
  call.stop = () => {
    clearTimeout(timer);
    isBusy = true;
  };
  return call;
}
