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
    const shown = assumptions.filter((assumption) => matches(assumption, wanted) && passes(assumption, address.show, requestIds));
    const other = assumptions.filter(differs).length;
    this.render(
      h("div.bar", h("h1", "Assumptions"), search(address), h("span.quiet", `${assumptions.length} assumptions, ${other} not at their default.`),
        action({ label: "As observed", operation: "assumptions.set", args: { profile: "observed" }, where: address }),
        action({ label: "As documented", operation: "assumptions.set", args: { profile: "documented" }, where: address })),
      h("ol.plain.assumptions", shown.map((assumption) => row(assumption, requestIds.get(assumption.name), address))),
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

const differs = (assumption) => JSON.stringify(assumption.value) !== JSON.stringify(assumption.default);
const matches = (assumption, wanted) => !wanted || `${assumption.name} ${assumption.about} ${brief(assumption.value)}`.toLowerCase().includes(wanted);
const passes = (assumption, show, requestIds) => (show === "other" ? differs(assumption) : show === "used" ? requestIds.has(assumption.name) : true);

function requestsByAssumption(requests) {
  const requestIds = new Map();
  for (const { id, assumptions } of requests) {
    for (const name of Object.keys(assumptions ?? {})) requestIds.set(name, [...(requestIds.get(name) ?? []), id]);
  }
  return requestIds;
}

const row = (assumption, requests = [], where) => h("li", { key: assumption.name, "data-row": assumption.name, tabindex: -1, class: differs(assumption) ? "other" : "" },
  h("div", h("b.code", assumption.name), h("p", plain(assumption.about))),
  h("div.choice", choice(assumption, where), " ", interfacesButton({ label: assumption.name, operation: "assumptions.set", args: { assume: { [assumption.name]: assumption.value } }, where }),
    h("small", differs(assumption) ? `by default ${brief(assumption.default)}` : "the default",
      JSON.stringify(assumption.observed) !== JSON.stringify(assumption.default) && `, observed ${brief(assumption.observed)}`)),
  h("p.rests", requests.length > 0 && [`used by ${requests.length}: `,
    requests.slice(-6).map((id) => [h("a", { href: beside(where, "journal", id) }, id), " "])]));

function choice(assumption, where) {
  const set = async (value) => {
    try {
      await ask("assumptions.set", { assume: { [assumption.name]: value } }, { ...where, at: undefined });
      notice(`${assumption.name} is ${brief(value)} from the next request on.`);
    } catch (problem) {
      notice(problem.message, problem.remedy, "bad");
    }
  };
  const words = assumption.takes.startsWith("one of ") && assumption.takes.slice(7).split(", ");
  if (!words) {
    return h("span", h("input", { value: brief(assumption.value), "aria-label": assumption.name, onchange: (event) => set(parsed(event.target.value)) }));
  }
  const name = `choice-${assumption.name}`;
  return h("span.choices", { role: "radiogroup", "aria-label": assumption.name }, words.map((word) => h("label",
    h("input", { type: "radio", name, value: word, checked: word === String(assumption.value), onchange: () => set(typed(word, assumption)) }), word)));
}

const typed = (word, { default: usual }) => (typeof usual === "boolean" ? word === "true" : word);
