import { Action } from "../parts/action.js";
import { beside, write } from "../parts/address.js";
import { operations } from "../parts/api.js";
import { First } from "../parts/first.js";
import { JOURNAL_EVENTS, JOURNAL_PAGE, JOURNAL_ROWS } from "../parts/limits.js";
import { Component, Filter, html, Tag, Time } from "../parts/pieces.js";
import { Request } from "../parts/request.js";
import { save } from "../parts/save.js";
import { View } from "../parts/view.js";
import { count, money, pairs, plural } from "../parts/words.js";

// Kinds of events that are not requests.
const KINDS = ["control", "time", "scheduled"];

// The outcome of an address can also be a status or the name of an error.
const OUTCOMES = ["ok", "refused", "fault"];

const FILTERS = ["text", "operation", "account", "domain", "outcome", "fault", "since", "until"];

export default class extends View {
  #key;
  state = { held: 0 };

  // As many rows as the list has shown, or as many as lead to the request of the address.
  async load(address) {
    const { world, at, kind, subject } = address;
    const key = JSON.stringify([world, at, kind, given(address)]);
    if (key !== this.#key) [this.#key, this.rows, this.others] = [key, JOURNAL_PAGE, undefined];
    this.others ??= Promise.all([this.ask("accounts.list"), ...KINDS.map((word) => this.#events(word, address))]);
    const [page, [{ accounts }, ...others]] = await Promise.all([this.#requests(address), this.others]);
    const { requests, matching } = page;
    const isEnd = requests.length === matching;
    const [oldest, wanted] = [requests[0]?.id, subject].map((id) => Number(id?.slice(1)));
    if (!isEnd && oldest > wanted && this.rows < JOURNAL_ROWS) {
      this.rows = Math.min(this.rows + oldest - wanted + 20, JOURNAL_ROWS);
      return this.load(address);
    }
    const events = others.flatMap((each) => each.events).filter(({ number }) => isEnd || number > requests[0].number);
    return { ...page, accounts, isEnd, isCut: others.some((each) => each.matching > each.events.length),
      lines: [...requests, ...events].sort((first, second) => second.number - first.number) };
  }

  #requests(address) {
    const isNone = KINDS.includes(address.kind);
    return isNone ? { requests: [], matching: 0 } : this.ask("journal.lines", { ...given(address), limit: this.rows });
  }

  // Events that are not requests. A filter on a field of requests excludes all of them.
  #events(kind, { kind: chosen = kind, domain, ...address }) {
    const isNone = chosen !== kind || FILTERS.some((name) => address[name]);
    return isNone ? { events: [], matching: 0 } : this.ask("events.list", { kind, domain, limit: JOURNAL_EVENTS });
  }

  more = () => {
    const { isEnd, requests } = this.state.data;
    if (isEnd || requests.length < this.rows || this.rows >= JOURNAL_ROWS) return;
    this.rows += JOURNAL_PAGE;
    this.update(true);
  };

  news(events) {
    if (this.props.address.at) return;
    if (events.some(({ kind }) => kind !== "request")) this.others = undefined;
    if (this.state.isPaused) this.setState({ held: this.state.held + events.length });
    else this.refresh();
  }

  missed() {
    this.others = undefined;
    super.missed();
  }

  failed(problem) {
    this.others = undefined;
    return super.failed(problem);
  }

  pause = () => {
    this.setState({ isPaused: !this.state.isPaused, held: 0 });
    if (this.state.isPaused) this.refresh();
  };

  arrived() {
    document.querySelector(".journal [aria-current=true]")?.scrollIntoView({ block: "nearest" });
  }

  draw(data, address) {
    const { lines, accounts, requests } = data;
    const { isPaused, held } = this.state;
    const isOpen = Boolean(address.subject);
    // Without faults, the reasons of refusals get the room of their column.
    const list = `journal ${requests.some(({ fault }) => fault) ? "" : "calm"}`;
    return html`<div class="panes">
      <div class="bar"><h1>Journal</h1>
        <${Filter} of="text" type="search" label="Search" placeholder="Search path or body" />
        <${Filter} of="outcome" label="Outcome" none="all outcomes" words=${OUTCOMES} value=${OUTCOMES.includes(address.outcome) ? address.outcome : ""} />
        <span class="quiet">${summary(data)}</span>
        <button type="button" class="do" aria-pressed=${String(Boolean(isPaused))} onClick=${this.pause}>${isPaused ? `Resume${held ? ` (${count(held)} new)` : ""}` : "Pause"}</button>
        <${Filters} address=${address} accounts=${accounts} /></div>
      ${!requests.length && !address.at && !isNarrow(address) && html`<${First} where=${{ world: address.world }} accounts=${accounts} />`}
      <div class="split ${isOpen ? "open" : ""}">
        <div class="scroller" onScroll=${({ currentTarget: list }) => list.scrollTop + 2 * list.clientHeight > list.scrollHeight && this.more()}>
          ${lines.length > 0 && html`<div class="${list} heads" aria-hidden="true"><span>${cells(HEADS)}</span></div>`}
          <ol class="rows ${list}" aria-label="Events">${lines.map((line) => html`<${Line} key=${line.number} line=${line} others=${{ ...address, subject: "" }} isChosen=${line.id !== undefined && line.id === address.subject} />`)}</ol>
          ${lines.length ? html`<p class="foot quiet">${this.#foot(data)}</p>` : html`<p class="empty">No events yet. Requests of your program appear here automatically.</p>`}</div>
        ${isOpen && html`<${Request} address=${address} />`}</div></div>`;
  }

  #foot({ isEnd, isCut, dropped, kept, requests }) {
    if (!isEnd && requests.length < JOURNAL_ROWS) return html`<button type="button" onClick=${this.more}>Load older requests</button>`;
    if (!isEnd) return `The list shows ${count(JOURNAL_ROWS)} rows. Use a filter to find others.`;
    if (dropped) return `The journal keeps ${count(kept)} requests: ${count(dropped)} older ones were dropped.`;
    return isCut ? `The list shows the latest ${JOURNAL_EVENTS} events of each kind.` : "The beginning.";
  }
}

// The filters of the address. The outcome "fault" finds every request that a fault has changed, delayed or lost.
const given = ({ outcome, ...address }) => Object.fromEntries(FILTERS.map((name) => [name, address[name]])
  .concat([outcome === "fault" ? ["fault", address.fault || "*"] : ["outcome", outcome]]).filter(([, value]) => value));

const isNarrow = (address) => Boolean(address.kind) || FILTERS.some((name) => address[name]);

const summary = ({ requests: { length }, matching, dropped }) =>
  `${length < matching ? `1–${count(length)} of ` : ""}${count(matching)} request${matching === 1 ? "" : "s"}${dropped ? `, ${count(dropped)} dropped` : ""}`;

// The other filters and the actions, open if there is room or a filter is set.
const Filters = ({ address, accounts }) => html`<details class="filters" open=${WIDE.matches || FILTERS.slice(1).some((name) => address[name])}><summary>Filters</summary><span class="line">
  <${Filter} of="kind" label="Kind" none="everything" words=${["request", ...KINDS]} />
  <${Filter} of="operation" label="Operation" placeholder="operation" size="13" />
  <${Filter} of="account" label="Account" none="every account" words=${accounts.map(({ name }) => name)} />
  <${Filter} of="outcome" label="Status" placeholder="status: 4xx" size="8" value=${OUTCOMES.includes(address.outcome) ? "" : address.outcome} />
  <${Filter} of="fault" label="Fault" placeholder="fault" size="8" />
  <${Filter} of="since" label="From" placeholder="from: 2026-03-01" size="13" />
  <${Filter} of="until" label="Until" placeholder="until" size="10" />
  ${isNarrow(address) && html`<a class="do" href=${beside(address, "journal", address.subject)}>All</a>`}
  <span class="tools end"><${Exports} address=${address} />
    <${Action} label="Clear" operation="journal.clear" tone="danger" says=${({ cleared }) => `${plural(cleared, "request")} removed from the journal.`} /></span></span></details>`;

const WIDE = matchMedia("(min-width: 60rem)");

const Exports = ({ address }) => operations["journal.export"] && ["har", "ndjson"].map((format) => html`<${Action} key=${format} label=${format.toUpperCase()} operation="journal.export"
  args=${() => ({ format, ...given(address) })} then=${({ text }) => save(`journal.${format}`, text)} says=${() => `Saved journal.${format}.`} />`);

const HEADS = { id: "Request", time: "Time", who: "Account", method: "Method", operation: "Operation", about: "Subject", status: "Status", fault: "Fault", duration: "Duration", money: "Charge" };

const cells = (row) => Object.keys(HEADS).map((name) => html`<span class=${name}>${row[name]}</span>`);

// Draw a row again only if it changes, so that only new rows cost time.
class Line extends Component {
  shouldComponentUpdate(props) {
    return JSON.stringify(props) !== JSON.stringify(this.props);
  }

  render({ line, others, isChosen }) {
    return line.id ? Exchange({ line, others, isChosen }) : Event({ line, others });
  }
}

const Exchange = ({ line, others, isChosen }) => html`<li data-row aria-current=${String(isChosen)}><a href=${write({ ...others, subject: line.id })}>${cells({
  id: line.id, time: html`<${Time} at=${line.at} />`, who: line.account, method: line.method,
  operation: html`<span title=${line.path}>${line.operation.includes(".") ? line.operation : line.path}</span>`,
  about: html`<span title=${line.refused}>${shortened(line.domains)}${line.refused && html` <small>${line.refused}</small>`}</span>`,
  status: html`<span class=${line.outcome === "ok" ? "ok" : "bad"}>${line.status || "–"}${line.outcome !== "ok" && html` <${Tag} sort="bad">${line.outcome}<//>`}</span>`,
  fault: faultOf(line), duration: duration(line), money: money(line.charged) })}</a></li>`;

const shortened = ([first = "", ...more]) => first + (more.length ? ` +${more.length}` : "");

const duration = ({ duration_ms: own, held_up_seconds: held }) => (held ? `${(own / 1000 + held).toFixed(2)} s` : `${own.toFixed(1)} ms`);

const MARKS = { lost: "✂", injected: "⚡", delayed: "◔", altered: "✎" };

function faultOf({ fault, fault_kind: kind, fault_effects: effects }) {
  if (!fault) return null;
  const [main] = Object.keys(MARKS).filter((effect) => effects.includes(effect));
  return html`<${Tag} sort=${main} title="fault ${fault}: ${effects.join(", ")}">${MARKS[main]} ${kind}<//>`;
}

function Event({ line: { at, kind, name, registry_event: registered, parameters, effect }, others }) {
  const { subject, account, charged, note, order } = registered ?? {};
  const details = pairs({ ...parameters, ...(registered ? {} : effect) });
  const about = cells({ id: { control: "›_", time: "◷" }[kind] ?? "◇", time: html`<${Time} at=${at} />`, who: account, method: kind, operation: registered?.event ?? name,
    about: html`<span title=${note ?? details}>${subject ?? details}${note && html` <small>${note}</small>`}</span>`, money: money(charged) });
  return order ? html`<li data-row class="other"><a href=${beside(others, "names", subject)}>${about}</a></li>` : html`<li class="other"><div class="line">${about}</div></li>`;
}
