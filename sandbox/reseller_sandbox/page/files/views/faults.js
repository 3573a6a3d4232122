// The faults of the world: presets, rules with the number of their uses, and a form for each kind.

import { Action, sheet } from "../parts/action.js";
import { beside } from "../parts/address.js";
import { ask, operations } from "../parts/api.js";
import { plain } from "../parts/form.js";
import { Component, html } from "../parts/html.js";
import { notice, report } from "../parts/notices.js";
import { Scroll, Table } from "../parts/pieces.js";
import { View } from "../parts/view.js";
import { brief } from "../parts/words.js";

export default class extends View {
  documented = undefined;

  async load() {
    this.documented ??= this.ask("coverage.items", { area: "errors" });
    const [{ faults }, { presets }, { kinds }, { items }] = await Promise.all(
      [...["faults.list", "faults.presets", "faults.kinds"].map((operation) => this.ask(operation)), this.documented]);
    return { faults, presets, kinds, items };
  }

  draw({ faults, presets, kinds, items }, address) {
    const applied = faults.reduce((sum, fault) => sum + fault.applied, 0);
    return html`<div class="bar"><h1>Faults</h1>
        <span class="quiet">${faults.length ? `Rules: ${faults.length}, applied: ${applied}` : "No faults."}</span>
        ${faults.length > 0 && html`<${Action} label="Remove all" operation="faults.clear" where=${address} tone="danger" />`}</div>
      ${faults.length > 0 && html`<${Scroll} label="Rules"><${Table} heads=${["Rule", "Applied", "Requests", "When", "Actions"]}>
        ${faults.map((fault) => html`<${Rule} key=${fault.name} of=${fault} kinds=${kinds} where=${address} />`)}<//><//>`}
      <div class="columns">
        <section class="part"><h2>Presets</h2><ul class="plain lines toggles">${presets.map((preset) => html`<${Preset} key=${preset.preset} of=${preset} faults=${faults} where=${address} reload=${() => this.update(true)} />`)}</ul></section>
        <section class="part"><h2>Kinds</h2><p class="quiet">Choose a kind to open its form. Limit it to some requests with match and when.</p>
          <ul class="plain lines kinds">${kinds.map((kind) => html`<${Kind} key=${kind.kind} of=${kind} where=${address} />`)}</ul></section></div>
      <datalist id="errors">${distinct(items.map(({ item }) => item.split(" ").at(-1))).map((word) => html`<option value=${word} />`)}</datalist>
      <datalist id="operations">${distinct(items.map(({ operation }) => operation)).map((word) => html`<option value=${word} />`)}</datalist>`;
  }
}

const distinct = (words) => [...new Set(words)].sort();

function Rule({ of: fault, kinds, where }) {
  const { name, kind, paused, exhausted, match, when, applied, matched } = fault;
  const uses = `${applied} of ${matched}`;
  return html`<tr data-row=${name} tabindex="-1" class=${paused || exhausted ? "dim" : ""}>
    <td><b>${name}</b><small class="code">${[name !== kind && kind, words(own(fault))].filter(Boolean).join(" ")}</small></td>
    <td class="num" title="applied to, of the matching requests" data-label="applied">${applied ? html`<a href=${beside(where, "journal", "", { fault: name })}>${uses}</a>` : uses}
      <small>${paused ? "paused" : exhausted ? "exhausted" : ""}</small></td>
    <td class="code">${words(match) || "any"}</td><td class="code">${words(when)}</td>
    <td class="acts"><${Action} key=${paused} label=${paused ? "Resume" : "Pause"} operation=${paused ? "faults.resume" : "faults.pause"} args=${{ name }} where=${where} />
      <button type="button" class="do" onClick=${() => edit(fault, kinds.find((one) => one.kind === kind), where)}>Change</button>
      <${Action} label="Remove" operation="faults.remove" args=${{ name }} where=${where} tone="danger" /></td></tr>`;
}

const OF_ANY = new Set(["name", "kind", "match", "when", "paused", "matched", "applied", "exhausted"]);
const own = (rule) => Object.fromEntries(Object.entries(rule).filter(([key, value]) => !OF_ANY.has(key) && value !== null));
const words = (all) => Object.entries(all).map(([key, value]) => `${key}=${brief(value)}`).join(" ");

// The form of a kind: its own parameters, then those of every rule. The descriptions are those of this kind,
// because two kinds may share a parameter.
function form({ parameters }, ...others) {
  const abouts = Object.fromEntries(parameters.map(({ name, about }) => [name, about]));
  const wanted = [...parameters.map(({ name }) => name), ...others];
  return { abouts, asks: wanted, parameters: wanted.map((name) => suggesting(operations["faults.add"].parameters.find((parameter) => parameter.name === name))) };
}

// Suggest the documented errors, and the operations.
function suggesting(parameter) {
  if (parameter.name === "error") return { ...parameter, more: { list: "errors" } };
  if (parameter.name !== "match") return parameter;
  const { operation, ...others } = parameter.shape.properties;
  return { ...parameter, shape: { ...parameter.shape, properties: { operation: { ...operation, more: { list: "operations" } }, ...others } } };
}

const edit = (fault, kind, where) => sheet({ ...form(kind, "match", "when"), label: `Change ${fault.name}`, operation: "faults.change",
  args: { ...own(fault), match: fault.match, when: fault.when }, where,
  packs: (given) => ({ name: fault.name, changes: { ...Object.fromEntries(Object.keys(own(fault)).map((key) => [key, null])), match: {}, when: {}, ...given } }) });

// A switch, which stays as the user set it until the response.
class Preset extends Component {
  flip = async ({ target: { checked } }) => {
    const { of: { preset }, faults, where, reload } = this.props;
    this.setState({ wanted: checked });
    try {
      if (checked) await ask("faults.add", { preset }, where);
      else for (const { name } of of(preset, faults)) await ask("faults.remove", { name }, where);
      notice(`${preset} is ${checked ? "on" : "off"}.`);
      await reload();
    } catch (problem) {
      report(problem);
    }
    this.setState({ wanted: undefined });
  };

  render({ of: { preset, about }, faults, where }, { wanted }) {
    return html`<li><label class="toggle"><input type="checkbox" role="switch" checked=${wanted ?? of(preset, faults).length > 0} disabled=${wanted !== undefined} onChange=${this.flip} /><b>${preset}</b></label>
      <small>${plain(about)}</small>
      <${Action} label="Limit to…" title="Add the preset for some requests only" operation="faults.add" args=${{ preset }} where=${where} asks=${["preset", "name", "match", "when"]} /></li>`;
  }
}

const of = (preset, faults) => faults.filter(({ name }) => name === preset || name.startsWith(`${preset}.`));

const Kind = ({ of: kind, where }) => html`<li><${Action} label=${kind.kind} title=${kind.about} operation="faults.add" args=${{ kind: kind.kind }} where=${where}
  ...${form(kind, "name", "match", "when")} sends=${`Add ${kind.kind}`} /><small>${plain(kind.about)}</small></li>`;
