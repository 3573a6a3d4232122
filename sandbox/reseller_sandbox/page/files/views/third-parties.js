// Third parties: actions of strangers, other registrars, registries and the service's staff, now or scheduled.

import { action } from "../parts/action.js";
import { interfaces, operations } from "../parts/api.js";
import { beside, change, read, write } from "../parts/address.js";
import { h } from "../parts/dom.js";
import { View } from "../parts/view.js";
import { brief, instant } from "../parts/words.js";

const ASKED = 60; // the latest availability requests that are searched

export default class extends View {
  async show(address, isCurrent) {
    const name = address.subject;
    const [{ transfers }, { accounts }, { scheduled }, { requests }, { names }] = await Promise.all([
      this.ask("transfers.list", { status: "pending" }), this.ask("accounts.list"), this.ask("scheduled.list"),
      this.ask("journal.find", { operation: "*heck*", limit: ASKED }), this.ask("names.list", { like: name || "*", limit: 1 })]);
    if (!isCurrent()) return;
    const asked = [...new Set(requests.reverse().flatMap((request) => request.domains))].slice(0, 12);
    const act = (operation, args = {}, more = {}) => action({ label: words(operation), operation: `simulate.${operation}`,
      args: () => ({ ...args, ...planned(read()) }), where: address, says: happened, ...more });
    this.render(
      h("div.bar", h("h1", "Third parties"), time(address)),
      h("div.columns",
        h("div",
          h("section.part", h("h2", "A name"),
            h("input", { type: "search", placeholder: "example.com", "aria-label": "Name to act on", value: name,
              onchange: ({ target }) => change({ subject: target.value.trim() }) }),
            name ? [h("p", names.length ? holder(names[0], address) : `${name} is not registered.`),
              h("p.tools", about("domain").map((operation) => act(operation, { domain: name })))]
              : h("p.quiet", "Enter a name to see the actions of third parties.")),
          asked.length > 0 && h("section.part", { key: "asked" }, h("h2", "Checked names"), h("p.quiet", "Names whose availability clients have checked, and that third parties can register first."),
            h("ul.plain.lines", asked.map((domain) => h("li.line", { key: domain, "data-row": domain },
              h("a", { href: write({ ...address, subject: domain }) }, domain), act("register", { domain }, { label: "Snipe" }))))),
          h("section.part", { key: "transfers" }, h("h2", "Pending transfers"),
            transfers.length ? h("ul.plain.lines", transfers.map((record) => transfer(record, address, act))) : h("p.quiet", "No pending transfers."))),
        h("div",
          h("section.part", h("h2", "Money and credentials"), h("ul.plain.lines", accounts.map((account) => h("li.line", { key: account.name },
            h("b", account.name), h("span.money", `${account.balance} ${account.currency}`),
            account.revoked.length > 0 && h("span.tag", { "data-sort": "bad" }, `revoked: ${account.revoked.join(", ")}`),
            about("account").map((operation) => act(operation, { account: account.name }, { asks: rest(operation, "account") })))))),
          h("section.part", h("h2", "Registries"), h("p.tools", about("zone").map((operation) => act(operation, {}, { asks: true })))),
          h("section.part", h("h2", "Scheduled"), scheduled.length ? h("ul.plain.lines", scheduled.map((item) => scheduledLine(item, address)))
            : h("p.quiet", "No scheduled actions. Choose a time above to schedule the next action.")))),
    );
  }
}

const words = (operation) => operation.replaceAll("_", " ").replace(/^./, (first) => first.toUpperCase());
const WHEN = new Set(["at", "after"]);

/** Return the actions whose first parameter has this name. */
const about = (subject) => Object.keys(operations).filter((id) => id.startsWith("simulate.") && operations[id].parameters[0].name === subject)
  .map((id) => id.slice("simulate.".length));
const rest = (operation, subject) => {
  const asked = operations[`simulate.${operation}`].parameters.map(({ name }) => name).filter((name) => name !== subject && !WHEN.has(name));
  return asked.length ? asked : false;
};

const planned = ({ when, on, after }) => (when === "at" && on ? { at: on } : when === "after" && after ? { after } : {});
const happened = ({ events, scheduled: made }) => (made ? `Scheduled: ${words(made.action)}.` : events.map((event) => `${event.event} ${event.subject}`).join(", ") || "Done.");

// The time of the next action. It is part of the address, like all state.
const time = (address) => h("span.line",
  h("select", { "aria-label": "When", value: address.when ?? "", onchange: ({ target }) => change({ when: target.value }) },
    Object.entries({ "": "now", at: "at an instant, or after a time", after: "after a request" })
      .map(([value, label]) => h("option", { value, selected: value === (address.when ?? "") }, label))),
  address.when === "at" && h("input", { key: "at", "aria-label": "Instant, or duration", placeholder: "P3D or 2026-02-01T00:00:00Z", value: address.on ?? "",
    onchange: ({ target }) => change({ on: target.value.trim() }) }),
  address.when === "after" && h("input", { key: "after", "aria-label": "Operation of the request", placeholder: interfaces[0].example?.operation ?? "", value: address.after ?? "",
    onchange: ({ target }) => change({ after: target.value.trim() }) }));

const holder = (record, where) => [h("a", { href: beside(where, "names", record.name) }, record.name), ` is ${record.stage}, held by ${record.account}.`];

function transfer(record, where, act) {
  const args = { domain: record.domain };
  const coming = record.losing === "outside";
  return h("li", { key: record.domain, "data-row": record.domain },
    h("div.line", h("a", { href: beside(where, "names", record.domain) }, record.domain), h("span.quiet", `${record.losing} → ${record.gaining}`),
      h("small", `requested ${instant(record.requested)}, completes ${instant(record.completes)}`)),
    h("div.tools", coming && [act("approve_transfer", args, { label: "Approve" }), act("reject_transfer", args, { label: "Reject" })],
      record.gaining === "outside" && act("cancel_transfer", args, { label: "Cancel" }),
      act("complete_transfer", args, { label: "Complete" })));
}

const scheduledLine = (one, where) => h("li.line", { key: one.id },
  h("span.id", `#${one.id}`), h("b", words(one.action)), h("span.code", Object.values(one.parameters).map(brief).join(" ")),
  h("span.quiet", one.applied ? `applied ${instant(one.applied)}` : one.at ? `at ${instant(one.at)}` : `after ${brief(one.after?.operation ?? one.after)}`),
  one.refused && h("span.tag", { "data-sort": "bad" }, one.refused),
  action({ label: one.applied ? "Forget" : "Cancel", operation: "scheduled.remove", args: { scheduled: one.id }, where, tone: "danger" }));
