import { Action, sheet, Wish } from "../parts/action.js";
import { operations } from "../parts/api.js";
import { form, known } from "../parts/fault-form.js";
import { Lists, plain } from "../parts/form.js";
import { html, Items, Link, Part, Table } from "../parts/pieces.js";
import { View } from "../parts/view.js";
import { pairs } from "../parts/words.js";

export default class extends View {
  async load(address) {
    const [{ faults }, { presets }, { kinds }, { answers }, values] = await Promise.all(
      [...["faults.list", "faults.presets", "faults.kinds", "answers.list"].map((operation) => this.ask(operation)), known(address)]);
    return { faults, presets, kinds, answers, values };
  }

  draw({ faults, presets, kinds, answers, values }, where) {
    const applied = faults.reduce((sum, fault) => sum + fault.applied, 0);
    return html`<div class="bar"><h1>Faults</h1>
        <span class="quiet">${faults.length ? `Rules: ${faults.length}, applied: ${applied}` : "No faults."}</span>
        ${faults.length > 0 && html`<${Action} label="Remove all" operation="faults.clear" tone="danger" />`}</div>
      ${faults.length > 0 && html`<${Table} label="Rules" heads=${["Rule", "Applied", "Requests", "When", "Actions"]}>
        ${faults.map((fault) => html`<${Rule} key=${fault.name} of=${fault} change=${() => changeRule(fault, kinds, where)} />`)}<//>`}
      <div class="columns">
        <${Part} title="Presets"><${Items} sort="lines toggles" of=${presets} item=${(preset) => html`<${Preset} key=${preset.preset} of=${preset} faults=${faults} reload=${() => this.update(true)} />`} /><//>
        <${Part} title="Kinds"><p class="quiet">Choose a kind to open its form. Limit it to some requests with match and when.</p>
          <${Items} sort="lines toggles" of=${kinds} item=${(kind) => html`<${Kind} key=${kind.kind} of=${kind} />`} /><//></div>
      <${Part} title="Canned answers"><p class="quiet">Answers to calls that the contract does not have, such as DNS. Texts can have placeholders: {zone}, {body.type}, {zone.expires}.</p>
        <${Action} label="Add a canned answer" operation="answers.add" asks /><//>
      ${answers.length > 0 && html`<${Table} label="Canned answers" heads=${["Answer", "Answered", "Requests", "Response", "Actions"]}>
        ${answers.map((answer) => html`<${Answer} key=${answer.name} of=${answer} change=${() => changeAnswer(answer, where)} />`)}<//>`}
      <${Lists} of=${values} />`;
  }
}

const nulls = (all) => Object.fromEntries(Object.keys(all).map((key) => [key, null]));

// The values of a record, without those that are not set, and without the `others`.
const own = (record, others) => Object.fromEntries(Object.entries(record)
  .filter(([key, value]) => !others.includes(key) && value !== null && !(Array.isArray(value) && !value.length)));

const ofRule = (fault) => own(fault, ["name", "kind", "match", "when", "paused", "matched", "applied", "exhausted"]);
const ofAnswer = (answer) => own(answer, ["name", "matched"]);

function Rule({ of: fault, change }) {
  const { name, kind, paused, exhausted, match, when, applied, matched } = fault;
  const uses = `${applied} of ${matched}`;
  return html`<tr data-row=${name} tabindex="-1" class=${paused || exhausted ? "dim" : ""}>
    <td><b>${name}</b><small class="code">${[name !== kind && kind, pairs(ofRule(fault))].filter(Boolean).join(" ")}</small></td>
    <td class="num" title="applied to, of the matching requests" data-label="applied">${applied ? html`<${Link} to="journal" more=${{ fault: name }}>${uses}<//>` : uses}
      <small>${paused ? "paused" : exhausted ? "exhausted" : ""}</small></td>
    <td class="code">${pairs(match) || "any"}</td><td class="code">${pairs(when)}</td>
    <td class="acts"><${Action} key=${paused} label=${paused ? "Resume" : "Pause"} operation=${paused ? "faults.resume" : "faults.pause"} args=${{ name }} />
      <button type="button" class="do" onClick=${change}>Change</button>
      <${Action} label="Remove" operation="faults.remove" args=${{ name }} tone="danger" /></td></tr>`;
}

const Answer = ({ of: { name, matched, method, path, request_body: body, ...answer }, change }) => html`<tr data-row=${name} tabindex="-1">
  <td><b>${name}</b></td>
  <td class="num" data-label="answered">${matched ? html`<${Link} to="journal" more=${{ operation: `canned.${name}` }}>${matched}<//>` : matched}</td>
  <td class="code">${method} ${path} ${body && pairs(body)}</td><td class="code">${pairs(ofAnswer(answer))}</td>
  <td class="acts"><button type="button" class="do" onClick=${change}>Change</button>
    <${Action} label="Remove" operation="answers.remove" args=${{ name }} tone="danger" /></td></tr>`;

const changeRule = (fault, kinds, where) => sheet({ ...form(kinds.find(({ kind }) => kind === fault.kind), "match", "when"), label: `Change ${fault.name}`, operation: "faults.change",
  args: { ...ofRule(fault), match: fault.match, when: fault.when }, where,
  packs: ({ match, when, ...values }) => ({ name: fault.name, changes: { ...nulls(ofRule(fault)), ...values, match: { ...nulls(fault.match), ...match }, when: { ...nulls(fault.when), ...when } } }) });

const changeAnswer = (answer, where) => sheet({ label: `Change ${answer.name}`, operation: "answers.change", asks: true, args: ofAnswer(answer), where,
  parameters: operations["answers.add"].parameters.filter(({ name }) => name !== "name"),
  packs: (values) => ({ name: answer.name, changes: { ...nulls(ofAnswer(answer)), ...values } }) });

class Preset extends Wish {
  flip = ({ target: { checked } }) => {
    const { of: { preset }, faults } = this.props;
    if (checked) this.wish(true, { operation: "faults.add", args: { preset }, says: () => `${preset} is on.` });
    else this.wish(false, ...of(preset, faults).map(({ name }) => ({ operation: "faults.remove", args: { name }, says: () => `${name} is off.` })));
  };

  render({ of: { preset, about }, faults }, { wanted }) {
    return html`<li><label class="toggle"><input type="checkbox" role="switch" checked=${wanted ?? of(preset, faults).length > 0} disabled=${wanted !== undefined} onChange=${this.flip} /><b>${preset}</b></label>
      <small>${plain(about)}</small>
      <${Action} label="Limit to…" title="Add the preset for some requests only" operation="faults.add" args=${{ preset }} asks=${["preset", "name", "match", "when"]} /></li>`;
  }
}

const of = (preset, faults) => faults.filter(({ name }) => name === preset || name.startsWith(`${preset}.`));

const Kind = ({ of: kind }) => html`<li><${Action} label=${kind.kind} title=${kind.about} operation="faults.add" args=${{ kind: kind.kind }}
  ...${form(kind, "name", "match", "when")} sends=${`Add ${kind.kind}`} /><small>${plain(kind.about)}</small></li>`;
