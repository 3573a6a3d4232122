// The balance of the first account in the head, or of the account in the address, with a button to add funds.

import { write } from "../parts/address.js";
import { Act } from "../parts/others.js";
import { html } from "../parts/pieces.js";
import { View } from "../parts/view.js";

export class Balance extends View {
  load() {
    return this.ask("accounts.list");
  }

  news(events) {
    if (events.some(({ kind, effect }) => kind !== "request" || effect.changes)) super.news(events);
  }

  draw({ accounts }, { account, world, at }) {
    const shown = accounts.find(({ name }) => name === account) ?? accounts[0];
    if (!shown) return null;
    const all = accounts.map(({ name, balance, currency }) => `${name} ${balance} ${currency}`).join(", ");
    return html`<a href=${write({ view: "money", world, at })} title=${`Balances: ${all}`}><span class="quiet">${shown.name}</span> ${shown.balance} ${shown.currency}</a>
      ${!at && html`<${Act} key=${shown.name} of="accounts.credit" subject=${shown.name} label="Add funds" />`}`;
  }
}
