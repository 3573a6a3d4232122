// What every view is: an element that shows an address, and shows it anew when something has happened.

import { ask } from "./api.js";
import { h, render } from "./dom.js";
import { seldom } from "./live.js";

export class View extends HTMLElement {
  #turn = 0;
  #watch;
  #left;
  #anew = seldom(() => this.#left || this.update(this.address), 500, 20);

  /** Show what the address says, and nothing more of an older one. */
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

  /** Show nothing more that is asked for by now. */
  letGo() {
    this.#turn++;
    this.#left = true;
  }

  /** Ask a resource, in the world and at the moment of the address. */
  ask(operation, given) {
    return ask(operation, given, this.address);
  }

  /** Make these the children. */
  render(...nodes) {
    render(this, ...nodes);
  }

  /** Something has happened in the world: `events` are its records. */
  news() {
    if (!this.address?.at) this.#anew();
  }

  /** More has happened in the world than was told. */
  missed() {
    View.prototype.news.call(this);
  }

  /** Show it anew every few seconds: other worlds have no stream here. */
  watch() {
    this.#watch ??= setInterval(() => document.hidden || this.missed(), 3000);
  }

  disconnectedCallback() {
    this.#anew.stop();
    clearInterval(this.#watch);
    this.leave?.();
  }
}
