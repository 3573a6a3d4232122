import { beside } from "../parts/address.js";
import { ask, declared, prefix, root, signed } from "../parts/api.js";
import { CopyAs } from "../parts/copies.js";
import { FailNext } from "../parts/fault-form.js";
import { fixOf } from "../parts/fix.js";
import { fields, parts, put, valueOf, values } from "../parts/form.js";
import { Body, Component, Filter, html, Link, Text } from "../parts/pieces.js";
import { Parts } from "../parts/signature.js";
import { Problem, View } from "../parts/view.js";
import { brief, json, parsed } from "../parts/words.js";

// Forms as the user left them, so that Back, another account or another view lose nothing.
const drafts = new Map();

export default class extends View {
  async load({ subject, target, fix, world, account: wanted }) {
    const [{ requests: all }, { accounts }, refused] = await Promise.all([declared("../forms"), this.ask("accounts.list"),
      fix && ask("journal.get", { request: fix }, { world }).catch(() => null)]);
    const account = wanted || accounts[0]?.name || "";
    const chosen = subject && called(all, subject, target);
    return { all, accounts, account, chosen, refused, held: chosen && await this.#held(chosen, account) };
  }

  draw({ all, accounts, account, chosen, refused, held }, address) {
    const wanted = (address.q ?? "").toLowerCase();
    const shown = all.filter(({ id, path, summary }) => `${id} ${path} ${summary}`.toLowerCase().includes(wanted));
    const { world, target, body, fix } = address;
    const key = JSON.stringify([chosen?.id, target, body, world, fix]);
    return html`<div class="panes"><div class="bar"><h1>Console</h1>
        <${Filter} of="q" type="search" label="Search operations" placeholder="Search operations" />
        <label>as <${Filter} of="account" label="as" words=${accounts.map(({ name }) => name)} value=${account} /></label></div>
      <div class="split ${chosen ? "open" : ""}">
        <div class="scroller"><ol class="rows operations" aria-label="Operations">${shown.map((operation) => html`<li key=${operation.id} data-row aria-current=${String(operation === chosen)}>
          <a href=${beside(address, "console", operation.id, { account: address.account, q: address.q })}>
            <span class="id">${operation.interface}</span><span class="status">${operation.method}</span><span class="operation">${broken(operation.path)}</span><span class="about quiet">${operation.summary}</span></a></li>`)}</ol>
          ${!shown.length && html`<p class="empty">No operation matches.</p>`}</div>
        ${chosen && html`<${Form} key=${key} draft=${key} operation=${chosen} account=${account} held=${held} refused=${refused} />`}</div></div>`;
  }

  // Ignore events, because nothing here depends on the requests of others.
  news() {}
  missed() {}

  // The name to fill in: the name in the example if it exists, otherwise a name of the account.
  async #held({ id, path_fields: inPath }, account) {
    const { example } = inPath.find(isName) ?? {};
    if (!example || /regist|check|transfer/i.test(id)) return example;
    const [{ total }, { names }] = await Promise.all([this.ask("names.list", { like: example, limit: 1 }),
      this.ask("names.list", { account, stage: "active", limit: 1 })]);
    return total ? example : names[0]?.name ?? example;
  }
}

// One operation. The fields below the body change its text.
class Form extends Component {
  constructor({ draft, operation: { path, body, path_fields: inPath, query_fields: inQuery }, held, refused }, { address }) {
    super();
    const again = placed(path, address.target) ?? {};
    const example = renamed(body?.example, inPath.find(isName)?.example, held);
    const place = Object.fromEntries([...inPath, ...inQuery].map(({ name, example: usual }) => [name, again[name] ?? (isName({ name }) ? held : usual)]));
    this.state = drafts.get(draft) ?? { place, body: address.body ?? (example && !address.target ? json(example) : ""), fix: refused && fixOf(refused) };
  }

  keep(changed) {
    this.setState(changed, () => {
      const { place, body, fix, isFixed } = this.state;
      drafts.set(this.props.draft, { place, body, fix, isFixed });
    });
  }

  // Change one value of the body, and leave the rest of the body as it was typed.
  edit = ({ target }) => {
    const whole = parsed(this.state.body || "{}");
    put(whole, JSON.parse(target.dataset.path), valueOf(target));
    this.keep({ body: json(whole) });
  };

  submit = async (event) => {
    event.preventDefault();
    this.setState({ problem: undefined, answer: undefined, sent: undefined, isBusy: true });
    await this.send(values(event.target.querySelector(".place"))).catch((problem) => this.setState({ problem }));
    this.setState({ isBusy: false });
  };

  async send(args) {
    const { operation, account } = this.props;
    const where = { world: this.context.address.world };
    const { fix, isFixed } = this.state;
    if (fix && !isFixed) {
      await ask(fix.operation, fix.args, where);
      this.keep({ isFixed: true });
    }
    const body = operation.body ? this.state.body.trim() : "";
    const target = root.pathname + prefix(where) + filled(operation, args);
    const { headers, signed: string } = await signed({ account, target, body }, where);
    const sent = { method: operation.method, target, headers: { ...headers, ...(body ? { "Content-Type": "application/json" } : {}) }, string, body };
    this.setState({ sent });
    const answer = await fetch(new URL(target, root), { ...sent, body: body || undefined, credentials: "omit" })
      .then(async (response) => ({ response, text: await response.text() }), (problem) => ({ problem }));
    this.setState({ answer }, () => this.answer.scrollIntoView({ block: "nearest" }));
  }

