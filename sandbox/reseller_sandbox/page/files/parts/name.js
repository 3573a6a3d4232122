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
  const [one, { events }, { now, due }, { entries }, way] = await Promise.all([
    view.ask("names.get", { name: subject }).catch(unlessUnknown),
    view.ask("events.find", { domain: subject, limit: MOST }),
    view.ask("clock.due", { domain: subject }),
    view.ask("ledger.find", { domain: subject, limit: MOST }),
    life(),
  ]);
  return [
    head(address, subject, one, now),
    h("div.name",
      h("div",
        h("section", h("h2.minor", "Life"), h("div.scroll", { tabindex: 0, role: "region", "aria-label": "The stages of a name" }, picture(way, one?.stage ?? "released"))),
        timeline(address, events, due, now),
        await answers(address, subject, one)),
      h("aside", one && facts(address, one, now), spent(entries, address), others(address, subject, one))),
  ];
}

const unlessUnknown = (problem) => {
  if (problem instanceof Refusal && problem.error === "unknown_record") return null;
  throw problem;
};

const head = (address, subject, one, now) => h("div.bar",
  h("h1", one?.name ?? subject), stage(one?.stage ?? "released"),
  one && one.ascii !== one.name && h("code", one.ascii),
  one ? h("span.quiet", `${one.account} · order ${one.order}`) : h("span.quiet", "not registered"),
  one?.due && h("span", "next change ", h("b", distance(now, one.due)), " ", h("span.quiet", instant(one.due))),
  one?.due && !address.at && action({ label: "Advance to then", operation: "clock.advance", given: { to: one.due }, where: address,
    says: ({ now: then, total }) => `The clock is at ${instant(then)}, after ${plural(total, "event")}.` }));

function facts(address, one, now) {
  const contacts = Object.entries(one.contacts).filter(([, handle]) => handle);
  const pairs = {
    "Expires": [day(one.expires), " ", h("span.quiet", distance(now, one.expires))],
    "Created": day(one.created),
    "In this stage since": day(one.since),
    "Auto-renew": one.autorenew ? "yes" : "no",
    "Renewal price": [one.renewal, one.premium && " (premium)"],
    "Flags": one.flags.map((flag) => flag.replaceAll("_", " ")).join(", ") || "none",
    "Privacy": one.privacy ? "yes" : "no",
    "Auth code": h("code", one.auth_code),
    "License": one.license,
    "Nameservers": one.nameservers.map((host) => h("div", host)),
    "Hosts": one.hosts.map(({ name: host, ips }) => h("div", host, " ", h("span.quiet", ips.join(", ")))),
    "Contacts": new Set(contacts.map(([, handle]) => handle)).size === 1 ? contacts[0][1]
      : contacts.map(([role, handle]) => h("div", h("span.quiet", role), " ", handle)),
    "Customer": one.customer,
    "Transfer": one.transfer && [`${one.transfer.status}: ${one.transfer.losing} → ${one.transfer.gaining}`, " ",
      h("span.quiet", `completes ${instant(one.transfer.completes)}`)],
  };
  const shown = Object.entries(pairs).filter(([, value]) => value !== null && value !== "" && value?.length !== 0);
  return h("section", h("h2.minor", "Details"), h("dl.pairs", shown.map(([key, value]) => [h("dt", key), h("dd", value)])));
}

const spent = (entries, address) => entries.length > 0 && h("section", h("h2.minor", "Money"), h("ul.plain.spent",
  entries.toReversed().map((one) => h("li", h("time", { datetime: one.at }, day(one.at)), h("span", one.purpose),
    one.request ? h("a", { href: beside(address, "journal", one.request) }, one.request) : h("span.quiet", "time"),
    h("span.money", one.amount)))));

function timeline(address, events, due, now) {
  const past = events.map((one) => h("li", { class: one.kind, key: `e${one.number}` }, h("time", { datetime: one.at }, instant(one.at)), was(address, one)));
  const coming = due.map((one, at) => h("li.coming", { key: `d${at}` }, h("time", { datetime: one.at }, instant(one.at)),
    h("span", h("b", one.event), " ", h("span.quiet", distance(now, one.at)), Number(one.charged) ? ` ${money(one.charged)}` : "", one.note && h("small", ` ${one.note}`))));
  const rows = [...past, h("li.here", { key: "now" }, h("time", { datetime: now }, instant(now)), h("span", address.at ? "then" : "now")), ...coming];
  return h("section", h("h2.minor", "Past and due events"), h("ol.timeline", rows));
}

function was(address, { name: event, effect, registry_event, given }) {
  const { request, outcome, account } = effect;
  if (request) return h("span", h("a", { href: beside(address, "journal", request) }, h("span.id", request), " ", event), " ",
    h("span.quiet", account ?? ""), outcome !== "ok" && h("span.bad", ` ${outcome}`));
  return h("span", h("b", registry_event?.event ?? event), registry_event && Number(registry_event.charged) ? ` ${money(registry_event.charged)}` : "",
    registry_event?.note && h("small", ` ${registry_event.note}`), !registry_event && Object.keys(given).length > 0 && h("small", ` ${brief(given)}`));
}
