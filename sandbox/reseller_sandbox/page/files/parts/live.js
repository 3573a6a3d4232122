// Events of a world: one stream for all tabs of a browser, delivered in batches.

import { ask, instance, request, root } from "./api.js";
import { BATCH, PER_SECOND, RETRIES } from "./limits.js";

const listeners = new Set();

/** Call `news(events)`, `missed()`, `connection()` and `restarted()` of a listener. Return a function that ends it. */
export function onEvents(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

const tell = (name, value) => [...listeners].forEach((listener) => listener[name]?.(value));

/** The connection of this page: `isLost`, and the time of the next attempt. */
export let connection = { isLost: false };

let stream;

/** Follow a world, in place of another one. The promise ends when no later event can be lost. */
export function listen(world = "") {
  if (stream?.world === world) return stream.begun;
  stream?.end();
  stream = new Stream(world);
  return stream.begun;
}

export const retry = () => stream?.lead();

export function stopListening() {
  stream?.end();
  stream = undefined;
}

// The visible tab that has the lock listens to the server, and sends every event to the other tabs. Without locks
// (a page of another machine without TLS) each tab listens.
class Stream {
  #abort = new AbortController();
  #waiting = [];
  #attempt = 0;

  constructor(world) {
    this.world = world;
    this.channel = new BroadcastChannel(`events of ${root.pathname} ${world}`);
    this.channel.onmessage = ({ data: [name, value] }) => this[name](value);
    document.addEventListener("visibilitychange", this.#turn);
    addEventListener("unreachable", this.#notice);
    this.begun = this.#begin();
  }

  async #begin() {
    const { events: [last] } = await ask("events.list", { limit: 1 }, { world: this.world });
    this.mark ??= last?.number ?? 0;
    this.#turn();
  }

  #turn = () => {
    this.#release?.();
    if (document.hidden || this.isEnded) return;
    if (!navigator.locks) return this.lead();
    this.#abort = new AbortController();
    navigator.locks.request(this.channel.name, { signal: this.#abort.signal }, () => new Promise((release) => {
      this.#unlock = release;
      if (this.isEnded || document.hidden) release();
      else this.lead();
    })).catch(() => {}); // it is no longer wanted
  };

  /** @type {Function} */
  #unlock = () => {};

  #release() {
    this.#abort.abort();
    this.#unlock();
    clearTimeout(this.timer);
    this.source?.close();
    this.source = undefined;
  }

  lead() {
    clearTimeout(this.timer);
    this.source?.close();
    const { path } = request("events.follow", { since: this.mark, per_second: PER_SECOND }, { world: this.world });
    const source = (this.source = new EventSource(new URL(path, root)));
    let reported = 0;
    source.onopen = () => {
      this.#attempt = 0;
      this.#send("connected", null);
    };
    source.onmessage = ({ data, lastEventId }) => {
      this.#waiting.push(JSON.parse(data));
      this.mark = lastEventId;
      this.bundle ??= setTimeout(this.#flush, BATCH);
    };
    source.addEventListener("missed", ({ data }) => {
      const { missed } = JSON.parse(data);
      this.#send("missed", missed - reported);
      reported = missed;
    });
    source.addEventListener("begin", ({ data }) => this.#send("serves", JSON.parse(data).instance));
    source.addEventListener("end", this.#again);
    source.onerror = this.#again;
  }

  // A request got no answer. A lost connection keeps the time of its next attempt, however many requests fail by then.
  #notice = () => connection.isLost || this.#again();

  // The server has ended the stream, or does not answer.
  #again = () => {
    if (!this.source) return; // another tab listens
    const pause = RETRIES[Math.min(this.#attempt++, RETRIES.length - 1)];
    this.#send("lost", Date.now() + 1000 * pause);
    this.source.close();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.lead(), 1000 * pause);
  };

  #flush = () => {
    this.bundle = undefined;
    const events = this.#waiting.splice(0);
    if (events.length) this.#send("events", { events, mark: this.mark });
  };

  #send(name, value) {
    if (this.isEnded) return;
    this.channel.postMessage([name, value]);
    this[name](value);
  }

  events({ events, mark }) {
    this.mark = mark;
    tell("news", events);
  }

  missed(count) {
    tell("missed", count);
  }

  connected() {
    if (!connection.isLost) return;
    connection = { isLost: false };
    tell("connection", connection);
    tell("missed", 0); // the pages may have seen answers of a server that has lost them
  }

  lost(until) {
    connection = { isLost: true, until };
    tell("connection", connection);
  }

  // A restarted server has other events, with other numbers.
  serves(id) {
    if (id && id !== instance) tell("restarted");
  }

  end() {
    this.isEnded = true;
    this.#release();
    clearTimeout(this.bundle);
    this.channel.close();
    document.removeEventListener("visibilitychange", this.#turn);
    removeEventListener("unreachable", this.#notice);
  }
}
