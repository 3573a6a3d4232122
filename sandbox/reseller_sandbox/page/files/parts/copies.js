// A request as code to send it again: a signed command, or a program in PHP, Node or Python.

import { root, signed } from "./api.js";
import { Component, html } from "./html.js";
import { literal, shell } from "./interfaces.js";
import { Copied } from "./pieces.js";
import { Problem } from "./view.js";

/** A list to open, with the request in each language: `method`, `target`, `body`, `account`, the address of its view. */
export class CopyAs extends Component {
  open = async ({ currentTarget }) => {
    if (!currentTarget.open) return;
    this.setState(await lines(this.props.request).then((all) => ({ all }), (problem) => ({ problem })));
  };

  render(_, { all, problem }) {
    return html`<details class="copies" onToggle=${this.open}><summary>Copy as… command, curl, HTTPie, PHP, Node, Python</summary>
      ${problem && html`<${Problem} of=${problem} />`}${all?.map(([name, text]) => html`<${Copied} key=${name} name=${name} text=${text} />`)}</details>`;
  }
}

async function lines({ method, target, body, account, where }) {
  const text = body === null || body === "" ? "" : typeof body === "string" ? body : JSON.stringify(body);
  const { headers } = account
    ? await signed({ account, target, body: text }, where) : { headers: {} };
  if (text) headers["Content-Type"] = "application/json";
  const url = new URL(target, root).href;
  const python = (client, content) =>
    `${client}.request(${[literal(method), literal(url), `headers=${literal(headers)}`, ...(text ? [`${content}=${literal(text)}`] : [])].join(", ")})`;
  const pairs = Object.entries(headers);
  return Object.entries({
    Shell: ["reseller-sandbox request", method, shell(target), ...(text ? [shell(text)] : []), ...(account ? ["--account", shell(account)] : [])].join(" "),
    curl: ["curl", "-X", method, shell(url), ...pairs.map(([name, value]) => `-H ${shell(`${name}: ${value}`)}`), ...(text ? ["--data", shell(text)] : [])].join(" "),
    HTTPie: ["http", method, shell(url), ...pairs.map(([name, value]) => shell(`${name}:${value}`)), ...(text ? ["--raw", shell(text)] : [])].join(" "),
    PHP: `echo file_get_contents(${php(url)}, false, stream_context_create(${php({ http: {
      method, header: pairs.map(([name, value]) => `${name}: ${value}`), ...(text ? { content: text } : {}), ignore_errors: true } })}));`,
    Node: `console.log(await (await fetch(${JSON.stringify(url)}, ${JSON.stringify({ method, headers, ...(text ? { body: text } : {}) })})).text())`,
    httpx: python("httpx", "content"),
    requests: python("requests", "data"),
  });
}

/** Return a JSON value in PHP syntax. */
function php(value) {
  if (Array.isArray(value)) return `[${value.map(php).join(", ")}]`;
  if (typeof value === "object") return `[${Object.entries(value).map(([key, item]) => `${php(key)} => ${php(item)}`).join(", ")}]`;
  return typeof value === "string" ? `'${value.replace(/['\\]/g, "\\$&")}'` : String(value);
}
