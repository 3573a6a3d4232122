import { Action } from "./action.js";
import { advance } from "./advance.js";
import { answers } from "./answers.js";
import { declared } from "./api.js";
import { Picture } from "./lifecycle.js";
import { OF_NAME } from "./limits.js";
import { Others } from "./others.js";
import { Body, html, Items, Link, Pairs, Part, Scroll, Stage, Tag, Time } from "./pieces.js";
import { View } from "./view.js";
import { brief, day, distance, instant, money, spaced } from "./words.js";

export class Name extends View {
  async load({ subject: domain }) {
    const [record, { events }, { now, due }, { entries }, way] = await Promise.all([
      this.ask("names.get", { name: domain }).catch(unlessUnknown),
      ...["events.list", "clock.due", "ledger.list"].map((operation) => this.ask(operation, { domain, limit: OF_NAME })),
      declared("lifecycle.json"),
    ]);
    return { record, events, now, due, entries, way, responses: await answers(this.props.address, domain, record) };
  }

  // Scroll the picture of the lifecycle to the stage of the name.
  arrived() {
    const scrolled = document.querySelector("main .scroll");
    const { left, width } = scrolled.querySelector(":is(.box, .end).lit").getBoundingClientRect();
    scrolled.scrollLeft += left + width / 2 - scrolled.getBoundingClientRect().left - scrolled.clientWidth / 2;
  }

  draw({ record, events, now, due, entries, way, responses }, { subject, at }) {
    const stage = record?.stage ?? "released";
    return html`<div class="bar"><h1>${record?.name ?? subject}</h1><${Stage} of=${stage} />
        ${record && record.ascii !== record.name && html`<code>${record.ascii}</code>`}
        <span class="quiet">${record ? `${record.account} · order ${record.order}` : "not registered"}</span>
        ${record?.due && html`<span>next change <b>${distance(now, record.due)}</b> <span class="quiet">${instant(record.due)}</span></span>
          ${!at && html`<${Action} key=${record.due} label="Advance to then" ...${advance} args=${{ to: record.due }} />`}`}</div>
      <div class="name"><div>
        <${Part} title="Life"><${Scroll} label="The stages of a name"><${Picture} life=${way} stage=${stage} /><//><//>
        <${Part} title="Past and due events"><ol class="timeline">
          ${events.map((event) => html`<${Past} key="e${event.number}" of=${event} />`)}
          <li key="now" class="here"><${Time} at=${now} /><span>${at ? "then" : "now"}</span></li>
          ${due.map((event, place) => html`<${Due} key="d${place}" of=${event} now=${now} />`)}</ol><//>
        ${responses && html`<${Part} title="API responses for ${responses.account}"><div class="pair">${responses.all.map(({ label, target, status, text }) => html`<div key=${label}>
          <p><${Tag}>${label}<//> <code>GET /${target}</code> <span class=${status < 400 ? "ok" : "bad"}>${status}</span></p><${Body} of=${text} name=${target} /></div>`)}</div><//>`}</div>
      <aside>${record && html`<${Details} of=${record} now=${now} />`}
        ${entries.length > 0 && html`<${Part} title="Money"><${Items} sort="spent" of=${entries.toReversed()} item=${(entry) => html`<li key=${entry.id}>
          <time datetime=${entry.at}>${day(entry.at)}</time><span>${entry.purpose}</span>
          ${entry.request ? html`<${Link} to="journal" of=${entry.request} />` : html`<span class="quiet">time</span>`}<span class="money">${entry.amount}</span></li>`} /><//>`}
        ${!at && html`<${Part} title="Third parties"><${Others} domain=${subject} record=${record} /><//>`}</aside></div>`;
  }
}

const unlessUnknown = (problem) => {
  if (problem.error === "unknown_record") return null;
  throw problem;
};

function Details({ of: record, now }) {
  const { transfer } = record;
  const contacts = Object.entries(record.contacts).filter(([, handle]) => handle);
  const pairs = {
    "Expires": html`${day(record.expires)} <span class="quiet">${distance(now, record.expires)}</span>`,
    "Created": day(record.created),
    "In this stage since": day(record.since),
    "Auto-renew": record.autorenew ? "yes" : "no",
    "Renewal price": `${record.renewal}${record.premium ? " (premium)" : ""}`,
    "Flags": spaced(record.flags.join(", ")) || "none",
    "Privacy": record.privacy ? "yes" : "no",
    "Auth code": html`<code>${record.auth_code}</code>${record.auth_code_expires && html` <span class="quiet">expires ${instant(record.auth_code_expires)}</span>`}`,
    "License": record.license,
    "Nameservers": record.nameservers.map((host) => html`<div>${host}</div>`),
    "Hosts": record.hosts.map(({ name: host, ips }) => html`<div>${host} <span class="quiet">${ips.join(", ")}</span></div>`),
    "Contacts": new Set(contacts.map(([, handle]) => handle)).size === 1 ? contacts[0][1]
      : contacts.map(([role, handle]) => html`<div><span class="quiet">${role}</span> ${handle}</div>`),
    "Customer": record.customer,
    "Transfer": transfer && html`${transfer.status}: ${transfer.losing} → ${transfer.gaining} <span class="quiet">completes ${instant(transfer.completes)}</span>`,
  };
  return html`<${Part} title="Details"><${Pairs} of=${Object.fromEntries(Object.entries(pairs).filter(([, value]) => value && value.length !== 0))} /><//>`;
}

function Past({ of: { kind, at, name, effect: { request, outcome, account }, registry_event: registered, parameters } }) {
  const { note, charged, changes } = registered ?? {};
  return html`<li class=${kind}><${Time} at=${at} />${request ? html`<span><${Link} to="journal" of=${request}><span class="id">${request}</span> ${name}<//> <span class="quiet">${account}</span>
      ${outcome !== "ok" && html`<span class="bad"> ${outcome}</span>`}</span>`
    : html`<span><b>${registered?.event ?? name}</b> ${charged && money(charged)}<small> ${note || altered(changes) || (!registered && Object.keys(parameters).length > 0 && brief(parameters))}</small></span>`}</li>`;
}

const altered = (changes = {}) => Object.entries(changes).map(([field, { before, after }]) => `${spaced(field)} ${brief(before)} → ${brief(after)}`).join(", ");

const Due = ({ of: { at, event, charged, note }, now }) => html`<li class="coming"><${Time} at=${at} />
  <span><b>${event}</b> <span class="quiet">${distance(now, at)}</span> ${money(charged)}${note && html`<small> ${note}</small>`}</span></li>`;
