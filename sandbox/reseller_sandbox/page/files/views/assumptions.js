// The assumptions of the world: their effect, changed values, and dependent requests. A click changes one.

import { action, interfacesButton } from "../parts/action.js";
import { ask } from "../parts/api.js";
import { beside, change } from "../parts/address.js";
import { h } from "../parts/dom.js";
import { plain } from "../parts/form.js";
import { notice } from "../parts/notices.js";
import { View } from "../parts/view.js";
import { brief, parsed } from "../parts/words.js";

const LISTED = 100; // the latest requests, which are searched for the assumptions they depend on

export default class extends View {
  async show(address, isCurrent) {
    const [{ assumptions }, { requests }] = await Promise.all([
      this.ask("assumptions.list"), this.ask("journal.find", { limit: LISTED })]);
    if (!isCurrent()) return;
    const requestIds = requestsByAssumption(requests);
    const wanted = (address.q ?? "").toLowerCase();
    const shown = assumptions.filter((one) => matches(one, wanted) && passes(one, address.show, requestIds));
    const other = assumptions.filter(differs).length;
    this.render(
      h("div.bar", h("h1", "Assumptions"), search(address), h("span.quiet", `${assumptions.length} assumptions, ${other} not at their default.`),
        action({ label: "As observed", operation: "assumptions.set", given: { profile: "observed" }, where: address }),
        action({ label: "As documented", operation: "assumptions.set", given: { profile: "documented" }, where: address })),
      h("ol.plain.assumptions", shown.map((one) => row(one, requestIds.get(one.name), address))),
      !shown.length && h("p.empty", "No assumption matches."),
    );
  }
}

const search = (address) => [
  h("input", { type: "search", placeholder: "Search", "aria-label": "Search assumptions", value: address.q ?? "",
    oninput: ({ target }) => change({ q: target.value }, true) }),
  h("select", { "aria-label": "Which", value: address.show ?? "", onchange: ({ target }) => change({ show: target.value }) },
    Object.entries({ "": "all", other: "not at their default", used: "used by requests" })
      .map(([value, words]) => h("option", { value, selected: value === (address.show ?? "") }, words)))];

const differs = (one) => JSON.stringify(one.value) !== JSON.stringify(one.default);
const matches = (one, wanted) => !wanted || `${one.name} ${one.about} ${brief(one.value)}`.toLowerCase().includes(wanted);
const passes = (one, show, requestIds) => (show === "other" ? differs(one) : show === "used" ? requestIds.has(one.name) : true);

function requestsByAssumption(requests) {
  const requestIds = new Map();
  for (const { id, assumptions } of requests) {
    for (const name of Object.keys(assumptions ?? {})) requestIds.set(name, [...(requestIds.get(name) ?? []), id]);
  }
  return requestIds;
}

const row = (one, requests = [], where) => h("li", { key: one.name, "data-row": one.name, tabindex: -1, class: differs(one) ? "other" : "" },
  h("div", h("b.code", one.name), h("p", plain(one.about))),
  h("div.choice", choice(one, where), " ", interfacesButton({ label: one.name, operation: "assumptions.set", given: { assume: { [one.name]: one.value } }, where }),
    h("small", differs(one) ? `by default ${brief(one.default)}` : "the default",
      JSON.stringify(one.observed) !== JSON.stringify(one.default) && `, observed ${brief(one.observed)}`)),
  h("p.rests", requests.length > 0 && [`used by ${requests.length}: `,
    requests.slice(-6).map((id) => [h("a", { href: beside(where, "journal", id) }, id), " "])]));

function choice(one, where) {
  const set = async (value) => {
    try {
      await ask("assumptions.set", { assume: { [one.name]: value } }, { ...where, at: undefined });
      notice(`${one.name} is ${brief(value)} from the next request on.`);
    } catch (problem) {
      notice(problem.message, problem.remedy, "bad");
    }
  };
  const words = one.takes.startsWith("one of ") && one.takes.slice(7).split(", ");
  if (!words) {
    return h("span", h("input", { value: brief(one.value), "aria-label": one.name, onchange: (event) => set(parsed(event.target.value)) }));
  }
  const name = `choice-${one.name}`;
  return h("span.choices", { role: "radiogroup", "aria-label": one.name }, words.map((word) => h("label",
    h("input", { type: "radio", name, value: word, checked: word === String(one.value), onchange: () => set(typed(word, one)) }), word)));
}

const typed = (word, { default: usual }) => (typeof usual === "boolean" ? word === "true" : word);
