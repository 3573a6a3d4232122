// Elements that several views share.

import { beside, change } from "./address.js";
import { Component, html } from "./html.js";
import { JSON_ENTRIES, JSON_LEVELS } from "./limits.js";
import { brief, instant, parsed } from "./words.js";

/** An instant of the world. */
export const Time = ({ at }) => html`<time datetime=${at}>${instant(at)}</time>`;

/** A link to a record in another view of the same world at the same moment: a name, or a request of the journal. */
export const Link = ({ to, of: subject, more, children = subject }, { address }) => html`<a href=${beside(address, to, subject, more)}>${children}</a>`;

/** The stage of a name, in its colour. */
export const Stage = ({ of: word }) => html`<span class="stage" data-stage=${word}>${word.replaceAll("_", " ")}</span>`;

/** A word in the colour of its kind: a stage, an outcome. */
export const Tag = ({ sort, title, children }) => html`<span class="tag" data-sort=${sort} title=${title}>${children}</span>`;

/** A list of choices. With `none`, a label, the first choice is no word. Words are strings, or pairs of a value and its label. */
export const Select = ({ label, none, words, value: chosen = "", change: changed }) => html`<select aria-label=${label} value=${chosen} onChange=${({ target }) => changed(target.value)}>
  ${none && html`<option value="">${none}</option>`}
  ${words.map((word) => [word].flat()).map(([value, text = value]) => html`<option key=${value} value=${value} selected=${value === chosen}>${text}</option>`)}</select>`;

/**
 * A field of a bar. It calls `change` with its value when the user commits the value, or with `isLive` while the user
 * types. It follows the address.
 */
export class Field extends Component {
  componentDidUpdate(before) {
    const isTyping = this.props.isLive && this.input === document.activeElement;
    if (before.value !== this.props.value && !isTyping) this.input.value = this.props.value ?? "";
  }

  render({ label, value = "", change: changed, type = "text", isLive, ...more }) {
    const take = ({ target }) => target.value.trim() !== value && changed(target.value.trim());
    return html`<input type=${type} aria-label=${label} defaultValue=${value} autocomplete="off" spellcheck=${false} ...${more} ref=${(input) => (this.input = input)}
      ...${isLive ? { onInput: take } : { onChange: take }} />`;
  }
}

/** A filter: a field, or with `words` a list of choices. Its value is a word of the address. A new value leads to the first page. */
export const Filter = ({ of: key, ...more }, { address }) => html`<${more.words ? Select : Field} value=${address[key]} ...${more}
  change=${(value) => change({ start: "", before: "", [key]: value }, more.isLive)} />`;

/** A button that copies a text. */
export class Copy extends Component {
  copy = async () => {
    await navigator.clipboard?.writeText(this.props.text);
    this.setState({ isDone: true });
    setTimeout(() => this.setState({ isDone: false }), 1200);
  };

  render({ name, label = "copy" }, { isDone }) {
    return html`<button type="button" class="copy" aria-label="Copy: ${name}" onClick=${this.copy}>${isDone ? "copied" : label}</button>`;
  }
}

/** Names with their values. */
export const Pairs = ({ of: all }) => html`<dl class="pairs">${Object.entries(all).map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`;

/** A text with its name and a button to copy it. */
export const Copied = ({ name, text }) => html`<div class="copied"><span>${name}</span><code tabindex="0">${text}</code><${Copy} name=${name} text=${text} /></div>`;

/** A wide element in a region that scrolls sideways. */
export const Scroll = ({ label, children }) => html`<div class="scroll" tabindex="0" role="region" aria-label=${label}>${children}</div>`;

/** A table with the headings `heads`. */
export const Table = ({ heads, caption, children }) => html`<table class="grid">${caption && html`<caption>${caption}</caption>`}
  <thead><tr>${heads.map((head) => html`<th scope="col">${head}</th>`)}</tr></thead><tbody>${children}</tbody></table>`;

/** Changed records: their fields before and after. */
export const Changes = ({ of: records }) => html`<table class="changes">${records.map(({ table, key, change: kind, fields, name, before, after }) => html`<tbody>
  <tr><th colspan="3" scope="rowgroup">${table ? html`<b>${table}</b> ${said(key)} ${name && name !== key && name} <${Tag}>${kind}<//>` : html`<b>${name}</b>`}</th></tr>
  ${(fields ? Object.entries(fields) : [[name, { before, after }]]).map(([field, value]) => html`<tr>
    <td>${table && field}</td><td class="before">${said(isPair(value) ? value.before : undefined)}</td><td class="after">${said(isPair(value) ? value.after : value)}</td></tr>`)}</tbody>`)}</table>`;

const isPair = (value) => value && typeof value === "object" && ("before" in value || "after" in value);
const said = (value) => (value === undefined || value === null ? "" : brief(value));

/** A body: JSON in colours, whose objects and arrays fold, or any other text. */
export const Body = ({ of: body, cut, name = "Body" }) => {
  if (body === null || body === "" || body === undefined) return html`<p class="quiet">no body</p>`;
  const value = typeof body === "string" ? parsed(body) : body;
  const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
  return html`<div class="body"><${Copy} name=${name} text=${text} /><pre class="json" tabindex="0">${typeof value === "string" ? value : json(value, 0)}</pre>
    ${cut && html`<p class="quiet">The journal cut the body: it has ${cut} bytes.</p>`}</div>`;
};

function json(value, level) {
  if (value === null || typeof value !== "object") return html`<span class="j-${value === null ? "null" : typeof value}">${JSON.stringify(value)}</span>`;
  const isArray = Array.isArray(value);
  const entries = Object.entries(value);
  const [first, last] = isArray ? "[]" : "{}";
  if (!entries.length) return first + last;
  return html`<details open=${level < JSON_LEVELS && entries.length <= JSON_ENTRIES}><summary data-count=${entries.length}>${first}</summary><div>${entries.map(([key, inner], at) => html`<div>
    ${!isArray && html`<span class="j-key">${JSON.stringify(key)}</span>: `}${json(inner, level + 1)}${at < entries.length - 1 && ","}</div>`)}</div>${last}</details>`;
}