  render({ operation, account, refused }, { place, body, fix, isFixed, problem, isBusy, sent, answer, isOpen }, { address }) {
    const { method, path, summary, path_fields: inPath, query_fields: inQuery, body: takes } = operation;
    const whole = parsed(body || "{}");
    const isObject = typeof whole === "object" && whole !== null;
    return html`<section class="detail sides" aria-label=${operation.id}><div>
      <header><h2><span class="tag">${method}</span> <code>${path}</code></h2>
        <a class="close" href=${beside(address, "console", "", { account: address.account })} aria-label="Close">×</a></header>
      <p class="quiet">${summary}</p>
      ${refused?.refusal && html`<div class="why"><p><b>${refused.id} was refused:</b> ${refused.refusal.message}</p><p><b>Remedy:</b> ${refused.refusal.allowed}</p>
        ${Object.entries(refused.refusal.correction).map(([name, value]) => html`<p>The request below has <code>${name}</code> ${brief(value)}.</p>`)}
        ${fix && html`<label class="toggle"><input type="checkbox" checked=${!isFixed} onChange=${({ target }) => this.keep({ isFixed: !target.checked })} /> ${fix.words} before sending</label>`}</div>`}
      <form novalidate onSubmit=${this.submit}>
        <fieldset class="bare place" onInput=${({ currentTarget }) => this.keep({ place: values(currentTarget) })}>${fields([...inPath, ...inQuery], place)}</fieldset>
        ${takes && html`<label class="field"><span class="name">Body</span>
          <textarea class="code" rows="8" spellcheck=${false} aria-label="Body" value=${body} onInput=${({ target }) => this.keep({ body: target.value })}></textarea></label>`}
        ${takes?.shape.properties && html`<details onToggle=${({ target, currentTarget }) => target === currentTarget && this.setState({ isOpen: target.open })}><summary>Body, field by field</summary>
          ${isOpen && (isObject ? html`<fieldset class="bare" onInput=${this.edit}>${fields(parts(takes.shape).map((part) => ({ ...part, required: false })), whole)}</fieldset>`
            : html`<p class="quiet">The body is not a JSON object.</p>`)}</details>`}
        <p class="buttons"><button class="do first" type="submit" disabled=${Boolean(address.at) || isBusy}>${fix && !isFixed ? "Fix and send" : "Send"}</button>
          ${!address.at && html`<${FailNext} of=${operation.operation} />`}
          ${address.at && html`<span class="quiet">You cannot send requests to the past. Go back to the present first.</span>`}</p></form></div>
      <div class="answer" aria-live="polite" ref=${(element) => (this.answer = element)}>${problem && html`<${Problem} of=${problem} />`}
        ${sent && html`${answer ? html`<${Answer} of=${answer} />` : html`<p class="quiet">Waiting for the response …</p>`}<${Sent} of=${sent} />
          ${answer && html`<${CopyAs} key=${sent.target + sent.body} ...${sent} account=${account} where=${{ world: address.world }} />`}`}</div></section>`;
  }
}

const isName = ({ name }) => /^domain_?name$/i.test(name);

// The journal has one name for the operation, the documents one for each of its paths. So compare the paths.
function called(all, subject, target) {
  const candidates = all.filter(({ id, operation }) => [id, operation].includes(subject));
  return candidates.find(({ path }) => placed(path, target)) ?? candidates.find(({ id }) => id === subject) ?? candidates[0];
}

// The path and query parameters of a request to send again, or null if its path is another one.
function placed(path, target = "") {
  const pattern = path.replace(/[.*+?^$()|[\]\\]/g, "\\$&").replace(/\{(\w+)\}/g, "(?<$1>[^/]+)");
  const [targetPath, query] = target.split("?");
  const match = targetPath.match(new RegExp(`^${pattern}$`, "i"));
  const words = Object.entries(match?.groups ?? {}).map(([name, word]) => [name, decodeURIComponent(word)]);
  return match && { ...Object.fromEntries(new URLSearchParams(query)), ...Object.fromEntries(words) };
}

const renamed = (example, from, to) => (example && from ? JSON.parse(JSON.stringify(example, (_, value) => (value === from ? to : value))) : example);

// A path with line break opportunities before its slashes.
const broken = (path) => path.split(/(?=\/)/).map((part) => html`<wbr />${part}`);

// The path and query of a request.
function filled({ path, query_fields: inQuery }, args) {
  const query = new URLSearchParams(inQuery.filter(({ name }) => args[name] !== undefined).map(({ name }) => [name, args[name]]));
  return path.slice(1).replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(args[name] ?? "")) + (query.size ? `?${query}` : "");
}

function Sent({ of: { method, target, headers, string: [key, url, payload], body } }) {
  const text = [`${method} ${target} HTTP/1.1`, `Host: ${root.host}`, ...lines(headers)].join("\n") + (body ? `\n\n${body}` : "");
  return html`<section><h3>Request, as sent</h3><${Text} name="Request" text=${text} /></section>
    ${key && html`<section><h3>Signed string: key, URL and body, with nothing between them</h3><${Parts} of=${{ key, url, body: payload }} /></section>`}`;
}

function Answer({ of: { response, text, problem } }) {
  if (problem) return html`<section><h3>Response</h3><p class="refusal">The response is incomplete: the connection broke.<small>${problem.message}</small></p></section>`;
  const id = response.headers.get("X-Sandbox-Request");
  return html`<section><h3>Response ${id && html`<${Link} to="journal" of=${id} />`}</h3>
    <pre tabindex="0"><b class="status ${response.ok ? "ok" : "bad"}">${response.status} ${response.statusText}</b>${"\n"}${lines(Object.fromEntries(response.headers)).join("\n")}</pre>
    <${Body} of=${text} name="Response" /></section>`;
}

const lines = (headers) => Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
