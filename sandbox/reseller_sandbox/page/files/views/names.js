// The names: searched, filtered, sorted and paged by the server. Each name has its own view.

import { choices } from "../parts/api.js";
import { beside, change, write } from "../parts/address.js";
import { h } from "../parts/dom.js";
import { name } from "../parts/name.js";
import { field, select, stage } from "../parts/pieces.js";
import { View } from "../parts/view.js";
import { day, distance } from "../parts/words.js";

const PAGE = 50;

export default class extends View {
  async show(address, isCurrent) {
    if (address.subject) {
      const shown = await name(this);
      if (!isCurrent()) return;
      this.render(shown);
      if (this.seen !== address.subject) toMiddle(this.querySelector(".scroll"));
      this.seen = address.subject;
      return;
    }
    const { like, account, zone, stage: at, flag, sort, start } = address;
    const pattern = like && !/[*?]/.test(like) ? `*${like}*` : like;
    const [{ names, next }, { accounts }, { now }] = await Promise.all([
      this.ask("names.list", { like: pattern, account, zone, stage: at, flag, sort, start, limit: PAGE }),
      this.ask("accounts.list"),
      this.ask("clock.show"),
    ]);
    if (!isCurrent()) return;
    const narrow = (key) => (value) => change({ start: "", [key]: value });
    this.render(
      h("div.bar", h("h1", "Names"),
        field("search", "Search names", like, narrow("like"), { placeholder: "Search names: shop, *.com" }),
        select("Account", "every account", accounts.map((record) => record.name), account, narrow("account")),
        field("text", "Zone", zone, narrow("zone"), { placeholder: "zone", size: 8 }),
        select("Stage", "every stage", choices("names.list", "stage"), at, narrow("stage")),
        select("Flag", "any flags", choices("names.list", "flag"), flag, narrow("flag")),
        select("Sorted by", "by order", choices("names.list", "sort").filter((word) => word !== "order"), sort, narrow("sort"))),
      h("div.rows.names.heads", { "aria-hidden": "true" }, h("span", ["name", "stage", "account", "flags", "", "expires", "next change"].map((word) => h("span", word)))),
      h("ol.rows.names", { "aria-label": "Names" }, names.map((record) => this.#row(address, record, now))),
      !names.length && h("p.empty", like || account || zone || at || flag ? "No name matches." : "There are no names."),
      (Number(start) > 0 || next !== null) && h("p.pages",
        Number(start) > 0 && h("a", { href: write({ ...address, start: Math.max(0, Number(start) - PAGE) || "" }) }, "← previous"),
        next !== null && h("a", { href: write({ ...address, start: next }) }, "next →")));
  }

  #row(address, record, now) {
    return h("li", { key: `${record.order}`, "data-row": true },
      h("a", { href: beside(address, "names", record.name) },
        h("span.about", record.name),
        stage(record.stage),
        h("span.who", record.account),
        h("span.flags", record.flags.join(", ").replaceAll("_", " "), record.transfer?.status === "pending" && " transfer pending"),
        h("span.quiet", record.autorenew ? "auto-renew" : ""),
        h("span.num", day(record.expires)),
        h("span.quiet.num", record.due ? distance(now, record.due) : "")));
  }
}

// If the picture of the lifecycle is wider than the window, scroll it to the stage of the name.
function toMiddle(scrolled) {
  const { left, width } = scrolled.querySelector(":is(.box, .end).lit").getBoundingClientRect();
  scrolled.scrollLeft += left + width / 2 - scrolled.getBoundingClientRect().left - scrolled.clientWidth / 2;
}
