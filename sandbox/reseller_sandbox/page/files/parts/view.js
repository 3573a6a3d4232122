// Base of every view: an element that shows an address, and updates after events.

import { ask } from "./api.js";
import { h, render } from "./dom.js";
import { throttle } from "./live.js";

export class View extends HTMLElement {
  #turn = 0;
  #watch;
  #left;
  #refresh = throttle(() => this.#left || this.update(this.address), 500, 20);

  /** Show the current address, and discard responses for an older one. */
  async update(address) {
    [this.address, this.#left] = [address, false];
    const turn = ++this.#turn;
    const isCurrent = () => turn === this.#turn && this.isConnected;
    try {
      await this.show(address, isCurrent);
    } catch (problem) {
      if (isCurrent()) render(this, h("p.refusal", { role: "alert" }, problem.message, h("small", problem.remedy)));
      if (!("remedy" in problem)) console.error(problem);
    }
  }

  /** Discard the responses that are under way. */
  discard() {
    this.#turn++;
    this.#left = true;
  }

  /** Call a resource in the world and at the moment of the address. */
  ask(operation, args) {
    return ask(operation, args, this.address);
  }

  /** Replace the children. */
  render(...nodes) {
    render(this, ...nodes);
  }

  /** Handle new `events` of the world. */
  news() {
    if (!this.address?.at) this.#refresh();
  }

  /** Handle missed events of the world. */
  missed() {
    View.prototype.news.call(this);
  }

  /** Update every few seconds, because other worlds have no stream here. */
  watch() {
    this.#watch ??= setInterval(() => document.hidden || this.missed(), 3000);
  }

  disconnectedCallback() {
    this.#refresh.stop();
    clearInterval(this.#watch);
    this.leave?.();
  }
}
