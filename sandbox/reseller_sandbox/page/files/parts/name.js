// The details of a name.

import { Refusal } from "./api.js";
import { beside } from "./address.js";
import { answers } from "./answers.js";
import { h } from "./dom.js";
import { life, picture } from "./lifecycle.js";
import { others } from "./others.js";
import { stage } from "./pieces.js";
import { brief, day, distance, instant, money, plural } from "./words.js";
import { action } from "./action.js";

const MOST = 100;

/** Return the elements that show the name in the address of `view`. */
export async function name(view) {
  const { address } = view;
  const { subject } = address;
  const [record, { events }, { now, due }, { entries }, way] = await Promise.all([
    view.ask("names.get", { name: subject }).catch(unlessUnknown),
    view.ask("events.find", { domain: subject, limit: MOST }),
    view.ask("clock.due", { domain: subject }),
    view.ask("ledger.find", { domain: subject, limit: MOST }),
    life(),
  ]);
  return [
    head(address, subject, record, now),
    h("div.name",
      h("div",
        h("section", h("h2.minor", "Life"), h("div.scroll", { tabindex: 0, role: "region", "aria-label": "The stages of a name" }, picture(way, record?.stage ?? "released"))),
        timeline(address, events, due, now),
        await answers(address, subject, record)),
      h("aside", record && facts(address, record, now), spent(entries, address), others(address, subject, record))),
  ];
}

const unlessUnknown = (problem) => {
  if (problem instanceof Refusal && problem.error === "unknown_record") return null;
  throw problem;
};

const head = (address, subject, record, now) => h("div.bar",
  h("h1", record?.name ?? subject), stage(record?.stage ?? "released"),
  record && record.ascii !== record.name && h("code", record.ascii),
  record ? h("span.quiet", `${record.account} · order ${record.order}`) : h("span.quiet", "not registered"),
  record?.due && h("span", "next change ", h("b", distance(now, record.due)), " ", h("span.quiet", instant(record.due))),
  record?.due && !address.at && action({ label: "Advance to then", operation: "clock.advance", args: { to: record.due }, where: address,
    says: ({ now: then, total }) => `The clock is at ${instant(then)}, after ${plural(total, "event")}.` }));

function facts(address, record, now) {
  const contacts = Object.entries(record.contacts).filter(([, handle]) => handle);
  const pairs = {
    "Expires": [day(record.expires), " ", h("span.quiet", distance(now, record.expires))],
    "Created": day(record.created),
    "In this stage since": day(record.since),
    "Auto-renew": record.autorenew ? "yes" : "no",
    "Renewal price": [record.renewal, record.premium && " (premium)"],
    "Flags": record.flags.map((flag) => flag.replaceAll("_", " ")).join(", ") || "none",
    "Privacy": record.privacy ? "yes" : "no",
    "Auth code": h("code", record.auth_code),
    "License": record.license,
    "Nameservers": record.nameservers.map((host) => h("div", host)),
    "Hosts": record.hosts.map(({ name: host, ips }) => h("div", host, " ", h("span.quiet", ips.join(", ")))),
    "Contacts": new Set(contacts.map(([, handle]) => handle)).size === 1 ? contacts[0][1]
      : contacts.map(([role, handle]) => h("div", h("span.quiet", role), " ", handle)),
    "Customer": record.customer,
    "Transfer": record.transfer && [`${record.transfer.status}: ${record.transfer.losing} → ${record.transfer.gaining}`, " ",
      h("span.quiet", `completes ${instant(record.transfer.completes)}`)],
  };
  const shown = Object.entries(pairs).filter(([, value]) => value !== null && value !== "" && value?.length !== 0);
  return h("section", h("h2.minor", "Details"), h("dl.pairs", shown.map(([key, value]) => [h("dt", key), h("dd", value)])));
}

const spent = (entries, address) => entries.length > 0 && h("section", h("h2.minor", "Money"), h("ul.plain.spent",
  entries.toReversed().map((entry) => h("li", h("time", { datetime: entry.at }, day(entry.at)), h("span", entry.purpose),
    entry.request ? h("a", { href: beside(address, "journal", entry.request) }, entry.request) : h("span.quiet", "time"),
    h("span.money", entry.amount)))));

function timeline(address, events, due, now) {
  const past = events.map((event) => h("li", { class: event.kind, key: `e${event.number}` }, h("time", { datetime: event.at }, instant(event.at)), was(address, event)));
  const coming = due.map((event, at) => h("li.coming", { key: `d${at}` }, h("time", { datetime: event.at }, instant(event.at)),
    h("span", h("b", event.event), " ", h("span.quiet", distance(now, event.at)), Number(event.charged) ? ` ${money(event.charged)}` : "", event.note && h("small", ` ${event.note}`))));
  const rows = [...past, h("li.here", { key: "now" }, h("time", { datetime: now }, instant(now)), h("span", address.at ? "then" : "now")), ...coming];
  return h("section", h("h2.minor", "Past and due events"), h("ol.timeline", rows));
}

function was(address, { name: event, effect, registry_event, parameters }) {
  const { request, outcome, account } = effect;
  if (request) return h("span", h("a", { href: beside(address, "journal", request) }, h("span.id", request), " ", event), " ",
    h("span.quiet", account ?? ""), outcome !== "ok" && h("span.bad", ` ${outcome}`));
  return h("span", h("b", registry_event?.event ?? event), registry_event && Number(registry_event.charged) ? ` ${money(registry_event.charged)}` : "",
    registry_event?.note && h("small", ` ${registry_event.note}`), !registry_event && Object.keys(parameters).length > 0 && h("small", ` ${brief(parameters)}`));
}
