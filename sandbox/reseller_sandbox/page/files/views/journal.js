// The journal, live: requests, control calls, timed events and scheduled actions, and the details of a request.

import { Action } from "../parts/action.js";
import { beside, write } from "../parts/address.js";
import { operations } from "../parts/api.js";
import { First } from "../parts/first.js";
import { Component, html } from "../parts/html.js";
import { JOURNAL_PAGE, JOURNAL_ROWS } from "../parts/limits.js";
import { report } from "../parts/notices.js";
import { Field, narrow, Select, Tag } from "../parts/pieces.js";
import { Request } from "../parts/request.js";
import { save } from "../parts/save.js";
import { View } from "../parts/view.js";
import { brief, count, instant, money, plural } from "../parts/words.js";

// After these control calls, the journal has other requests than before.
const REWRITES = /^(history|journal|branches|snapshots)\./;

// The outcomes of the list. The outcome of an address can also be a status or the name of an error.
const OUTCOMES = ["ok", "refused", "fault"];

const FILTERS = ["text", "operation", "account", "domain", "outcome", "fault", "since", "until"];

export default class extends View {
  #age = 0;
  #hasOthers = false;
  state = { held: 0, isWide: matchMedia("(min-width: 60rem)").matches };

  // The first rows, or the rows that are known with those that have come since.
  async load(address) {
    const { world = "", at = "", subject } = address;
    const key = JSON.stringify([world, at, filterOf(address), address.kind, this.#age]);
    const known = this.state.data?.key === key ? this.state.data : null;
    if (known && (at || !this.#isStale)) return this.#reach(known, subject);
    this.#isStale = false;
    const data = await (known?.lines.length ? this.#newer(known, address) : this.#first(key, address));
    return this.#reach(data, subject);
  }

  #isStale = false;

  async #first(key, address) {
    const [page, others, { accounts }] = await Promise.all([this.#find(address, {}), this.#others(address, {}), this.ask("accounts.list")]);
    const oldest = page.requests[0]?.number ?? 0;
    return { ...totals(page), key, accounts, lines: merged(page.requests, page.isEnd ? others : others.filter(({ number }) => number > oldest)), isEnd: page.isEnd };
  }

  async #newer(known, address) {
    const newest = known.lines.find(({ id }) => id);
    const [page, others] = await Promise.all([this.#find(address, { since: newest?.id ?? "r0" }),
      this.#hasOthers ? this.#others(address, { since: known.lines[0].number }) : []]);
    this.#hasOthers = false;
    if (!page.isEnd) return this.#first(known.key, address); // more have come than one answer holds
    return { ...known, total: isNarrow(address) ? known.total + page.requests.length : page.kept, dropped: page.dropped, kept: page.kept, lines: merged(known.lines, page.requests, others).slice(0, JOURNAL_ROWS) };
  }

  // Load older rows, so that the list has the request of the address.
  async #reach(data, subject) {
    const [oldest, wanted] = [data.lines.findLast(({ id }) => id)?.id, subject].map((id) => Number(id?.slice(1) || NaN));
    return oldest > wanted && !data.isEnd ? this.#older(data, Math.min(oldest - wanted + 20, JOURNAL_ROWS)) : data;
  }

  async #older(data, limit) {
    const { address } = this.props;
    const oldest = data.lines.findLast(({ id }) => id);
    const before = data.lines.at(-1).number;
    const [page, others] = await Promise.all([this.#find(address, { before: oldest?.number }, limit), this.#others(address, { before })]);
    const end = page.requests[0]?.number ?? 0;
    return { ...data, isEnd: page.isEnd, lines: merged(data.lines, page.requests, page.isEnd ? others : others.filter(({ number }) => number > end)).slice(0, JOURNAL_ROWS) };
  }

  async #find(address, range, limit = JOURNAL_PAGE) {
    if (address.kind && address.kind !== "request") return { requests: [], matching: 0, isEnd: true };
    const page = await this.ask("journal.lines", { ...given(address), ...range, limit });
    return { ...page, isEnd: page.requests.length < limit };
  }

  // Lines that are not requests. A filter on a field of requests excludes all of them.
  async #others(address, range) {
    if (!hasOthers(address)) return [];
    const { kind, domain } = address;
    const { events } = await this.ask("events.find", { kind, domain, ...range, limit: JOURNAL_PAGE });
    return events.filter((event) => event.kind !== "request");
  }

  more = async () => {
    const { data } = this.state;
    if (this.isLoading || data.isEnd || data.lines.length >= JOURNAL_ROWS) return;
    this.isLoading = true;
    const all = await this.#older(data).catch(report);
    this.isLoading = false;
    if (all && this.state.data.key === data.key) this.setState({ data: { ...this.state.data, isEnd: all.isEnd, lines: merged(this.state.data.lines, all.lines) } });
  };

  news(events) {
    if (this.props.address.at) return;
    this.#isStale = true;
    if (events.some(({ kind }) => kind !== "request")) this.#hasOthers = true;
    if (events.some(({ name }) => REWRITES.test(name))) this.#age++;
    if (this.state.isPaused) this.setState({ held: this.state.held + events.length });
    else this.refresh();
  }

  missed() {
    this.#age++;
    this.#isStale = true;
    super.missed();
  }

  pause = () => {
    this.setState({ isPaused: !this.state.isPaused, held: 0 });
    if (this.state.isPaused) this.refresh();
  };

  componentDidUpdate(before) {
    super.componentDidUpdate(before);
    const { shown } = this.state;
    if (shown?.subject === this.seen) return;
    this.seen = shown?.subject;
    if (this.seen) document.querySelector(".journal [aria-current=true]")?.scrollIntoView({ block: "nearest" });
  }

  draw(data, address) {
    const { lines, accounts } = data;
    const { isPaused, held } = this.state;
    const isOpen = Boolean(address.subject);
    const others = JSON.stringify({ ...address, subject: "" });
    return html`<div class="journal-view">
      <div class="bar"><h1>Journal</h1>
        <${Field} type="search" label="Search" placeholder="Search paths, bodies, messages" value=${address.text} change=${narrow("text", "subject")} />
        <${Select} label="Outcome" none="all outcomes" words=${OUTCOMES} chosen=${OUTCOMES.find((word) => word === address.outcome)} change=${narrow("outcome", "subject")} />
        <${Filters} address=${address} accounts=${accounts} isWide=${this.state.isWide} />
        <span class="quiet">${summary(data)}</span>
        <span class="tools end"><button type="button" class="do" aria-pressed=${String(Boolean(isPaused))} onClick=${this.pause}>${isPaused ? `Resume${held ? ` (${count(held)} new)` : ""}` : "Pause"}</button>
          <${Action} label="Clear" operation="journal.clear" where=${address} tone="danger" says=${({ cleared }) => `${plural(cleared, "request")} removed from the journal.`} />
          <${Exports} address=${address} /></span></div>
      ${!lines.some(({ id }) => id) && !address.at && !isNarrow(address) && html`<${First} where=${{ world: address.world }} accounts=${accounts} />`}
      <div class="split ${isOpen ? "open" : ""}">
        <div class="list scroller" onScroll=${({ currentTarget: list }) => list.scrollTop + 2 * list.clientHeight > list.scrollHeight && this.more()}>
          ${lines.length > 0 && html`<div class="journal heads" aria-hidden="true"><span>${HEADS.map(([name, label]) => html`<span class=${name}>${label}</span>`)}</span></div>`}
          <ol class="rows journal" aria-label="Events">${lines.map((line) => html`<${Line} key=${line.number} line=${line} address=${address} others=${others} isChosen=${line.id !== undefined && line.id === address.subject} />`)}</ol>
          ${!lines.length && html`<p class="empty">No events yet. Requests of your program appear here automatically.</p>`}
          ${lines.length > 0 && html`<p class="foot quiet">${data.isEnd ? (data.dropped ? `The journal keeps ${count(data.kept)} requests: ${count(data.dropped)} older ones were dropped.` : "The beginning.")
            : lines.length >= JOURNAL_ROWS ? `The list shows ${count(JOURNAL_ROWS)} rows. Use a filter to find others.` : html`<button type="button" onClick=${this.more}>Load older requests</button>`}</p>`}</div>
        ${isOpen && html`<${Request} address=${address} />`}</div></div>`;
  }
}

const pick = (record, names) => Object.fromEntries(names.map((name) => [name, record[name]]));

// The filter "fault" finds every request that a fault has changed, delayed or lost.
const filterOf = ({ outcome, ...address }) => ({ ...pick(address, FILTERS),
  ...(outcome === "fault" ? { fault: address.fault || "*" } : { outcome }) });

const given = (address) => Object.fromEntries(Object.entries(filterOf(address)).filter(([, value]) => value));

const isNarrow = (address) => Boolean(address.kind) || FILTERS.some((name) => address[name]);

const hasOthers = ({ kind, domain, ...address }) => kind !== "request" && !FILTERS.some((name) => address[name]);

const totals = ({ matching, kept, dropped }) => ({ total: matching, kept, dropped });

function summary({ lines, total, dropped }) {
  const shown = lines.filter(({ id }) => id).length;
  return `${shown < total ? `1–${count(shown)} of ` : ""}${count(total)} request${total === 1 ? "" : "s"}${dropped ? `, ${count(dropped)} dropped` : ""}`;
}

/** Return the lines merged, the latest first, without duplicates. */
function merged(...lists) {
  const known = new Map(lists.flat().map((record) => [record.number, record]));
  return [...known.values()].sort((first, second) => second.number - first.number);
}

// The lesser filters. They are open while there is room, or one of them is set.
const Filters = ({ address, accounts, isWide }) => html`<details class="filters" open=${isWide || FILTERS.slice(1).some((name) => address[name])}><summary>Filters</summary><span class="line">
  <${Select} label="Kind" none="everything" words=${["request", "control", "time", "scheduled"]} chosen=${address.kind} change=${narrow("kind", "subject")} />
  <${Field} label="Operation" placeholder="operation" size="13" value=${address.operation} change=${narrow("operation", "subject")} />
  <${Select} label="Account" none="every account" words=${accounts.map(({ name }) => [name, name])} chosen=${address.account} change=${narrow("account", "subject")} />
  <${Field} label="Status" placeholder="status: 4xx" size="8" value=${OUTCOMES.includes(address.outcome) ? "" : address.outcome} change=${narrow("outcome", "subject")} />
  <${Field} label="Fault" placeholder="fault" size="8" value=${address.fault} change=${narrow("fault", "subject")} />
  <${Field} label="From" placeholder="from: 2026-03-01" size="13" value=${address.since} change=${narrow("since", "subject")} />
  <${Field} label="Until" placeholder="until" size="10" value=${address.until} change=${narrow("until", "subject")} />
  ${isNarrow(address) && html`<a class="do" href=${write({ view: "journal", world: address.world, at: address.at, subject: address.subject })}>All</a>`}</span></details>`;

// The shown requests as a file, for browsers, proxies and scripts.
const Exports = ({ address }) => operations["journal.export"] && ["har", "ndjson"].map((format) => html`<${Action} key=${format} label=${format.toUpperCase()} operation="journal.export" where=${address}
  args=${() => ({ format, ...given(address) })} then=${({ text }) => save(`journal.${format}`, text)} says=${() => `Saved journal.${format}.`} />`);

const HEADS = [["id", "Request"], ["time", "Time"], ["who", "Account"], ["method", "Method"], ["operation", "Operation"], ["about", "Subject"], ["status", "Status"], ["fault", "Fault"], ["duration", "Duration"], ["money", "Charge"]];

// Draw a row again only if it changes, so that only new rows cost time.
class Line extends Component {
  shouldComponentUpdate({ line, others, isChosen }) {
    return line !== this.props.line || others !== this.props.others || isChosen !== this.props.isChosen;
  }

  render({ line, address, isChosen }) {
    return line.id ? Exchange({ line, address, isChosen }) : Event({ line, address });
  }
}

const Exchange = ({ line, address, isChosen }) => html`<li data-row aria-current=${String(isChosen)}>
  <a href=${write({ ...address, subject: line.id })}>
    <span class="id">${line.id}</span><time datetime=${line.at}>${instant(line.at)}</time><span class="who">${line.account}</span><span class="method">${line.method}</span>
    <span class="operation" title=${line.path}>${line.operation.includes(".") ? line.operation : line.path}</span>
    <span class="about" title=${line.refused}>${names(line.domains)}${line.refused && html` <small>${line.refused}</small>`}</span>
    <span class="status ${line.outcome === "ok" ? "ok" : "bad"}">${line.status || "–"}${line.outcome !== "ok" && html` <${Tag} sort="bad">${line.outcome}<//>`}</span>
    <span class="fault">${faultOf(line)}</span><span class="duration num">${duration(line)}</span><span class="money">${money(line.charged)}</span></a></li>`;

const names = ([first = "", ...more]) => first + (more.length ? ` +${more.length}` : "");

const duration = ({ duration_ms: own, held_up_seconds: held }) => (held ? `${(own / 1000 + held).toFixed(2)} s` : `${own.toFixed(1)} ms`);

// An injected error, a delay and a lost answer have a mark each.
const MARKS = { lost: "✂", injected: "⚡", delayed: "◔", altered: "✎" };

function faultOf({ fault, fault_kind: kind, fault_effects: effects }) {
  if (!fault) return null;
  const [main] = Object.keys(MARKS).filter((effect) => effects.includes(effect));
  return html`<${Tag} sort=${main} title="fault ${fault}: ${effects.join(", ")}">${MARKS[main]} ${kind}<//>`;
}

function Event({ line: { at, kind, name, registry_event: registered, parameters, effect }, address }) {
  const { subject, account, charged, note, order } = registered ?? {};
  const details = Object.entries({ ...parameters, ...(registered ? {} : effect) }).map(([key, value]) => `${key}=${brief(value)}`).join(" ");
  const about = html`<span class="id">${{ control: "›_", time: "◷" }[kind] ?? "◇"}</span><time datetime=${at}>${instant(at)}</time><span class="who">${account}</span><span class="method">${kind}</span>
    <span class="operation">${registered?.event ?? name}</span><span class="about" title=${note ?? details}>${subject ?? details}${note && html` <small>${note}</small>`}</span><span class="status" /><span class="fault" /><span class="duration" /><span class="money">${money(charged)}</span>`;
  return order ? html`<li data-row class="other"><a href=${beside(address, "names", subject)}>${about}</a></li>` : html`<li class="other"><div class="line">${about}</div></li>`;
}
