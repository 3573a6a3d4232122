// The details of a name.

import { Action } from "./action.js";
import { beside } from "./address.js";
import { answers } from "./answers.js";
import { Refusal } from "./api.js";
import { html } from "./html.js";
import { life, Picture } from "./lifecycle.js";
import { OF_NAME } from "./limits.js";
import { Others } from "./others.js";
import { Body, Scroll, Stage, Tag, Time } from "./pieces.js";
import { View } from "./view.js";
import { brief, day, distance, instant, money, plural } from "./words.js";

export class Name extends View {
  async load({ subject }) {
    const [record, { events }, { now, due }, { entries }, way] = await Promise.all([
      this.ask("names.get", { name: subject }).catch(unlessUnknown),
      this.ask("events.find", { domain: subject, limit: OF_NAME }),
      this.ask("clock.due", { domain: subject }),
      this.ask("ledger.find", { domain: subject, limit: OF_NAME }),
      life(),
    ]);
    return { record, events, now, due, entries, way, responses: await answers(this.props.address, subject, record) };
  }

  componentDidUpdate(before) {
    super.componentDidUpdate(before);
    const { data, shown } = this.state;
    if (!data || this.seen === shown.subject) return;
    this.seen = shown.subject;
    toMiddle(document.querySelector("main .scroll"));
  }

  draw({ record, events, now, due, entries, way, responses }, address) {
    const { subject } = address;
    return html`<${Head} address=${address} subject=${subject} record=${record} now=${now} />
      <div class="name"><div>
        <section><h2 class="minor">Life</h2><${Scroll} label="The stages of a name"><${Picture} life=${way} stage=${record?.stage ?? "released"} /><//></section>
        <${Timeline} address=${address} events=${events} due=${due} now=${now} />
        ${responses && html`<section><h2 class="minor">API responses for ${responses.account}</h2><div class="pair">${responses.all.map(({ label, target, status, text }) => html`<div key=${label}>
          <p><${Tag}>${label}<//> <code>GET /${target}</code> <span class=${status < 400 ? "ok" : "bad"}>${status}</span></p><${Body} of=${text} name=${target} /></div>`)}</div></section>`}</div>
      <aside>${record && html`<${Facts} record=${record} now=${now} />`}<${Spent} entries=${entries} address=${address} /><${Others} address=${address} subject=${subject} record=${record} /></aside></div>`;
  }
}

const unlessUnknown = (problem) => {
  if (problem instanceof Refusal && problem.error === "unknown_record") return null;
  throw problem;
};

// If the picture of the lifecycle is wider than the window, scroll it to the stage of the name.
function toMiddle(scrolled) {
  const { left, width } = scrolled.querySelector(":is(.box, .end).lit").getBoundingClientRect();
  scrolled.scrollLeft += left + width / 2 - scrolled.getBoundingClientRect().left - scrolled.clientWidth / 2;
}

const Head = ({ address, subject, record, now }) => html`<div class="bar"><h1>${record?.name ?? subject}</h1><${Stage} of=${record?.stage ?? "released"} />
  ${record && record.ascii !== record.name && html`<code>${record.ascii}</code>`}
  <span class="quiet">${record ? `${record.account} · order ${record.order}` : "not registered"}</span>
  ${record?.due && html`<span>next change <b>${distance(now, record.due)}</b> <span class="quiet">${instant(record.due)}</span></span>
    ${!address.at && html`<${Action} key=${record.due} label="Advance to then" operation="clock.advance" args=${{ to: record.due }} where=${address}
      says=${({ now: then, total }) => `The clock is at ${instant(then)}, after ${plural(total, "event")}.`} />`}`}</div>`;

function Facts({ record, now }) {
  const contacts = Object.entries(record.contacts).filter(([, handle]) => handle);
  const pairs = {
    "Expires": html`${day(record.expires)} <span class="quiet">${distance(now, record.expires)}</span>`,
    "Created": day(record.created),
    "In this stage since": day(record.since),
    "Auto-renew": record.autorenew ? "yes" : "no",
    "Renewal price": `${record.renewal}${record.premium ? " (premium)" : ""}`,
    "Flags": record.flags.map((flag) => flag.replaceAll("_", " ")).join(", ") || "none",
    "Privacy": record.privacy ? "yes" : "no",
    "Auth code": html`<code>${record.auth_code}</code>`,
    "License": record.license,
    "Nameservers": record.nameservers.map((host) => html`<div>${host}</div>`),
    "Hosts": record.hosts.map(({ name: host, ips }) => html`<div>${host} <span class="quiet">${ips.join(", ")}</span></div>`),
    "Contacts": new Set(contacts.map(([, handle]) => handle)).size === 1 ? contacts[0][1]
      : contacts.map(([role, handle]) => html`<div><span class="quiet">${role}</span> ${handle}</div>`),
    "Customer": record.customer,
    "Transfer": record.transfer && html`${record.transfer.status}: ${record.transfer.losing} → ${record.transfer.gaining} <span class="quiet">completes ${instant(record.transfer.completes)}</span>`,
  };
  const shown = Object.entries(pairs).filter(([, value]) => value !== null && value !== undefined && value !== "" && value.length !== 0);
  return html`<section><h2 class="minor">Details</h2><dl class="pairs">${shown.map(([key, value]) => html`<dt>${key}</dt><dd>${value}</dd>`)}</dl></section>`;
}

const Spent = ({ entries, address }) => entries.length > 0 && html`<section><h2 class="minor">Money</h2><ul class="plain spent">${entries.toReversed().map((entry) => html`<li key=${entry.id}>
  <time datetime=${entry.at}>${day(entry.at)}</time><span>${entry.purpose}</span>
  ${entry.request ? html`<a href=${beside(address, "journal", entry.request)}>${entry.request}</a>` : html`<span class="quiet">time</span>`}<span class="money">${entry.amount}</span></li>`)}</ul></section>`;

const Timeline = ({ address, events, due, now }) => html`<section><h2 class="minor">Past and due events</h2><ol class="timeline">
  ${events.map((event) => html`<li key="e${event.number}" class=${event.kind}><${Time} at=${event.at} /><${Past} address=${address} event=${event} /></li>`)}
  <li key="now" class="here"><${Time} at=${now} /><span>${address.at ? "then" : "now"}</span></li>
  ${due.map((event, at) => html`<li key="d${at}" class="coming"><${Time} at=${event.at} />
    <span><b>${event.event}</b> <span class="quiet">${distance(now, event.at)}</span>${Number(event.charged) ? ` ${money(event.charged)}` : ""}${event.note && html`<small> ${event.note}</small>`}</span></li>`)}</ol></section>`;

function Past({ address, event: { name: event, effect: { request, outcome, account }, registry_event: registered, parameters } }) {
  if (request) return html`<span><a href=${beside(address, "journal", request)}><span class="id">${request}</span> ${event}</a> <span class="quiet">${account}</span>
    ${outcome !== "ok" && html`<span class="bad"> ${outcome}</span>`}</span>`;
  return html`<span><b>${registered?.event ?? event}</b>${registered && Number(registered.charged) ? ` ${money(registered.charged)}` : ""}
    ${registered?.note && html`<small> ${registered.note}</small>`}${!registered && Object.keys(parameters).length > 0 && html`<small> ${brief(parameters)}</small>`}</span>`;
}
