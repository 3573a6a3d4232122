import { Action, Wish } from "../parts/action.js";
import { plain } from "../parts/form.js";
import { SEARCHED } from "../parts/limits.js";
import { Filter, html, Link } from "../parts/pieces.js";
import { View } from "../parts/view.js";
import { brief, parsed } from "../parts/words.js";

export default class extends View {
  async load() {
    const [{ assumptions }, { requests }] = await Promise.all([this.ask("assumptions.list"), this.ask("journal.list", { limit: SEARCHED })]);
    const users = new Map();
    for (const { id, assumptions: used } of requests) {
      for (const name of Object.keys(used ?? {})) users.set(name, [...(users.get(name) ?? []), id]);
    }
    return { assumptions, users };
  }

  draw({ assumptions, users }, address) {
    const wanted = (address.q ?? "").toLowerCase();
    const shown = assumptions.filter((assumption) => matches(assumption, wanted) && passes(assumption, address.show, users));
    return html`<div class="bar"><h1>Assumptions</h1>
        <${Filter} of="q" type="search" isLive label="Search assumptions" placeholder="Search" />
        <${Filter} of="show" label="Which" none="all" words=${[["other", "not at their default"], ["used", "used by requests"]]} />
        <span class="quiet">${assumptions.length} assumptions, ${assumptions.filter(differs).length} not at their default.</span>
        <${Action} label="As observed" operation="assumptions.set" args=${{ profile: "observed" }} />
        <${Action} label="As documented" operation="assumptions.set" args=${{ profile: "documented" }} /></div>
      <ol class="plain assumptions">${shown.map((assumption) => html`<${Assumption} key=${assumption.name} of=${assumption} users=${users.get(assumption.name) ?? []} reload=${() => this.update(true)} />`)}</ol>
      ${!shown.length && html`<p class="empty">No assumption matches.</p>`}`;
  }
}

const differs = (assumption) => JSON.stringify(assumption.value) !== JSON.stringify(assumption.default);
const matches = (assumption, wanted) => !wanted || `${assumption.name} ${assumption.about} ${brief(assumption.value)}`.toLowerCase().includes(wanted);
const passes = (assumption, show, users) => (show === "other" ? differs(assumption) : show === "used" ? users.has(assumption.name) : true);

const Assumption = ({ of: assumption, users, reload }) => html`<li data-row=${assumption.name} tabindex="-1" class=${differs(assumption) ? "other" : ""}>
  <div><b class="code">${assumption.name}</b><p>${plain(assumption.about)}</p></div>
  <div class="choice"><${Choice} of=${assumption} reload=${reload} />
    <small>${differs(assumption) ? `by default ${brief(assumption.default)}` : "the default"}${JSON.stringify(assumption.observed) !== JSON.stringify(assumption.default) && `, observed ${brief(assumption.observed)}`}</small>
    <${Action} isHidden label=${assumption.name} operation="assumptions.set" args=${{ assume: { [assumption.name]: assumption.value } }} /></div>
  ${users.length > 0 && html`<p class="rests">used by ${users.length}: ${users.slice(-6).map((id) => html`<${Link} to="journal" of=${id} /> `)}</p>`}</li>`;

// A field, or buttons for the values.
class Choice extends Wish {
  set(value) {
    const { name } = this.props.of;
    this.wish(value, { operation: "assumptions.set", args: { assume: { [name]: value } }, says: () => `${name} is ${brief(value)} from the next request on.` });
  }

  render({ of: { name, takes, value, default: usual } }, { wanted = value }) {
    const words = takes.startsWith("one of ") && takes.slice(7).split(", ");
    if (!words) return html`<input key=${brief(value)} defaultValue=${brief(value)} aria-label=${name} onChange=${({ target }) => this.set(parsed(target.value))} />`;
    return html`<span class="choices" role="radiogroup" aria-label=${name}>${words.map((word) => html`<label>
      <input type="radio" name="choice-${name}" value=${word} checked=${word === String(wanted)}
        onChange=${() => this.set(typeof usual === "boolean" ? word === "true" : word)} />${word}</label>`)}</span>`;
  }
}
