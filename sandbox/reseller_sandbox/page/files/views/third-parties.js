// Third parties: actions of strangers, other registrars, registries and the service's staff, now or scheduled.

import { Action } from "../parts/action.js";
import { beside, read, write } from "../parts/address.js";
import { interfaces, operations } from "../parts/api.js";
import { html } from "../parts/html.js";
import { SEARCHED } from "../parts/limits.js";
import { possible } from "../parts/others.js";
import { Field, narrow, Select, Tag } from "../parts/pieces.js";
import { View } from "../parts/view.js";
import { brief, instant } from "../parts/words.js";

export default class extends View {
  async load({ subject }) {
    const [{ transfers }, { accounts }, { scheduled }, { requests }, { names }] = await Promise.all([
      this.ask("transfers.list", { status: "pending" }), this.ask("accounts.list"), this.ask("scheduled.list"),
      this.ask("journal.lines", { operation: "*heck*", limit: SEARCHED }), this.ask("names.list", { like: subject || "*", limit: 1 })]);
    const checked = [...new Set(requests.reverse().flatMap((request) => request.domains))].slice(0, 12);
    return { transfers, accounts, scheduled, checked, record: subject ? names[0] : undefined };
  }

  draw({ transfers, accounts, scheduled, checked, record }, address) {
    const { subject: name } = address;
    const Act = ({ of: operation, args = {}, ...more }) => html`<${Action} label=${words(operation)} operation="simulate.${operation}"
      args=${() => ({ ...args, ...planned(read()) })} where=${address} says=${happened} ...${more} />`;
    return html`<div class="bar"><h1>Third parties</h1>${time(address)}</div>
      <div class="columns"><div>
        <section class="part"><h2>A name</h2>
          <${Field} type="search" label="Name to act on" placeholder="example.com" value=${name} change=${narrow("subject")} />
          ${name ? html`<p>${record ? holder(record, address) : `${name} is not registered.`}</p>
            <p class="tools">${ableTo(record, address).map((operation) => html`<${Act} key=${operation} of=${operation} args=${{ domain: name }} asks=${operation === "set_premium" && rest(operation, "domain")} />`)}</p>`
            : html`<p class="quiet">Enter a name to see the actions of third parties.</p>`}</section>
        ${checked.length > 0 && html`<section class="part"><h2>Checked names</h2><p class="quiet">Names whose availability clients have checked, and that third parties can register first.</p>
          <ul class="plain lines">${checked.map((domain) => html`<li class="line" key=${domain} data-row=${domain}>
            <a href=${write({ ...address, subject: domain })}>${domain}</a><${Act} of="register" args=${{ domain }} label="Snipe" /></li>`)}</ul></section>`}
        <section class="part"><h2>Pending transfers</h2>
          ${transfers.length ? html`<ul class="plain lines">${transfers.map((transfer) => html`<${Transfer} key=${transfer.domain} of=${transfer} where=${address} act=${Act} />`)}</ul>`
            : html`<p class="quiet">No pending transfers.</p>`}</section></div>
      <div>
        <section class="part"><h2>Money and credentials</h2><ul class="plain lines">${accounts.map((account) => html`<li class="line" key=${account.name}>
          <b>${account.name}</b><span class="money">${account.balance} ${account.currency}</span>
          ${account.revoked.length > 0 && html`<${Tag} sort="bad">revoked: ${account.revoked.join(", ")}<//>`}
          ${about("account").map((operation) => html`<${Act} key=${operation} of=${operation} args=${{ account: account.name }} asks=${rest(operation, "account")} />`)}</li>`)}</ul></section>
        <section class="part"><h2>Registries</h2><p class="tools">${about("zone").map((operation) => html`<${Act} key=${operation} of=${operation} asks />`)}</p></section>
        <section class="part"><h2>Scheduled</h2>${scheduled.length ? html`<ul class="plain lines">${scheduled.map((one) => html`<${Scheduled} key=${one.id} of=${one} where=${address} />`)}</ul>`
          : html`<p class="quiet">No scheduled actions. Choose a time above to schedule the next action.</p>`}</section></div></div>`;
  }
}

const words = (operation) => operation.replaceAll("_", " ").replace(/^./, (first) => first.toUpperCase());
const WHEN = new Set(["at", "after"]);

/** Return the actions whose first parameter has this name. */
const about = (subject) => Object.keys(operations).filter((id) => id.startsWith("simulate.") && operations[id].parameters[0].name === subject)
  .map((id) => id.slice("simulate.".length));

// By the time of a scheduled action, the name can be in any state.
const ableTo = (record, { when }) => about("domain").filter((operation) => when || operation === "set_premium" || operation in possible(record));

const rest = (operation, subject) => {
  const asked = operations[`simulate.${operation}`].parameters.map(({ name }) => name).filter((name) => name !== subject && !WHEN.has(name));
  return asked.length ? asked : false;
};

/** @type {(address: Record<string, any>) => object} */
const planned = ({ when, on, after }) => (when === "at" && on ? { at: on } : when === "after" && after ? { after } : {});
const happened = ({ events, scheduled: made }) => (made ? `Scheduled: ${words(made.action)}.` : events.map((event) => `${event.event} ${event.subject}`).join(", ") || "Done.");

// The time of the next action. It is part of the address, like all state.
const time = ({ when, on, after }) => html`<span class="line">
  <${Select} label="When" none="now" words=${[["at", "at an instant, or after a time"], ["after", "after a request"]]} chosen=${when} change=${narrow("when")} />
  ${when === "at" && html`<${Field} key="at" label="Instant, or duration" placeholder="P3D or 2026-02-01T00:00:00Z" value=${on} change=${narrow("on")} />`}
  ${when === "after" && html`<${Field} key="after" label="Operation of the request" placeholder=${interfaces[0].example?.operation} value=${after} change=${narrow("after")} />`}</span>`;

const holder = (record, where) => html`<a href=${beside(where, "names", record.name)}>${record.name}</a> is ${record.stage}, held by ${record.account}.`;

function Transfer({ of: { domain, losing, gaining, requested, completes }, where, act: Act }) {
  const args = { domain };
  return html`<li data-row=${domain}>
    <div class="line"><a href=${beside(where, "names", domain)}>${domain}</a><span class="quiet">${losing} → ${gaining}</span>
      <small>requested ${instant(requested)}, completes ${instant(completes)}</small></div>
    <div class="tools">${losing === "outside" && html`<${Act} of="approve_transfer" args=${args} label="Approve" /><${Act} of="reject_transfer" args=${args} label="Reject" />`}
      ${gaining === "outside" && html`<${Act} of="cancel_transfer" args=${args} label="Cancel" />`}
      <${Act} of="complete_transfer" args=${args} label="Complete" /></div></li>`;
}

const Scheduled = ({ of: one, where }) => html`<li class="line"><span class="id">#${one.id}</span><b>${words(one.action)}</b>
  <span class="code">${Object.values(one.parameters).map(brief).join(" ")}</span>
  <span class="quiet">${one.applied ? `applied ${instant(one.applied)}` : one.at ? `at ${instant(one.at)}` : `after ${brief(one.after?.operation ?? one.after)}`}</span>
  ${one.refused && html`<${Tag} sort="bad">${one.refused}<//>`}
  <${Action} label=${one.applied ? "Forget" : "Cancel"} operation="scheduled.remove" args=${{ scheduled: one.id }} where=${where} tone="danger" /></li>`;
