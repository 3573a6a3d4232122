import { Action } from "./action.js";
import { beside, change, write } from "./address.js";
import { CopyAs } from "./copies.js";
import { FailNext } from "./fault-form.js";
import { again, isFixable } from "./fix.js";
import { Body, Changes, Copied, html, Link, Pairs, Tag } from "./pieces.js";
import { Restore } from "./restore.js";
import { Signature } from "./signature.js";
import { View } from "./view.js";
import { brief, instant, plural, spaced } from "./words.js";

/** The pane of the request in the address. It shows its own problems, beside the list. */
export class Request extends View {
  load({ subject }) {
    return this.ask("journal.get", { request: subject });
  }

  news() {} // a request does not change

  frame(title, address, ...rest) {
    return html`<section class="detail" aria-label="Request ${address.subject}">
      <header><h2>${title}</h2><a class="close" href=${write({ ...address, subject: "", tab: "" })} aria-label="Close the request">×</a></header>${rest}</section>`;
  }

  failed(problem) {
    return this.frame(this.props.address.subject, this.props.address, super.failed(problem));
  }

  draw(record, address) {
    const { id, operation, domains, account, answer, outcome, fault } = record;
    const tabs = tabsOf(record);
    const chosen = tabs[address.tab] ? address.tab : record.refusal ? "why" : "response";
    return this.frame(html`<span class="id">${id}</span> ${operation} ${domains.slice(0, 3).map((name) => html`<${Link} to="names" of=${name} /> `)}
        ${domains.length > 3 && html`<span class="quiet">and ${domains.length - 3} more</span>`}`, address,
      html`<p class="quiet"><${Tag} sort=${outcome === "ok" ? "ok" : "bad"}>${answer.status || "none"}${outcome !== "ok" && ` ${outcome}`}${answer.lost && ", lost in transit"}<//> ${instant(record.at)} · ${account ?? "no account"} · ${record.duration_ms} ms${record.held_up_seconds > 0 && ` · held up ${record.held_up_seconds} s`}
        ${fault && html` · fault <${Link} to="journal" more=${{ fault }}>${fault}<//>`}</p>
      <${Tools} address=${address} record=${record} />
      <div class="tabs" role="tablist">${Object.entries(tabs).map(([name, [label]]) => html`<button type="button" role="tab" key=${name} aria-selected=${String(name === chosen)}
        tabindex=${name === chosen ? 0 : -1} onKeyDown=${step} onClick=${() => change({ tab: name }, true)}>${label}</button>`)}</div>
      <div role="tabpanel" aria-label=${tabs[chosen][0]} key=${chosen}>${tabs[chosen][1](record)}</div>`);
  }
}

// The arrows move between tabs.
function step(event) {
  const to = { ArrowLeft: event.target.previousElementSibling, ArrowRight: event.target.nextElementSibling }[event.key];
  if (!to) return;
  event.stopPropagation();
  to.click();
  to.focus();
}

const tabsOf = (record) => ({
  request: ["Request", Sent],
  response: ["Response", ({ answer }) => html`<${Headers} of=${answer.headers} /><${Body} of=${answer.body} cut=${answer.cut} name="Body of the response" />`],
  why: [record.refusal ? "Why" : "How", Why],
  changes: [`Changes ${record.changes.length}`, Effect],
  ...(record.refusal?.facts.diagnosis ? { signature: ["Explain signature", Signature] } : {}),
});

const Sent = ({ request: { method, target, headers, body, cut, ignored } }) => html`<${Copied} name="Line" text="${method} ${target}" />
  <${Headers} of=${headers} /><${Body} of=${body} cut=${cut} name="Body of the request" />
  ${ignored.length > 0 && html`<p><b>Keys without effect:</b> ${ignored.join(", ")}</p>`}`;

const Headers = ({ of: all = {} }) => Object.keys(all).length > 0 && html`<details open><summary>${plural(Object.keys(all).length, "header")}</summary>
  <${Pairs} of=${all} /></details>`;

const Why = ({ refusal, assumptions }) => html`${refusal && html`<div class="why"><h3>Refused: <code>${refusal.rule}</code></h3><p>${refusal.message}</p>
    ${refusal.allowed && html`<p><b>Remedy: </b>${refusal.allowed}${refusal.allowed_at && html`<span class="quiet"> (from ${instant(refusal.allowed_at)} on)</span>`}</p>`}
    ${refusal.met.balance !== null && html`<p class="quiet">${refusal.met.account} had ${refusal.met.balance} ${refusal.met.currency}</p>`}
    ${refusal.met.domains.filter(({ stage }) => stage).map((met) => html`<p class="quiet">${met.domain} was ${spaced(met.stage)}, held by ${met.holder}${met.flags.length > 0 && `, with ${spaced(met.flags.join(", "))}`}</p>`)}</div>`}
  ${Object.keys(refusal?.assumptions ?? assumptions).length > 0 && html`<h3>Assumptions that decided</h3>`}<ul class="plain">${Object.entries(refusal?.assumptions ?? assumptions).map(([name, value]) => html`<li><code>${name}</code> = ${brief(value)}</li>`)}</ul>`;

const Effect = ({ changes, ledger }) => html`${changes.length ? html`<${Changes} of=${changes} />` : html`<p class="quiet">No changes.</p>`}
  ${ledger.length > 0 && html`<h3>Money</h3><ul class="plain">${ledger.map(({ amount, kind, purpose }) => html`<li><b>${amount}</b> ${kind}: ${purpose}</li>`)}</ul>`}`;

function Tools({ address, record }) {
  const { id, operation } = record;
  const isPresent = !address.at;
  const isOperation = operation.includes(".") && !operation.startsWith("canned.") && isPresent;
  const isBeyond = operation === "unmatched" && isPresent;
  const rewind = { operation: "history.rewind", args: { request: id, side: "before" } };
  return html`<p class="tools">${isOperation && html`
      <a class="do ${isFixable(record) ? "first" : ""}" href=${write(again(address, record))}>${isFixable(record) ? "Fix and send again" : "Send again"}</a>
      <${Restore} ...${rewind} key="edit${id}" label="Rewind and edit" leads=${() => again(address, record)} />`}
    ${isOperation && html`<${FailNext} of=${operation} />`}
    <a class="do" href=${beside({ ...address, at: `before:${id}` }, "journal", id)}>View state before</a></p>
    <details><summary>More actions</summary><p class="tools">
    ${isPresent && html`<${Restore} ...${rewind} key="rewind${id}" label="Rewind to before" leads=${() => ({ ...address, subject: "", tab: "" })} />`}
    <${Action} key="fork${id}" label="Fork from before" operation="worlds.fork" args=${{ point: `before:${id}` }}
      leads=${({ name }) => ({ view: "journal", world: name })} says=${({ name }) => `World ${name} begins before ${id}.`} />
    ${isBeyond && html`<${Action} key="answer${id}" label="Add a canned answer" operation="answers.add" args=${{ path: record.path, method: record.method, status: 200 }} asks />`}
    </p></details>
    <${CopyAs} key="copy${id}" method=${record.method} target=${record.request.target} body=${record.request.body} account=${record.account} where=${{ world: address.world }} />`;
}
