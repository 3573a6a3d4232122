// Money: balances over time, the ledger, and advice with the requests it concerns.

import { beside, change } from "../parts/address.js";
import { h, svg } from "../parts/dom.js";
import { View } from "../parts/view.js";
import { day, instant } from "../parts/words.js";

const MOST = 300;

export default class extends View {
  async show(address, isCurrent) {
    const { account, domain, before } = address;
    const [{ entries, matching, totals, balances }, { entries: all }, { findings, requests }, { now }] = await Promise.all([
      this.ask("ledger.find", { account, domain, before, limit: MOST }), this.ask("ledger.find", { limit: 10_000 }),
      this.ask("advice.list"), this.ask("clock.show")]);
    if (!isCurrent()) return;
    this.render(
      h("div.bar", h("h1", "Money"),
        h("input", { type: "search", placeholder: "Search a name", "aria-label": "Search movements by name", value: domain ?? "",
          onchange: ({ target }) => change({ before: "", domain: target.value.trim() }) }),
        h("select", { "aria-label": "Account", value: account ?? "", onchange: ({ target }) => change({ before: "", account: target.value }) },
          ["", ...balances.map((balance) => balance.account)].map((name) => h("option", { value: name, selected: name === (account ?? "") }, name || "all accounts"))),
        h("span.quiet", `${matching} movements`)),
      h("div.charts", balances.filter((balance) => !account || balance.account === account).map((balance) => chart(balance, all, now))),
      findings.length > 0 && h("section.part", { key: "advice" }, h("h2", "Advice"), h("ul.plain.lines", findings.map((item) => finding(item, address)))),
      !findings.length && h("p.part.quiet", `Advice: nothing found in ${requests} requests that would have cost money in production.`),
      entries.length > 0 && table(entries.reverse(), totals, address),
      !entries.length && h("p.empty", "No movements."),
      entries.length < matching && entries.length === MOST && h("p.part", h("a.do", { href: beside(address, "money", "", { account, domain, before: entries.at(-1).id }) }, "Earlier")),
    );
  }
}

const [WIDE, HIGH] = [600, 90];

// The steps of one balance: from before the first known movement until now.
function chart({ account, currency, balance }, all, now) {
  const movements = all.filter((movement) => movement.account === account).sort((first, second) => Date.parse(first.at) - Date.parse(second.at));
  let money = Number(balance) - movements.reduce((sum, movement) => sum + Number(movement.amount), 0);
  const end = Date.parse(now);
  const begin = Math.min(end - 864e5, ...all.map((movement) => Date.parse(movement.at)));
  const points = [[begin, money]];
  for (const movement of movements) points.push([Date.parse(movement.at), money], [Date.parse(movement.at), (money += Number(movement.amount))]);
  points.push([end, money]);
  const heights = points.map(([, height]) => height);
  const [low, high] = [Math.min(...heights), Math.max(...heights)];
  const span = high - low || 1;
  const place = ([at, height]) => [((at - begin) / (end - begin)) * WIDE, high === low ? HIGH / 2 : HIGH - ((height - low) / span) * HIGH];
  const line = points.map((point) => place(point).map((number) => number.toFixed(1)).join(",")).join(" ");
  const range = low === high ? "unchanged" : `${low.toFixed(2)} – ${high.toFixed(2)}`;
  const label = `${account}: ${balance} ${currency} now, ${range} in ${movements.length} movements since ${day(written(begin))}`;
  return h("figure.chart", { key: account },
    h("figcaption", h("b", account), h("span.money", `${balance} ${currency}`)),
    svg("svg", { viewBox: `0 -3 ${WIDE} ${HIGH + 6}`, preserveAspectRatio: "none", role: "img", "aria-label": label },
      low < 0 && high > 0 && svg("path.zero", { d: `M0 ${place([end, 0])[1]}H${WIDE}` }), svg("polyline", { points: line })),
    h("p.ends", h("span", day(written(begin))), h("span", range), h("span", day(now))));
}

const written = (time) => new Date(time).toISOString();

const finding = (advice, where) => h("li", { "data-row": advice.rule, tabindex: -1 },
  h("div.line", h("span.tag", { "data-sort": advice.severity === "money" ? "bad" : "" }, advice.rule), h("b", advice.summary)),
  h("small", advice.instead),
  h("p.line", advice.entries.map((id) => h("a", { href: beside(where, "journal", id) }, id))));

const COLUMNS = ["When", "Account", "Amount", "For", "Name", "Order", "Operation", "Cause"];

const table = (entries, totals, where) => h("div.scroll", { key: "ledger", tabindex: 0, role: "region", "aria-label": "Ledger" }, h("table.grid",
  h("caption", totals.purpose.map((total) => `${total.key} ${total.balance}`).join(" · ")),
  h("thead", h("tr", COLUMNS.map((word) => h("th", { scope: "col" }, word)))),
  h("tbody", entries.map((movement) => h("tr", { key: movement.id, "data-row": movement.id, tabindex: -1 },
    h("td", h("time", { datetime: movement.at }, instant(movement.at))), h("td", movement.account),
    h("td.money", { class: movement.amount.startsWith("-") ? "" : "ok" }, movement.amount),
    h("td", movement.kind === "refund" ? `refund of ${movement.purpose}` : movement.purpose),
    h("td", movement.domain && h("a", { href: beside(where, "names", movement.domain) }, movement.domain)),
    h("td.num", movement.order ?? ""), h("td.code", movement.operation),
    h("td", movement.request ? h("a", { href: beside(where, "journal", movement.request) }, movement.cause) : movement.cause))))));
