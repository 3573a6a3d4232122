import { beside, write } from "../parts/address.js";
import { choices } from "../parts/api.js";
import { NAMES_PAGE } from "../parts/limits.js";
import { Name } from "../parts/name.js";
import { Filter, html, Stage } from "../parts/pieces.js";
import { View } from "../parts/view.js";
import { count, day, distance, spaced } from "../parts/words.js";

export default ({ address }) => html`<${address.subject ? Name : Names} address=${address} />`;

const HEADS = { name: "Name", stage: "Stage", account: "Account", flags: "Flags", renew: "", expires: "Expires", due: "Next change" };

class Names extends View {
  async load({ like, account, zone, stage, flag, sort, descending, start }) {
    const pattern = like && !/[*?]/.test(like) ? `*${like}*` : like;
    const [page, { accounts }, { now }] = await Promise.all([
      this.ask("names.list", { like: pattern, account, zone, stage, flag, sort, descending, start, limit: NAMES_PAGE }),
      this.ask("accounts.list"), this.ask("clock.show")]);
    return { ...page, accounts, now };
  }

  draw({ names, next, total, accounts, now }, address) {
    const { like, account, zone, stage, flag, start } = address;
    const begin = Number(start) || 0;
    const shown = `${count(begin + 1)}–${count(begin + names.length)} of ${count(total)}`;
    return html`<div class="bar"><h1>Names</h1>
        <${Filter} of="like" type="search" label="Search names" placeholder="Search names: shop, *.com" />
        <${Filter} of="account" label="Account" none="every account" words=${accounts.map((record) => record.name)} />
        <${Filter} of="zone" label="Zone" placeholder="zone" size="8" />
        <${Filter} of="stage" label="Stage" none="every stage" words=${choices("names.list", "stage")} />
        <${Filter} of="flag" label="Flag" none="any flags" words=${choices("names.list", "flag")} />
        ${names.length > 0 && html`<span class="quiet">${shown}</span>`}</div>
      <div class="rows names heads"><span>${Object.entries(HEADS).map(([key, label]) => html`<${Head} key=${key} of=${key} label=${label} />`)}</span></div>
      <ol class="rows names" aria-label="Names">${names.map((record) => html`<${Row} key=${record.order} of=${record} now=${now} />`)}</ol>
      ${!names.length && html`<p class="empty">${like || account || zone || stage || flag ? "No name matches." : "There are no names."}</p>`}
      ${(begin > 0 || next !== null) && html`<p class="pages">
        ${begin > 0 && html`<a href=${write({ ...address, start: Math.max(0, begin - NAMES_PAGE) || "" })}>← previous</a>`}
        <span class="quiet">${shown}</span>
        ${next !== null && html`<a href=${write({ ...address, start: next })}>next →</a>`}</p>`}`;
  }
}

// A heading that sorts by its column, or sorts backwards if the names are sorted by the column.
function Head({ of: key, label }, { address }) {
  if (!choices("names.list", "sort").some(([word]) => word === key)) return html`<span>${label}</span>`;
  const { sort, descending } = address;
  const isChosen = sort === key;
  return html`<span><a href=${write({ ...address, start: "", sort: isChosen && descending ? "" : key, descending: isChosen && !descending ? "true" : "" })} aria-label="Sort by ${label.toLowerCase()}">
    ${label}${isChosen && (descending ? " ↓" : " ↑")}</a></span>`;
}

const Row = ({ of: record, now }, { address }) => html`<li data-row><a href=${beside(address, "names", record.name)}>
  <span class="about">${record.name}</span><${Stage} of=${record.stage} /><span class="who">${record.account}</span>
  <span class="flags">${spaced(record.flags.join(", "))}${record.transfer?.status === "pending" && " transfer pending"}</span>
  <span class="quiet">${record.autorenew ? "auto-renew" : ""}</span><span class="num">${day(record.expires)}</span>
  <span class="quiet num">${record.due ? distance(now, record.due) : ""}</span></a></li>`;
