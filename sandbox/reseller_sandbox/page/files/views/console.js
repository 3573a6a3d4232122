// The console: any operation of any interface, filled in, signed and sent. The response is beside the request.

import { beside, change } from "../parts/address.js";
import { interfaces, prefix, root, signed } from "../parts/api.js";
import { h, render } from "../parts/dom.js";
import { fields, values } from "../parts/form.js";
import { operationsOf } from "../parts/reference.js";
import { View } from "../parts/view.js";
import "../parts/copies.js";
import { json, parsed } from "../parts/words.js";

export default class extends View {
  world = null;

  async show(address, isCurrent) {
    if (this.world !== address.world) {
      this.known = Promise.all(interfaces.map(({ name }) => operationsOf(name, address))).then((all) => all.flat());
      this.known.catch(() => (this.world = null)); // the next address loads it again
      this.world = address.world;
    }
    const [all, { accounts }] = await Promise.all([this.known, this.ask("accounts.list")]);
    if (!isCurrent()) return;
    const account = address.account || accounts[0]?.name || "";
    const wanted = (address.q ?? "").toLowerCase();
    const shown = all.filter((operation) => `${operation.id} ${operation.path} ${operation.summary}`.toLowerCase().includes(wanted));
    const chosen = called(all, address);
    const key = JSON.stringify([chosen?.id, account, address.target, address.body, address.world, address.at]);
    if (key !== this.key) {
      const held = chosen && await this.#held(chosen, account);
      if (!isCurrent()) return;
      Object.assign(this, { key, shown: chosen && this.#request(chosen, account, held, key) });
    }
    this.render(
      h("div.bar", h("h1", "Console"),
        h("input", { type: "search", placeholder: "Search operations", "aria-label": "Search operations", value: address.q ?? "",
          oninput: ({ target }) => change({ q: target.value }, true) }),
        h("label", "as ", h("select", { value: account, onchange: ({ target }) => change({ account: target.value }) },
          accounts.map(({ name }) => h("option", { value: name, selected: name === account }, name))))),
      h("div.console", { class: chosen && "open" },
        h("ol.rows.operations", { "aria-label": "Operations" }, shown.map((operation) => row(operation, chosen, address))),
        this.shown),
      !shown.length && h("p.empty", "No operation matches."));
  }

  // Ignore events, so that they do not change a form that is being filled in.
  news() {}
  missed() {}

  // The name to fill in: the name in the example if it exists, otherwise a name of the account.
  async #held(operation, account) {
    const { example } = operation.path_fields.find(isName) ?? {};
    if (!example || /regist|check|transfer/i.test(operation.id)) return example;
    const [{ names: same }, { names }] = await Promise.all([this.ask("names.list", { like: example, limit: 1 }),
      this.ask("names.list", { account, stage: "active", limit: 1 })]);
    return same.length ? example : names[0]?.name ?? example;
  }

  // Make the form once and keep it during a search, because it is being filled in.
  #request(operation, account, held, key) {
    const { address } = this;
    const again = placed(operation.path, address.target) ?? {};
    const initial = (all) => Object.fromEntries(all.map(({ name, example }) => [name, again[name] ?? (isName({ name }) ? held : example)]));
    const place = h("fieldset.bare", fields(operation.path_fields, initial(operation.path_fields)), fields(operation.query_fields, initial(operation.query_fields)));
    const example = renamed(operation.body?.example, operation.path_fields.find(isName)?.example, held);
    const body = h("textarea.code", { rows: 8, spellcheck: "false", "aria-label": "Body", value: address.body ?? (example ? json(example) : "") });
    const inner = operation.body?.shape?.properties && h("fieldset.bare", { oninput: () => (body.value = json(values(inner))) },
      fields(parts(operation.body.shape), example));
    const answer = h("div.answer", { "aria-live": "polite" });
    return h("section.detail.sides", { key, "aria-label": operation.id }, h("div",
      h("header", h("h2", h("span.tag", operation.method), " ", h("code", operation.path)), h("a.close", { href: beside(address, "console", "", { account }), "aria-label": "Close" }, "×")),
      h("p.quiet", operation.summary),
      h("form", { novalidate: true, onsubmit: async (event) => {
        event.preventDefault();
        await this.#send(operation, account, { ...values(place) }, operation.body ? body.value.trim() : "", answer);
      } },
        place, inner && h("details", h("summary", "Body, field by field"), inner),
        operation.body && h("label.field", h("span.name", "Body"), body),
        h("p.buttons", h("button.do.first", { type: "submit", disabled: Boolean(address.at) }, "Send"),
          address.at && h("span.quiet", "You cannot send requests to the past. Go back to the present first.")))), answer);
  }

