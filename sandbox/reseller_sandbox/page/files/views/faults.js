// The faults of the world: presets, rules with the number of their uses, and a form for each kind.

import { action, sheet } from "../parts/action.js";
import { ask } from "../parts/api.js";
import { h } from "../parts/dom.js";
import { plain } from "../parts/form.js";
import { notice } from "../parts/notices.js";
import { View } from "../parts/view.js";
import { brief } from "../parts/words.js";

export default class extends View {
  async show(address, isCurrent) {
    const looks = ["faults.list", "faults.presets", "faults.kinds"].map((operation) => this.ask(operation));
    const [{ faults }, { presets }, { kinds }] = await Promise.all(looks);
    if (!isCurrent()) return;
    const applied = faults.reduce((sum, fault) => sum + fault.applied, 0);
    this.render(
      h("div.bar", h("h1", "Faults"),
        h("span.quiet", faults.length ? `Rules: ${faults.length}, applied: ${applied}` : "No faults."),
        faults.length > 0 && action({ label: "Remove all", operation: "faults.clear", where: address, tone: "danger" })),
      faults.length > 0 && rules(faults, address),
      h("div.columns", { key: "more" },
        h("section.part", h("h2", "Presets"), h("ul.plain.lines.toggles", presets.map((record) => preset(record, faults, address)))),
        h("section.part", h("h2", "Kinds"), h("p.quiet", "Choose a kind to open its form. Limit it to some requests with match and when."),
          h("ul.plain.lines.kinds", kinds.map((record) => kind(record, address))))),
    );
  }
}

const rules = (faults, where) => h("div.scroll", { key: "rules", tabindex: 0, role: "region", "aria-label": "Rules" }, h("table.grid",
  h("thead", h("tr", ["Rule", "Applied", "Requests", "When", "Actions"].map((word) => h("th", { scope: "col" }, word)))),
  h("tbody", faults.map((fault) => h("tr", { key: fault.name, "data-row": fault.name, tabindex: -1, class: fault.paused || fault.exhausted ? "dim" : "" },
    h("td", h("b", fault.name), h("small.code", [fault.name !== fault.kind && fault.kind, parametersOf(fault)].filter(Boolean).join(" "))),
    h("td.num", { title: "applied to, of the matching requests", "data-label": "applied" }, `${fault.applied} of ${fault.matched}`, h("small", state(fault))),
    h("td.code", words(fault.match) || "any"),
    h("td.code", words(fault.when)),
    h("td.acts",
      action(fault.paused
        ? { label: "Resume", operation: "faults.resume", args: { name: fault.name }, where }
        : { label: "Pause", operation: "faults.pause", args: { name: fault.name }, where }),
      action({ label: "Change", operation: "faults.change", asks: ["changes"], where,
        args: { name: fault.name, changes: { match: fault.match, when: fault.when, ...own(fault) } } }),
      action({ label: "Remove", operation: "faults.remove", args: { name: fault.name }, where, tone: "danger" })))))));

const OF_ANY = new Set(["name", "kind", "match", "when", "paused", "matched", "applied", "exhausted"]);
const own = (rule) => Object.fromEntries(Object.entries(rule).filter(([key, value]) => !OF_ANY.has(key) && value !== null));
const parametersOf = (rule) => words(own(rule));
const words = (values) => Object.entries(values).map(([key, value]) => `${key}=${brief(value)}`).join(" ");
const state = ({ paused, exhausted }) => (paused ? "paused" : exhausted ? "exhausted" : "");

function preset({ preset: name, about }, faults, where) {
  const rules = faults.filter((rule) => rule.name === name || rule.name.startsWith(`${name}.`));
  const flip = async (event) => {
    const { target } = event;
    const wanted = target.checked;
    target.busy = target.disabled = true;
    try {
      if (wanted) await ask("faults.add", { preset: name }, where);
      else for (const rule of rules) await ask("faults.remove", { name: rule.name }, where);
      notice(`${name} is ${wanted ? "on" : "off"}.`);
    } catch (problem) {
      target.checked = !wanted;
      notice(problem.message, problem.remedy, "bad");
    }
    target.busy = target.disabled = false;
  };
  return h("li", { key: name },
    h("label.toggle", h("input", { type: "checkbox", role: "switch", checked: rules.length > 0, onchange: flip }), h("b", name)),
    h("small", plain(about)),
    action({ label: "Limit to…", title: "Add the preset for some requests only", operation: "faults.add", args: { preset: name },
      where, asks: ["preset", "name", "match", "when"] }));
}

function kind({ kind: name, about, parameters }, where) {
  const asks = [...parameters.map((parameter) => parameter.name), "name", "match", "when"];
  const abouts = Object.fromEntries(parameters.map((parameter) => [parameter.name, parameter.about])); // the text of this kind, because two kinds may share a parameter
  return h("li", { key: name },
    h("button.do", { type: "button", onclick: () => sheet({ label: `Add ${name}`, operation: "faults.add", args: { kind: name }, where, asks, abouts }) }, name),
    h("small", plain(about)));
}
