import { Action } from "../parts/action.js";
import { write } from "../parts/address.js";
import { interfaces } from "../parts/api.js";
import { SEARCHED } from "../parts/limits.js";
import { Act, actionsOn, Acts, inWords, onTransfer, Others } from "../parts/others.js";
import { Filter, html, Items, Link, Part, Tag } from "../parts/pieces.js";
import { View } from "../parts/view.js";
import { brief, instant } from "../parts/words.js";

export default class extends View {
  async load({ subject }) {
    const [{ transfers }, { accounts }, { scheduled }, { requests }, { names }] = await Promise.all([
      this.ask("transfers.list", { status: "pending" }), this.ask("accounts.list"), this.ask("scheduled.list"),
      this.ask("journal.lines", { operation: "*heck*", limit: SEARCHED }), this.ask("names.list", { like: subject || "*", limit: 1 })]);
    const checked = [...new Set(requests.reverse().flatMap((request) => request.domains))].slice(0, 12);
    // The list has no names that a stranger holds.
    const record = subject && (names[0] ?? await this.ask("names.get", { name: subject }).catch(() => undefined));
    return { transfers, accounts, scheduled, checked, record };
  }

  draw({ transfers, accounts, scheduled, checked, record }, address) {
    const { subject: name, when } = address;
    return html`<div class="bar"><h1>Third parties</h1>
        <${Filter} of="when" label="When" none="now" words=${[["at", "at an instant, or after a time"], ["after", "after a request"]]} />
        ${when === "at" && html`<${Filter} of="on" label="Instant, or duration" placeholder="P3D or 2026-02-01T00:00:00Z" />`}
        ${when === "after" && html`<${Filter} of="after" label="Operation of the request" placeholder=${interfaces[0].example?.operation} />`}</div>
      <div class="columns"><div>
        <${Part} title="A name">
          <${Filter} of="subject" type="search" label="Name to act on" placeholder="example.com" />
          ${name ? html`<p>${record ? html`<${Link} to="names" of=${record.name} /> is ${record.stage}, held by ${record.account}.` : `${name} is not registered.`}</p>
            <${Others} domain=${name} record=${record} />` : html`<p class="quiet">Enter a name to see the actions of third parties.</p>`}<//>
        ${checked.length > 0 && html`<${Part} title="Checked names"><p class="quiet">Names whose availability clients have checked, and that third parties can register first.</p>
          <${Items} of=${checked} item=${(domain) => html`<li class="line" key=${domain} data-row=${domain}>
            <a href=${write({ ...address, subject: domain })}>${domain}</a><${Act} of="simulate.register" subject=${domain} label="Snipe" /></li>`} /><//>`}
        <${Part} title="Pending transfers">
          <${Items} of=${transfers} none="No pending transfers." item=${(transfer) => html`<${Transfer} key=${transfer.domain} of=${transfer} />`} /><//></div>
      <div>
        <${Part} title="Money and credentials"><${Items} of=${accounts} none="No accounts." item=${(account) => html`<li class="line" key=${account.name}>
          <b>${account.name}</b><span class="money">${account.balance} ${account.currency}</span>
          ${account.revoked.length > 0 && html`<${Tag} sort="bad">revoked: ${account.revoked.join(", ")}<//>`}
          ${actionsOn("account").map((id) => html`<${Act} key=${id} of=${id} subject=${account.name} />`)}</li>`} /><//>
        <${Part} title="Registries"><p class="tools">${actionsOn("zone").map((id) => html`<${Act} key=${id} of=${id} />`)}</p><//>
        <${Part} title="Scheduled"><${Items} of=${scheduled} none="No scheduled actions. Choose a time above to schedule the next action."
          item=${(action) => html`<${Scheduled} key=${action.id} of=${action} />`} /><//></div></div>`;
  }
}

const Transfer = ({ of: { domain, losing, gaining, requested, completes } }) => html`<li data-row=${domain}>
  <div class="line"><${Link} to="names" of=${domain} /><span class="quiet">${losing} → ${gaining}</span>
    <small>requested ${instant(requested)}, completes ${instant(completes)}</small></div>
  <${Acts} of=${onTransfer({ losing, gaining })} subject=${domain} /></li>`;

const Scheduled = ({ of: { id, action, parameters, applied, at, after, refused } }) => html`<li class="line"><span class="id">#${id}</span><b>${inWords(action)}</b>
  <span class="code">${Object.values(parameters).map(brief).join(" ")}</span>
  <span class="quiet">${applied ? `applied ${instant(applied)}` : at ? `at ${instant(at)}` : `after ${brief(after?.operation ?? after)}`}</span>
  ${refused && html`<${Tag} sort="bad">${refused}<//>`}
  <${Action} label=${applied ? "Forget" : "Cancel"} operation="scheduled.remove" args=${{ scheduled: id }} tone="danger" /></li>`;