  async #send(operation, account, args, body, shown) {
    const { world } = this.address;
    try {
      const target = root.pathname + prefix({ world }) + filled(operation, args);
      const { headers, signed: string } = await signed({ account, target, body }, { world });
      const sent = { ...headers, ...(body ? { "Content-Type": "application/json" } : {}) };
      const asked = fetch(new URL(target, root), { method: operation.method, headers: sent, body: body || undefined, credentials: "omit" });
      render(shown, request(operation.method, target, sent, body), string.length > 0 && stringShown(string), h("p.quiet", "Waiting for the response …"));
      const answer = await asked.then(async (response) => ({ response, text: await response.text() }))
        .catch((problem) => ({ problem }));
      render(shown, request(operation.method, target, sent, body), string.length > 0 && stringShown(string), answered(answer, this.address),
        h("page-copies", { $request: { method: operation.method, target, body, account, where: { world } } }));
    } catch (problem) {
      render(shown, h("p.refusal", { role: "alert" }, problem.message, h("small", problem.remedy)));
    }
  }
}

const isName = ({ name }) => /^domain_?name$/i.test(name);

// The documents name each path of an operation, the journal names the operation once. So compare the paths.
function called(all, { subject, target }) {
  const candidates = all.filter(({ id, own }) => [id, own].includes(subject));
  return candidates.find(({ path }) => placed(path, target)) ?? candidates.find(({ id }) => id === subject) ?? candidates[0];
}

/** Return the path and query parameters of a request to send again, or null if the path does not match. */
function placed(path, target = "") {
  const pattern = path.replace(/[.*+?^$()|[\]\\]/g, "\\$&").replace(/\{(\w+)\}/g, "(?<$1>[^/]+)");
  const [targetPath, query] = target.split("?");
  const match = targetPath.match(new RegExp(`^${pattern}$`, "i"));
  const words = Object.entries(match?.groups ?? {}).map(([name, word]) => [name, decodeURIComponent(word)]);
  return match && { ...Object.fromEntries(new URLSearchParams(query)), ...Object.fromEntries(words) };
}

/** Return the example with its name replaced everywhere. */
const renamed = (example, from, to) => (example && from ? JSON.parse(JSON.stringify(example, (_, value) => (value === from ? to : value))) : example);

// A path with line break opportunities before its slashes.
const broken = (path) => path.split(/(?=\/)/).map((part) => [h("wbr"), part]);

const row = (operation, chosen, { world, at, account, q }) => h("li", { key: operation.id, "data-row": operation.id, "aria-current": String(operation === chosen) },
  h("a", { href: beside({ world, at }, "console", operation.id, { account, q }) },
    h("span.id", operation.interfaceName), h("span.status", operation.method), h("span.operation", broken(operation.path)), h("span.about.quiet", operation.summary)));

const parts = ({ properties, required = [] }) => Object.entries(properties)
  .map(([name, shape]) => ({ name, shape, required: false, about: shape.description, isNeeded: required.includes(name) }));

/** Return the path and query of a request with its parameters filled in. */
function filled(operation, args) {
  const path = operation.path.slice(1).replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(args[name] ?? ""));
  const query = new URLSearchParams(operation.query_fields.filter(({ name }) => args[name] !== undefined).map(({ name }) => [name, args[name]]));
  return path + (query.size ? `?${query}` : "");
}

const request = (method, target, headers, body) => h("section", h("h3", "Request, as sent"),
  h("pre", { tabindex: 0 }, [`${method} ${target} HTTP/1.1`, `Host: ${root.host}`, ...lines(headers)].join("\n") + (body ? `\n\n${body}` : "")));

const stringShown = ([key, where, body]) => h("section", h("h3", "Signed string: key, URL and body, with nothing between them"),
  h("pre.string", { tabindex: 0 }, h("mark.key", { title: "API key" }, key), h("mark.url", { title: "URL" }, where), body && h("mark.body", { title: "body" }, body)));

function answered({ response, text, problem }, where) {
  if (problem) return h("section", h("h3", "Response"), h("p.refusal", "The response is incomplete: the connection broke.", h("small", problem.message)));
  const id = response.headers.get("X-Sandbox-Request");
  return h("section", { key: "answer" }, h("h3", "Response ", id && h("a", { href: beside(where, "journal", id) }, id)),
    h("pre", { tabindex: 0 }, h("b.status", { class: response.ok ? "ok" : "bad" }, `${response.status} ${response.statusText}`), "\n",
      lines(Object.fromEntries(response.headers)).join("\n"), text && `\n\n${json(parsed(text))}`));
}

const lines = (headers) => Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
