// Elements that several views share.

import { beside, change, read } from "./address.js";
import { Component, html } from "./html.js";
import { JSON_ENTRIES, JSON_LEVELS, TYPED } from "./limits.js";
import { brief, instant, parsed, plural, spaced } from "./words.js";

export { Component, html };

export const Time = ({ at }) => html`<time datetime=${at}>${instant(at)}</time>`;

/** A link to a record in another view of the same world at the same moment. */
export const Link = ({ to, of: subject, more, children = subject }, { address }) => html`<a href=${beside(address, to, subject, more)}>${children}</a>`;

export const Stage = ({ of: word }) => html`<span class="stage" data-stage=${word}>${spaced(word)}</span>`;

/** The subject of an event: a name with its order, or an account. */
export const Subject = ({ of: { subject, order } }) => (order ? html`<${Link} to="names" of=${subject} />` : html`<b>${subject}</b>`);

/** A word in the colour of its `sort`. */
export const Tag = ({ sort, title, children }) => html`<span class="tag" data-sort=${sort} title=${title}>${children}</span>`;

/** A list of choices: strings, or pairs of a value and its label. `none` is the label of an empty first choice. */
export const Select = ({ label, none, words, value: chosen = "", change: changed }) => html`<select aria-label=${label} value=${chosen} onChange=${({ target }) => changed(target.value)}>
  ${none && html`<option value="">${none}</option>`}
  ${words.map((word) => [word].flat()).map(([value, text = value]) => html`<option key=${value} value=${value} selected=${value === chosen}>${text}</option>`)}</select>`;

// A field that follows the address. It calls `change` when the user commits its value, and a search also after a pause.
class Field extends Component {
  componentDidUpdate(before) {
    const { value = "" } = this.props;
    if (before.value !== value && !this.timer && this.input.value.trim() !== value) this.input.value = value;
  }

  componentWillUnmount() {
    clearTimeout(this.timer);
  }

  take = () => {
    this.timer = clearTimeout(this.timer);
    if (!this.input) return; // the browser reports the last change also after the field is gone
    const word = this.input.value.trim();
    if (word !== (this.props.value ?? "")) this.props.change(word);
  };

  type = () => {
    clearTimeout(this.timer);
    this.timer = setTimeout(this.take, TYPED);
  };

  render({ label, value = "", change: _, type = "text", ...more }) {
    return html`<input type=${type} aria-label=${label} defaultValue=${value} autocomplete="off" spellcheck=${false} ...${more} ref=${(input) => (this.input = input)}
      onChange=${this.take} ...${type === "search" && { onInput: this.type }} />`;
  }
}

/** A field, or with `words` a list of choices, for a word of the address. A new value leads to the first page.
 * While the user types, the browser's history gets one entry. */
export const Filter = ({ of: key, ...more }, { address }) => html`<${more.words ? Select : Field} value=${address[key]} ...${more}
  change=${(value) => change({ start: "", before: "", [key]: value }, more.type === "search" && Boolean(read()[key]))} />`;

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

export const Pairs = ({ of: all }) => html`<dl class="pairs">${Object.entries(all).map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`;

export const Copied = ({ name, text }) => html`<div class="copied"><span>${name}</span><code tabindex="0">${text}</code><${Copy} name=${name} text=${text} /></div>`;

export const Scroll = ({ label, children }) => html`<div class="scroll" tabindex="0" role="region" aria-label=${label}>${children}</div>`;

export const Table = ({ label, heads, caption, children }) => html`<${Scroll} label=${label}><table class="grid">${caption && html`<caption>${caption}</caption>`}
  <thead><tr>${heads.map((head) => [head].flat()).map(([head, sort]) => html`<th scope="col" class=${sort}>${head}</th>`)}</tr></thead><tbody>${children}</tbody></table><//>`;

export const Part = ({ title, children }) => html`<section class="part"><h2>${title}</h2>${children}</section>`;

/** A list of records, each drawn by `item`, or a sentence if there are `none`. */
export const Items = ({ of: records, none, sort = "lines", item }) => (records.length
  ? html`<ul class="plain ${sort}">${records.map(item)}</ul>` : html`<p class="quiet">${none}</p>`);

export const Difference = ({ of: { total, changes, settings } }) => html`<p class="quiet">${total + settings.length
  ? `${plural(total, "record")} and ${plural(settings.length, "setting")} differ${total > changes.length ? `, ${changes.length} are shown` : ""}` : "No differences"}.</p><${Changes} of=${[...settings, ...changes]} />`;

export const Changes = ({ of: records }) => html`<table class="changes">${records.map(({ table, key, change: kind, fields, name, before, after }) => html`<tbody>
  <tr><th colspan="3" scope="rowgroup">${table ? html`<b>${table}</b> ${said(key)} ${name && name !== key && name} <${Tag}>${kind}<//>` : html`<b>${name}</b>`}</th></tr>
  ${(fields ? Object.entries(fields) : [[name, { before, after }]]).map(([field, value]) => html`<tr>
    <td>${table && field}</td><td class="before">${said(isPair(value) ? value.before : undefined)}</td><td class="after">${said(isPair(value) ? value.after : value)}</td></tr>`)}</tbody>`)}</table>`;

const isPair = (value) => value && typeof value === "object" && ("before" in value || "after" in value);
const said = (value) => (value === undefined || value === null ? "" : brief(value));

export const Text = ({ name, sort = "", text, children = text }) => html`<div class="body"><${Copy} name=${name} text=${text} /><pre class=${sort} tabindex="0">${children}</pre></div>`;

/** A body: JSON in colours, whose objects and arrays fold, or any other text. */
export const Body = ({ of: body, cut, name = "Body" }) => {
  if (body === null || body === "" || body === undefined) return html`<p class="quiet">no body</p>`;
  const value = typeof body === "string" ? parsed(body) : body;
  const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
  return html`<${Text} name=${name} sort="json" text=${text}>${typeof value === "string" ? value : json(value, 0)}<//>
    ${cut && html`<p class="quiet">The journal cut the body: it has ${cut} bytes.</p>`}`;
};

// A JSON value, and the text `after` it.
function json(value, level, after = "") {
  const isArray = Array.isArray(value);
  const entries = value && typeof value === "object" ? Object.entries(value) : [];
  if (!entries.length) return html`<span class="j-${value === null ? "null" : typeof value}">${JSON.stringify(value)}</span>${after}`;
  const [first, last] = isArray ? "[]" : "{}";
  return html`<details open=${level < JSON_LEVELS && entries.length <= JSON_ENTRIES}><summary data-count=${entries.length}>${first}</summary><div>${entries.map(([key, inner], at) => html`<div>
    ${!isArray && html`<span class="j-key">${JSON.stringify(key)}</span>: `}${json(inner, level + 1, at < entries.length - 1 ? "," : "")}</div>`)}</div>${last}${after}</details>`;
}
