// The details of one request.

import { action } from "./action.js";
import { beside, write } from "./address.js";
import { h } from "./dom.js";
import { changed, tag } from "./pieces.js";
import { brief, instant, json } from "./words.js";
import "./copies.js";

/** Return the elements that show a request. */
export function entry(address, record) {
  return [
    h("header", h("h2", h("span.id", record.id), " ", record.operation, " ", record.domains.map((name) => h("a", { href: beside(address, "names", name) }, name))),
      h("a.close", { href: write({ ...address, subject: "" }), "aria-label": "Close the request" }, "×")),
    h("p.quiet", instant(record.at), " · ", record.account ?? "no account", ` · ${record.duration_ms} ms`,
      record.fault && [" · fault ", h("b", record.fault)]),
    record.refusal && why(record.refusal),
    tools(address, record),
    h("page-copies", { $request: { method: record.method, target: record.request.target, body: record.request.body, account: record.account, where: { world: address.world } } }),
    section("Request", h("p", h("code", `${record.request.method} ${record.request.target}`)), headers(record.request.headers), body(record.request)),
    section("Response", h("p", tag(String(record.answer.status || "none"), record.answer.status && record.answer.status < 400 ? "ok" : "bad"), record.answer.lost && " lost in transit"), body(record.answer)),
    section(`Changes · ${record.changes.length}`, record.changes.length ? h("table.changes", record.changes.map(changed)) : h("p.quiet", "No changes.")),
    record.ledger.length > 0 && section("Money", h("ul.plain", record.ledger.map((move) =>
      h("li", h("b", move.amount), ` ${move.kind}: ${move.purpose}`)))),
    section("Assumptions", h("ul.plain", Object.entries(record.assumptions).map(([name, value]) => h("li", h("code", name), " = ", brief(value))))),
  ];
}

const section = (title, ...rest) => h("section", h("h3", title), rest);

const body = ({ body: text, cut }) => text === null || text === "" ? h("p.quiet", "no body")
  : h("pre", { tabindex: 0 }, json(text) + (cut ? `\n… cut; ${cut} bytes in all` : ""));

const headers = (all) => h("details", h("summary", "Headers"), h("dl.pairs", Object.entries(all ?? {}).map(([name, value]) => [h("dt", name), h("dd", brief(value))])));

const why = ({ rule, message, allowed, allowed_at: at, met }) => h("div.why", h("h3", "Refused: ", h("code", rule)), h("p", message),
  allowed && h("p", h("b", "Remedy: "), allowed, at && h("span.quiet", ` (from ${instant(at)} on)`)),
  met.balance !== null && h("p.quiet", `${met.account} had ${met.balance} ${met.currency}`));

const rewind = (where, { id }) => ({ operation: "history.rewind", args: { request: id, side: "before" }, where,
  says: ({ branch }) => `Rewound to before ${id}. The previous state is branch ${branch.name}.` });

const tools = (address, record) => h("p.tools",
  h("a.do", { href: beside({ ...address, at: `before:${record.id}` }, "journal", record.id) }, "View state before"),
  address.at || !record.operation.includes(".") ? null : [
    action({ ...rewind(address, record), label: "Rewind and edit", tone: record.refusal && "first", leads: () => again(address, record) }),
    h("a.do", { href: write(again(address, record)) }, "Send again"),
    action({ label: "Add a fault for this request", operation: "faults.add", asks: ["kind", "match", "when"], where: address,
      args: { kind: "reset", match: { operation: record.operation, domain: record.domains[0] }, when: { times: 1 } },
      says: ({ faults }) => `The fault ${faults[0].name} is added.` }),
  ],
  address.at ? null : action({ ...rewind(address, record), label: "Rewind to before", leads: () => ({ ...address, subject: "" }) }),
  action({ label: "Fork from before", operation: "worlds.fork", args: { point: `before:${record.id}` }, where: address,
    leads: ({ name }) => ({ view: "journal", world: name }), says: ({ name }) => `World ${name} begins before ${record.id}.` }));

// A link to the console with the same request.
const again = ({ world }, { operation, account, request }) => ({ view: "console", subject: operation, world, account,
  target: request.target.replace(/^\/_worlds\/[^/]+/, ""), body: request.body ? json(request.body) : "" });
