// A request as code to send it again: a signed command, or a program in PHP, Node or Python.

import { copied } from "./action.js";
import { root, signed } from "./api.js";
import { literal, shell } from "./interfaces.js";
import { h, render } from "./dom.js";

class Copies extends HTMLElement {
  /** The request: `method`, `target`, `body`, `account`, the address of its view. */
  set request(value) {
    if (JSON.stringify(this.value) === JSON.stringify(value)) return;
    this.value = value;
    const ways = h("div");
    this.replaceChildren(h("details", { ontoggle: async ({ target }) => target.open && render(ways, await lines(value)) },
      h("summary", "Copy as… command, curl, PHP, Node, Python"), ways));
  }
}

customElements.define("page-copies", Copies);

async function lines({ method, target, body, account, where }) {
  const text = body === null || body === "" ? "" : typeof body === "string" ? body : JSON.stringify(body);
  const { headers } = account
    ? await signed({ account, target, body: text }, where) : { headers: {} };
  if (text) headers["Content-Type"] = "application/json";
  const url = new URL(target, root).href;
  const python = (client, content) =>
    `${client}.request(${[literal(method), literal(url), `headers=${literal(headers)}`, ...(text ? [`${content}=${literal(text)}`] : [])].join(", ")})`;
  const said = Object.entries(headers).map(([name, value]) => `-H ${shell(`${name}: ${value}`)}`);
  return Object.entries({
    Shell: ["reseller-sandbox request", method, shell(target), ...(text ? [shell(text)] : []), ...(account ? ["--account", shell(account)] : [])].join(" "),
    curl: ["curl", "-X", method, shell(url), ...said, ...(text ? ["--data", shell(text)] : [])].join(" "),
    PHP: `echo file_get_contents(${php(url)}, false, stream_context_create(${php({ http: {
      method, header: Object.entries(headers).map(([name, value]) => `${name}: ${value}`), ...(text ? { content: text } : {}), ignore_errors: true } })}));`,
    Node: `console.log(await (await fetch(${JSON.stringify(url)}, ${JSON.stringify({ method, headers, ...(text ? { body: text } : {}) })})).text())`,
    httpx: python("httpx", "content"),
    requests: python("requests", "data"),
  }).map(([name, line]) => copied(name, line));
}

/** Return a JSON value in PHP syntax. */
function php(value) {
  if (Array.isArray(value)) return `[${value.map(php).join(", ")}]`;
  if (typeof value === "object") return `[${Object.entries(value).map(([key, item]) => `${php(key)} => ${php(item)}`).join(", ")}]`;
  return typeof value === "string" ? `'${value.replace(/['\\]/g, "\\$&")}'` : String(value);
}
