// Elements that several views share.

import { beside } from "./address.js";
import { h } from "./dom.js";
import { instant, money } from "./words.js";

/** Return a past or predicted event as a list item. */
export const registry_event = (where, { at, event, subject, order, account, charged, note }) => h("li",
  h("time", { datetime: at }, instant(at)), h("b", event),
  order ? h("a", { href: beside(where, "names", subject) }, subject) : h("span", subject),
  h("span.quiet", account ?? ""), h("span.money", money(charged)), note && h("small", note));

/** Return the stage of a name, in its colour. */
export const stage = (word) => h("span.stage", { "data-stage": word }, word.replaceAll("_", " "));

/** Return a list of choices, of which the first is none. */
export const select = (label, none, words, chosen, change) =>
  h("select", { "aria-label": label, value: chosen ?? "", onchange: ({ target }) => change(target.value) },
    h("option", { value: "", selected: !chosen }, none), words.map((word) => h("option", { value: word, selected: word === chosen }, word.replaceAll("_", " "))));

/** Return a field of a bar. It calls `change` with its value when the user commits it. */
export const field = (type, label, value, change, more = {}) =>
  h("input", { type, "aria-label": label, value: value ?? "", autocomplete: "off", spellcheck: "false", ...more, onchange: ({ target }) => change(target.value.trim()) });

/** Return a word in the colour of its kind: a stage, an outcome. */
export const tag = (word, sort = word) => h("span.tag", { "data-sort": sort }, word);

/** Return the changes of one record: its fields before and after. */
export function changed({ table, key, change, fields, name, before, after }) {
  const pairs = fields ? Object.entries(fields) : [[name, { before, after }]];
  return h("tbody", h("tr", h("th", { colspan: 3, scope: "rowgroup" },
    table ? [h("b", table), " ", said(key), name && name !== key && ` ${name}`, " ", tag(change)] : h("b", name))),
    pairs.map(([field, value]) => h("tr", h("td", table ? field : ""), h("td.before", said(was(value))), h("td.after", said(is(value))))));
}

const isPair = (value) => value && typeof value === "object" && ("before" in value || "after" in value);
const was = (value) => (isPair(value) ? value.before : undefined);
const is = (value) => (isPair(value) ? value.after : value);

const said = (value) =>
  value === undefined || value === null ? "" : typeof value === "object" ? JSON.stringify(value) : String(value);
