// The details of one request.

import { action } from "./action.js";
import { beside, write } from "./address.js";
import { h } from "./dom.js";
import { changed, tag } from "./pieces.js";
import { brief, instant, json } from "./words.js";
import "./copies.js";

/** Return the elements that show a request. */
export function entry(address, one) {
  return [
    h("header", h("h2", h("span.id", one.id), " ", one.operation, " ", one.domains.map((name) => h("a", { href: beside(address, "names", name) }, name))),
      h("a.close", { href: write({ ...address, subject: "" }), "aria-label": "Close the request" }, "×")),
    h("p.quiet", instant(one.at), " · ", one.account ?? "nobody", ` · ${one.duration_ms} ms`,
      one.fault && [" · fault ", h("b", one.fault)]),
    one.refusal && why(one.refusal),
    tools(address, one),
    h("page-copies", { $request: { method: one.method, target: one.request.target, body: one.request.body, account: one.account, where: { world: address.world } } }),
    section("Request", h("p", h("code", `${one.request.method} ${one.request.target}`)), headers(one.request.headers), body(one.request)),
    section("Answer", h("p", tag(String(one.answer.status || "none"), one.answer.status && one.answer.status < 400 ? "ok" : "bad"), one.answer.lost && " lost on its way"), body(one.answer)),
    section(`Changes · ${one.changes.length}`, one.changes.length ? h("table.changes", one.changes.map(changed)) : h("p.quiet", "It changed nothing.")),
    one.ledger.length > 0 && section("Money", h("ul.plain", one.ledger.map((move) =>
      h("li", h("b", move.amount), ` ${move.kind}: ${move.purpose}`)))),
    section("Assumptions", h("ul.plain", Object.entries(one.assumptions).map(([name, value]) => h("li", h("code", name), " = ", brief(value))))),
  ];
}

const section = (title, ...rest) => h("section", h("h3", title), rest);

const body = ({ body: text, cut }) => text === null || text === "" ? h("p.quiet", "no body")
  : h("pre", { tabindex: 0 }, json(text) + (cut ? `\n… cut; ${cut} bytes in all` : ""));

const headers = (all) => h("details", h("summary", "Headers"), h("dl.pairs", Object.entries(all ?? {}).map(([name, value]) => [h("dt", name), h("dd", brief(value))])));

const why = ({ rule, message, allowed, allowed_at: at, met }) => h("div.why", h("h3", "Refused: ", h("code", rule)), h("p", message),
  allowed && h("p", h("b", "Remedy: "), allowed, at && h("span.quiet", ` (from ${instant(at)} on)`)),
  met.balance !== null && h("p.quiet", `${met.account} had ${met.balance} ${met.currency}`));

const rewind = (where, { id }) => ({ operation: "history.rewind", given: { request: id, side: "before" }, where,
  says: ({ branch }) => `It is as before ${id}; what was left behind is branch ${branch.name}.` });

const tools = (address, one) => h("p.tools",
  h("a.do", { href: beside({ ...address, at: `before:${one.id}` }, "journal", one.id) }, "Look at the moment before"),
  address.at || !one.operation.includes(".") ? null : [
    action({ ...rewind(address, one), label: "Go back and try again", tone: one.refusal && "first", leads: () => again(address, one) }),
    h("a.do", { href: write(again(address, one)) }, "Send again"),
    action({ label: "Make this fail next time", operation: "faults.add", asks: ["kind", "match", "when"], where: address,
      given: { kind: "reset", match: { operation: one.operation, domain: one.domains[0] }, when: { times: 1 } },
      says: ({ faults }) => `The fault ${faults[0].name} waits for it.` }),
  ],
  address.at ? null : action({ ...rewind(address, one), label: "Rewind to before", leads: () => ({ ...address, subject: "" }) }),
  action({ label: "Fork from before", operation: "worlds.fork", given: { point: `before:${one.id}` }, where: address,
    leads: ({ name }) => ({ view: "journal", world: name }), says: ({ name }) => `World ${name} begins before ${one.id}.` }));

// A link to the console with the same request.
const again = ({ world }, { operation, account, request }) => ({ view: "console", subject: operation, world, account,
  target: request.target.replace(/^\/_worlds\/[^/]+/, ""), body: request.body ? json(request.body) : "" });
