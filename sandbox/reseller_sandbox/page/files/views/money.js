import { CHARTED, MONEY_PAGE } from "../parts/limits.js";
import { Act } from "../parts/others.js";
import { Filter, html, Items, Link, Part, Table, Tag, Time } from "../parts/pieces.js";
import { View } from "../parts/view.js";
import { day, plural } from "../parts/words.js";

export default class extends View {
  async load({ account, domain, before }) {
    const [ledger, { entries: all }, advice, { now }] = await Promise.all([
      this.ask("ledger.list", { account, domain, before, limit: MONEY_PAGE }), this.ask("ledger.list", { limit: CHARTED }),
      this.ask("advice.list"), this.ask("clock.show")]);
    return { ledger, all: all.sort(byTime), advice, now };
  }

  draw({ ledger: { entries, matching, totals, balances }, all, advice, now }, address) {
    const { account, domain } = address;
    const steps = new Map(balances.map((balance) => [balance, stepsOf(balance, all)]));
    const after = new Map([...steps.values()].flat().map(({ id, height }) => [id, height.toFixed(2)]));
    const rows = [...entries].sort(byTime).reverse();
    return html`<div class="bar"><h1>Money</h1>
        <${Filter} of="domain" type="search" label="Search movements by name" placeholder="Search a name" />
        <${Filter} of="account" label="Account" none="all accounts" words=${balances.map((balance) => balance.account)} />
        <span class="quiet">${plural(matching, "movement")}</span></div>
      <div class="charts">${balances.filter((balance) => !account || balance.account === account)
        .map((balance) => html`<${Chart} key=${balance.account} of=${balance} steps=${steps.get(balance)} now=${now} isPast=${Boolean(address.at)} />`)}</div>
      <${Advice} of=${advice} />
      ${rows.length > 0 ? html`<${Table} label="Ledger" heads=${COLUMNS} caption=${totals.purpose.map((total) => `${total.key} ${total.balance}`).join(" · ")}>
        ${rows.map((movement) => html`<${Movement} key=${movement.id} of=${movement} balance=${after.get(movement.id) ?? movement.balance} />`)}<//>` : html`<p class="empty">No movements.</p>`}
      ${entries.length < matching && entries.length === MONEY_PAGE && html`<p class="part"><${Link} to="money" more=${{ account, domain, before: entries[0].id }}>Earlier<//></p>`}`;
  }
}

const byTime = (first, second) => Date.parse(first.at) - Date.parse(second.at) || first.id - second.id;

// The movements of an account in order of time, with the balance before and after each. The ledger's own balance is
// in the order of the entries, and a fixture can have another order.
function stepsOf({ account, balance }, all) {
  let height = Number(balance);
  return all.filter((movement) => movement.account === account).reverse().map(({ id, at, amount }) => {
    const step = { id, at: Date.parse(at), before: height - Number(amount), height };
    height = step.before;
    return step;
  }).reverse();
}

const [WIDE, HIGH] = [600, 90];

const CHANGES = { "accounts.credit": "Add funds", "accounts.debit": "Take funds", "accounts.set_balance": "Set balance" };

// The balance over time. If the clock stood still, all movements are at few instants: then each gets the same width.
function Chart({ of: { account, currency, balance }, steps, now, isPast }) {
  const end = Date.parse(now);
  const begin = Math.min(end - 864e5, ...steps.map(({ at }) => at));
  const isTimed = new Set(steps.map(({ at }) => at)).size > steps.length / 2;
  const first = steps[0]?.before ?? Number(balance);
  const places = steps.map(({ at }, place) => (isTimed ? (at - begin) / (end - begin) : (place + 1) / (steps.length + 1)));
  const points = [[0, first], ...steps.flatMap(({ before, height }, place) => [[places[place], before], [places[place], height]]), [1, Number(balance)]];
  const heights = points.map(([, height]) => height);
  const [low, high] = [Math.min(...heights), Math.max(...heights)];
  const y = (height) => (high === low ? HIGH / 2 : HIGH - ((height - low) / (high - low)) * HIGH);
  const since = day(new Date(begin).toISOString());
  const range = low === high ? "unchanged" : `${low.toFixed(2)} – ${high.toFixed(2)}`;
  const label = `${account}: ${balance} ${currency} now, ${range} in ${plural(steps.length, "movement")} since ${since}`;
  return html`<figure class="chart"><figcaption><b>${account}</b><span class="money">${balance} ${currency}</span></figcaption>
    ${!isPast && html`<p class="tools">${Object.entries(CHANGES).map(([id, words]) => html`<${Act} key=${id} of=${id} subject=${account} label=${words} />`)}</p>`}
    <svg viewBox="0 -3 ${WIDE} ${HIGH + 6}" preserveAspectRatio="none" role="img" aria-label=${label}>
      ${low < 0 && high > 0 && html`<path class="zero" d="M0 ${y(0)}H${WIDE}" />`}
      <polyline points=${points.map(([place, height]) => `${(place * WIDE).toFixed(1)},${y(height).toFixed(1)}`).join(" ")} /></svg>
    <p class="ends"><span>${isTimed ? since : plural(steps.length, "movement")}</span><span>${range}</span><span>${isTimed ? day(now) : "one step each"}</span></p></figure>`;
}

const Advice = ({ of: { findings, requests, dropped } }) => {
  const read = `${plural(requests, "request")} read${dropped ? `, ${dropped} older ones are no longer in the journal` : ""}`;
  return html`<${Part} title=${html`Advice <small>${read}</small>`}>
    <${Items} of=${findings} none="Nothing found that would have cost money in production." item=${(finding) => html`<li data-row=${finding.rule} tabindex="-1">
      <div class="line"><${Tag} sort=${finding.severity === "money" ? "bad" : ""}>${finding.rule}<//><b>${finding.summary}</b></div>
      <small>${finding.instead}</small>
      <p class="line">${finding.entries.map((id) => html`<${Link} to="journal" of=${id} />`)}</p></li>`} /><//>`;
};

// Without the wide ones, a phone has room for the rest.
const COLUMNS = [["When", "wide"], ["Account", "wide"], ["Amount"], ["Balance"], ["For"], ["Name"], ["Order", "wide"], ["Operation", "wide"], ["Cause"]];

const Movement = ({ of: { id, at, account, amount, kind, purpose, domain, order, operation, request, cause }, balance }) => html`<tr data-row=${id} tabindex="-1">
  <td class="wide"><${Time} at=${at} /></td><td class="wide">${account}</td><td class="money ${amount.startsWith("-") ? "" : "ok"}">${amount}</td><td class="money quiet">${balance}</td>
  <td>${kind === "refund" ? `refund of ${purpose}` : purpose}</td><td>${domain && html`<${Link} to="names" of=${domain} />`}</td>
  <td class="num wide">${order}</td><td class="code wide">${operation}</td><td>${request ? html`<${Link} to="journal" of=${request}>${cause}<//>` : cause}</td></tr>`;
