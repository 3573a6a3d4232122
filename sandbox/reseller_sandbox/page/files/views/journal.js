// The journal, live: every request, and one of them with all that is known of it.

import { beside, go } from "../parts/address.js";
import { h } from "../parts/dom.js";
import { follow } from "../parts/live.js";
import { tag } from "../parts/pieces.js";
import { View } from "../parts/view.js";
import { instant, money } from "../parts/words.js";
import { entry } from "../parts/entry.js";

const MOST = 300;

export default class extends View {
  lines = [];

  async show(address) {
    const { world = "", at = "", subject } = address;
    const filter = this.#filter(address);
    const key = JSON.stringify([world, at, filter]);
    if (key !== this.key) {
      const { requests, matching } = await this.ask("journal.find", { ...filter, limit: MOST });
      Object.assign(this, { key, lines: requests.reverse(), matching });
      this.#listen(address, filter);
    }
    this.entry = subject ? await this.ask("journal.get", { request: subject }) : null;
    if (this.isCurrent()) this.#draw();
  }

  #filter({ operation, account, domain, outcome }) {
    return { operation, account, domain, outcome };
  }

  #listen(address, filter) {
    this.leave();
    if (address.at) return;
    const since = this.lines[0]?.id;
    this.stop = follow("journal.follow", { ...filter, since }, { world: address.world }, (come) => {
      this.lines = [...come.reverse(), ...this.lines].slice(0, MOST);
      this.matching += come.length;
      this.#draw();
    });
  }

  news(events) {
    if (!this.address?.at && events.some(({ kind, name }) => kind === "control" && /^(history|journal|branches|snapshots)\./.test(name))) {
      this.key = undefined;
      super.news(events);
    }
  }

  leave() {
    this.stop?.();
  }

  #draw() {
    const { address } = this;
    this.render(
      h("div.bar", h("h1", "Journal"), h("input", { type: "search", placeholder: "Search a name", "aria-label": "Search requests by name", value: address.domain ?? "",
        onchange: ({ target }) => go({ ...address, subject: "", domain: target.value.trim() }) }),
      this.#choice("outcome", { "": "all outcomes", ok: "done", refused: "refused", fault: "struck by a fault" }),
      h("span.quiet", `${this.matching} requests`)),
      h("div.split", { class: this.entry && "open" },
        h("ol.rows.journal", { "aria-label": "Requests" }, this.lines.map((line) => this.#row(line))),
        this.entry && h("section.detail", { "aria-label": `Request ${this.entry.id}` }, entry(address, this.entry))),
      !this.lines.length && h("p.empty", "No request has come yet. Whatever your program sends shows up here by itself."));
  }

  #choice(key, words) {
    const { address } = this;
    return h("select", { "aria-label": key, value: address[key] ?? "", onchange: ({ target }) => go({ ...address, [key]: target.value }) },
      Object.entries(words).map(([value, label]) => h("option", { value, selected: value === (address[key] ?? "") }, label)));
  }

  #row(line) {
    const { address } = this;
    const isOk = line.outcome === "ok";
    return h("li", { key: line.id, "data-row": true, "aria-current": String(line.id === address.subject) },
      h("a", { href: beside(address, "journal", line.id, this.#filter(address)) },
        h("span.id", line.id),
        h("time", { datetime: line.at }, instant(line.at)),
        h("span.status", { class: isOk ? "ok" : "bad" }, line.status || "–"),
        h("span.operation", line.operation),
        h("span.about", line.domains.join(", ")),
        h("span.who", line.account ?? ""),
        isOk ? h("span.outcome") : tag(line.outcome, "bad"),
        h("span.money", money(line.charged)),
        line.refused && h("small", line.refused)));
  }
}
