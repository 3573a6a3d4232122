// The journal, live: requests, control calls, timed events and scheduled actions, and the details of a request.

import { beside, change } from "../parts/address.js";
import { h } from "../parts/dom.js";
import { entry } from "../parts/entry.js";
import { first } from "../parts/first.js";
import { follow } from "../parts/live.js";
import { field, select, tag } from "../parts/pieces.js";
import { View } from "../parts/view.js";
import { brief, instant, money, plural } from "../parts/words.js";

const MOST = 300;
const CALM = 1000;
const REWRITES = /^(history|journal|branches|snapshots)\./;

export default class extends View {
  lines = [];
  #drawn = new Map();
  #for;
  #age = 0;

  async show(address, isCurrent) {
    const { world = "", at = "", subject } = address;
    const filter = filterOf(address);
    const key = JSON.stringify([world, at, filter, address.kind, this.#age]);
    if (key !== this.key) {
      this.stop?.(); // its events do not belong to the list that is loaded
      Object.assign(this, { key: undefined, come: [], hasGaps: false });
      const [{ requests, matching }, others] = await Promise.all([this.ask("journal.find", { ...filter, limit: MOST }), this.#others(address)]);
      const isNew = !matching && !at && !isNarrow(address);
      const accounts = isNew ? (await this.ask("accounts.list")).accounts : null;
      if (!isCurrent()) return;
      const isAlone = address.kind && address.kind !== "request";
      Object.assign(this, { key, accounts, lines: merged(isAlone ? [] : requests, others, this.come), matching, come: null });
      // Without lines begin at the first: events before the stream opens belong to the list.
      if (!at && !isAlone) this.#listen(world, { ...filter, since: requests.at(-1)?.id ?? "r0" });
    }
    const record = subject ? await this.ask("journal.get", { request: subject }) : null;
    if (!isCurrent()) return;
    this.entry = record;
    this.#draw();
  }

  // Lines that are not requests. A filter on a field of requests excludes all of them.
  async #others(address) {
    if (!hasOthers(address)) return [];
    const { kind, domain } = address;
    const { events } = await this.ask("events.find", { kind, domain, limit: MOST });
    return events.filter((event) => event.kind !== "request");
  }

  #listen(world, args) {
    this.stop = follow("journal.follow", args, { world }, {
      receive: (come) => {
        this.matching += come.length;
        this.#take(come);
      },
      missed: (count) => {
        this.matching += count;
        this.missed();
      },
    });
  }

  // Load the missed rows when fewer events arrive.
  missed() {
    if (this.address?.at) return;
    this.hasGaps = true;
    clearTimeout(this.calm);
    this.calm = setTimeout(() => {
      this.#age++;
      super.missed();
    }, CALM);
  }

  news(events) {
    if (this.address?.at) return;
    if (events.some(({ name }) => REWRITES.test(name))) {
      this.#age++; // discard the responses that are under way
      super.news(events);
    } else if (hasOthers(this.address)) this.#take(events.filter((event) => isWanted(event, this.address)));
  }

  // While a list is loading, wait for it.
  #take(come) {
    if (!come.length) return;
    if (this.come) {
      this.come.push(...come);
      return;
    }
    this.lines = merged(this.lines, come);
    this.#draw();
  }

  // Keep rows that are drawn already, so that only new rows cost time.
  #rows() {
    const seen = this.#for === location.hash ? this.#drawn : new Map();
    const { address } = this;
    this.#for = location.hash;
    this.#drawn = new Map(this.lines.map((line) => [line, seen.get(line) ?? (line.id ? request : other)(address, line)]));
    return [...this.#drawn.values()];
  }

  leave() {
    clearTimeout(this.calm);
    this.stop?.();
  }

  #draw() {
    const { address } = this;
    const narrow = (key) => (value) => change({ subject: "", [key]: value });
    this.render(
      h("div.bar", h("h1", "Journal"),
        field("search", "Search by name", address.domain, narrow("domain"), { placeholder: "Search a name" }),
        select("Kind", "everything", ["request", "control", "time", "scheduled"], address.kind, narrow("kind")),
        select("Outcome", "all outcomes", ["ok", "refused", "fault"], address.outcome, narrow("outcome")),
        h("span.quiet", plural(this.matching, "request"), this.hasGaps && ": too many at once to show all")),
      this.accounts && !this.matching && first({ world: address.world }, this.accounts),
      h("div.split", { class: this.entry && "open" },
        h("ol.rows.journal", { "aria-label": "Events" }, this.#rows()),
        this.entry && h("section.detail", { "aria-label": `Request ${this.entry.id}` }, entry(address, this.entry))),
      !this.lines.length && h("p.empty", "No events yet. Requests of your program appear here automatically."));
  }
}

const filterOf = ({ operation, account, domain, outcome }) => ({ operation, account, domain, outcome });

const isNarrow = ({ kind, ...address }) => Boolean(kind) || Object.values(filterOf(address)).some(Boolean);

const hasOthers = ({ kind, operation, account, outcome }) => kind !== "request" && !operation && !account && !outcome;

const isWanted = ({ kind, registry_event }, { kind: wanted, domain }) =>
  kind !== "request" && (!wanted || kind === wanted) && (!domain || registry_event?.subject === domain);

/** Return the lines merged, the latest first, without duplicates. */
function merged(...lists) {
  const known = new Map(lists.flat().map((record) => [record.number, record]));
  return [...known.values()].sort((first, second) => second.number - first.number).slice(0, MOST);
}

function request(address, line) {
  const isOk = line.outcome === "ok";
  return h("li", { key: line.number, "data-row": true, "aria-current": String(line.id === address.subject) },
    h("a", { href: beside(address, "journal", line.id, { ...filterOf(address), kind: address.kind }) },
      h("span.id", line.id),
      h("time", { datetime: line.at }, instant(line.at)),
      h("span.status", { class: isOk ? "ok" : "bad" }, line.status || "–"),
      h("span.operation", line.operation === "-" ? `${line.method} ${line.path}` : line.operation),
      h("span.about", line.domains.join(", ")),
      h("span.who", line.account ?? ""),
      isOk ? h("span.outcome") : tag(line.fault_kind ? `${line.outcome}: ${line.fault_kind}` : line.outcome, "bad"),
      h("span.money", money(line.charged)),
      line.refused && h("small", line.refused)));
}

function other(address, { number, at, kind, name, registry_event, parameters, effect }) {
  const { subject, account, charged, note, order } = registry_event ?? {};
  const details = Object.entries({ ...parameters, ...(registry_event ? {} : effect) }).map(([key, value]) => `${key}=${brief(value)}`).join(" ");
  const about = [h("span.id", "·"), h("time", { datetime: at }, instant(at)), h("span.status", kind === "control" ? "›_" : kind === "time" ? "◷" : "◇"),
    h("span.operation", registry_event?.event ?? name), h("span.about", subject ?? details), h("span.who", account ?? ""),
    h("span.outcome", { class: "quiet" }, kind), h("span.money", money(charged)), note && h("small", note)];
  const key = { key: number, class: "other" };
  return order ? h("li", { ...key, "data-row": true }, h("a", { href: beside(address, "names", subject) }, about)) : h("li", key, h("div.line", about));
}
