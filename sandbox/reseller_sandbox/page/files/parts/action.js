// Buttons that call an operation, their forms, and the equivalent commands and calls.

import { onward } from "./address.js";
import { ask, operations } from "./api.js";
import { dialog } from "./dialog.js";
import { fields, plain, values } from "./form.js";
import { Component, html } from "./html.js";
import { interfaces } from "./interfaces.js";
import { notice, report } from "./notices.js";
import { Copied } from "./pieces.js";
import { Problem } from "./view.js";

// The actions on the page, for the list of their commands.
const offered = new Set();

/**
 * A button for an operation with the arguments `args`. Arguments that depend on other views are a function.
 *
 * `where` is the address of another world. With `asks`, a list of parameters or true for all, the button opens the form
 * first. `then` is called with the response. `says` returns the text of the notice. `leads` returns the next address
 * of the page, unless the user has left before the response. `undo` returns the operation and the arguments that
 * reverse the action. `title` is the explanation, in place of the operation's own, and `sends` the label of the form.
 */
export class Action extends Component {
  state = { isBusy: false };

  componentDidMount() {
    offered.add(this);
  }

  componentWillUnmount() {
    offered.delete(this);
  }

  // Actions always apply to the present.
  get action() {
    const { where = this.context.address, args, ...more } = this.props;
    return { ...more, args: (typeof args === "function" ? args() : args) ?? {}, where: { world: where.world } };
  }

  press = async () => {
    const { action } = this;
    if (action.asks) return sheet({ ...action, label: action.sends ?? action.label });
    this.setState({ isBusy: true });
    await carryOut(action).catch(report);
    this.setState({ isBusy: false });
  };

  render({ label, operation, title, tone = "", isHidden }, { isBusy }) {
    if (isHidden) return null;
    const about = plain(title ?? operations[operation].about.split("\n")[0]);
    return html`<button type="button" class="do ${tone}" title=${about} disabled=${isBusy} onClick=${this.press}>${label}</button>`;
  }
}

/** Carry out an action, and show its result. @param {Record<string, any>} action */
export async function carryOut({ operation, args, where, then, leads, says, undo, label }) {
  const lead = onward();
  const answer = await ask(operation, args, where);
  const back = undo?.(answer);
  notice(says ? says(answer) : `${label}: done.`, "", "", back && ["Undo", () => carryOut({ ...back, where }).catch(report)]);
  await then?.(answer);
  if (leads) lead(leads(answer));
}

/**
 * Open an operation's form, with the equivalent commands below, which follow the values of the form.
 *
 * `parameters` replace the parameters of the operation. `packs` makes the arguments of the operation from the values of
 * the form.
 */
export const sheet = (action) => dialog(action.label, (close) => html`<${Sheet} ...${action} close=${close} />`);

class Sheet extends Component {
  state = {};

  constructor({ operation, asks, parameters = operations[operation].parameters }) {
    super();
    this.asked = asks === true ? parameters : asks.map((name) => parameters.find((parameter) => parameter.name === name));
  }

  current(form) {
    const fixed = Object.entries(this.props.args).filter(([key]) => !this.asked.some(({ name }) => name === key));
    const all = { ...Object.fromEntries(fixed), ...values(form) };
    return this.props.packs ? this.props.packs(all) : all;
  }

  componentDidMount() {
    this.setState({ args: this.current(this.form) });
  }

  follow = () => this.componentDidMount();

  submit = async (event) => {
    event.preventDefault();
    this.setState({ problem: undefined, isBusy: true });
    try {
      await carryOut({ ...this.props, args: this.current(event.target) });
      this.props.close();
    } catch (problem) {
      this.setState({ problem, isBusy: false });
    }
  };

  render({ label, operation, where, args: initial, close }, { args, problem, isBusy }) {
    return html`<form onInput=${this.follow} onSubmit=${this.submit} ref=${(form) => (this.form = form)}>
      <h2>${label}</h2>
      ${operations[operation].about.split("\n\n").map((part) => html`<p class="about">${plain(part)}</p>`)}
      ${fields(this.asked, initial)}
      <h3>Do this with…</h3>
      ${args && html`<${Ways} operation=${operation} args=${args} where=${where} />`}
      <div class="last">${problem && html`<${Problem} of=${problem} />`}
        <p class="buttons"><button class="do first" type="submit" disabled=${isBusy}>${label}</button>
          <button type="button" onClick=${close}>Cancel</button></p></div>
    </form>`;
  }
}

/** The equivalent command and calls of an operation. */
const Ways = ({ operation, args, where }) =>
  Object.entries(interfaces(operation, args, where)).map(([name, text]) => html`<${Copied} key=${name} name=${name} text=${text} />`);

/** Open the list of the commands and calls for every action on the page. */
export function openCommands() {
  const actions = new Map([...offered].map(({ action }) => [JSON.stringify([action.operation, action.args]), action]));
  dialog("Do this with…", (close) => html`<h2>Do this with…</h2>
    <p class="about">Everything that you do on this page, you can do with the command line, with Python and over HTTP.</p>
    <div class="commands">${[...actions.entries()].reverse().map(([key, action]) => html`<details key=${key}>
      <summary><b>${action.label}</b> <code>${interfaces(action.operation, action.args, action.where).Shell}</code></summary>
      <${Ways} ...${action} />
      <button type="button" onClick=${() => { close(); sheet({ ...action, asks: true }); }}>Open the form</button>
    </details>`)}</div>
    <p class="buttons last"><button type="button" onClick=${close}>Close</button></p>`);
}
