// Buttons that call an operation, their forms, and the same calls as code.

import { given, onward } from "./address.js";
import { ask, operations, written } from "./api.js";
import { Copies } from "./copies.js";
import { dialog } from "./dialog.js";
import { fields, Lists, plain, values } from "./form.js";
import { Component, html } from "./html.js";
import { PAUSE } from "./limits.js";
import { notice, report } from "./notices.js";
import { Problem, throttle } from "./view.js";

const offered = new Set();

/**
 * A button for an operation with the arguments `args`, an object or a function.
 *
 * `where` is the address of another world. With `asks`, a list of parameters or true for all, the button opens a form,
 * whose button is `sends`. From the response, `says` returns the notice, `shows` a button for the notice (a label and a
 * function), `leads` the next address of the page, and `undo` the operation and the arguments that reverse the action.
 * `then` is called before the notice is shown.
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
export async function carryOut({ operation, args, where, then, leads, says, shows, undo, label }) {
  const lead = onward();
  const answer = await ask(operation, args, where);
  const back = undo?.(answer);
  await then?.(answer);
  if (leads) lead(leads(answer));
  notice(says ? says(answer) : `${label}: done.`, "", "", back ? ["Undo", () => carryOut({ ...back, where }).catch(report)] : shows?.(answer));
}

/** A control that stays as the user set it until the view shows the result. */
export class Wish extends Component {
  async wish(wanted, ...actions) {
    const { props: { reload }, context: { address: where } } = this;
    this.setState({ wanted });
    try {
      for (const action of actions) await carryOut({ ...action, where });
      await reload();
    } catch (problem) {
      report(problem);
    }
    this.setState({ wanted: undefined });
  }
}

/**
 * Open an operation's form, with the same call as code.
 *
 * `parameters` replace those of the operation. `packs` makes the operation's arguments from the values of the form.
 * `more` opens a longer form with these values. `lists` are suggestions for fields.
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

  follow = throttle(async () => {
    const [copies] = await calls([{ ...this.props, args: this.current(this.form) }]).catch(() => [undefined]);
    this.setState({ copies });
  }, PAUSE, 1);

  componentDidMount() {
    this.follow();
  }

  componentWillUnmount() {
    this.follow.stop();
  }

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

  more = () => {
    const chosen = values(this.form);
    this.props.close();
    this.props.more(chosen);
  };

  render({ label, operation, args: initial, lists, more, close }, { copies, problem, isBusy }) {
    return html`<form onInput=${this.follow} onSubmit=${this.submit} ref=${(form) => (this.form = form)}>
      <h2>${label}</h2>
      ${operations[operation].about.split("\n\n").map((part) => html`<p class="about">${plain(part)}</p>`)}
      ${fields(this.asked, initial)}
      <h3>Do this with…</h3>
      ${copies && html`<${Copies} of=${copies} />`}
      <div class="last">${problem && html`<${Problem} of=${problem} />`}
        <p class="buttons"><button class="do first" type="submit" disabled=${isBusy}>${label}</button>
          ${more && html`<button type="button" onClick=${this.more}>More…</button>`}
          <button type="button" onClick=${close}>Cancel</button></p></div>
      ${lists && html`<${Lists} of=${lists} />`}
    </form>`;
  }
}

const calls = async (actions) => (await written({ calls: actions.map(({ operation, args, where: { world = "" } }) => ({ operation, world,
  arguments: given(args) })) })).calls;

/** Open the list of every action on the page as code. */
export async function openCommands() {
  const actions = [...new Map([...offered].map(({ action }) => [JSON.stringify([action.operation, action.args]), action])).values()].reverse();
  const all = await calls(actions).catch(report);
  if (!all) return;
  dialog("Do this with…", (close) => html`<h2>Do this with…</h2>
    <p class="about">Everything that you do on this page, you can do with the command line, with Python and over HTTP.</p>
    <div class="commands">${actions.map((action, at) => html`<details>
      <summary><b>${action.label}</b> <code>${all[at].Shell}</code></summary><${Copies} of=${all[at]} />
      <button type="button" onClick=${() => { close(); sheet({ ...action, asks: true }); }}>Open the form</button>
    </details>`)}</div>
    <p class="buttons last"><button type="button" onClick=${close}>Close</button></p>`);
}
