// A request to be sent again from elsewhere: by the command, curl, httpx and requests, signed as it has to be.

import { copied } from "./action.js";
import { root, signed } from "./api.js";
import { literal, shell } from "./doors.js";
import { h, render } from "./dom.js";

class Copies extends HTMLElement {
  /** What is shown: `method`, `target` and `body` of a request, its `account`, and the address it is seen at. */
  set request(one) {
    if (JSON.stringify(this.one) === JSON.stringify(one)) return;
    this.one = one;
    const ways = h("div");
    this.replaceChildren(h("details", { ontoggle: async ({ target }) => target.open && render(ways, await lines(one)) },
      h("summary", "Send it again from elsewhere: command, curl, httpx, requests"), ways));
  }
}

customElements.define("page-copies", Copies);

async function lines({ method, target, body, account, where }) {
  const text = body === null || body === "" ? "" : typeof body === "string" ? body : JSON.stringify(body);
  const { headers } = account
    ? await signed({ account, interface: /^(\/_worlds\/[^/]+)?\/v3\//.test(target) ? "v3" : "v2", target, body: text }, where) : { headers: {} };
  if (text) headers["Content-Type"] = "application/json";
  const url = new URL(target, root).href;
  const python = (client, content) =>
    `${client}.request(${[literal(method), literal(url), `headers=${literal(headers)}`, ...(text ? [`${content}=${literal(text)}`] : [])].join(", ")})`;
  const said = Object.entries(headers).map(([name, value]) => `-H ${shell(`${name}: ${value}`)}`);
  return Object.entries({
    Shell: ["reseller-sandbox request", method, shell(target), ...(text ? [shell(text)] : []), ...(account ? ["--account", shell(account)] : [])].join(" "),
    curl: ["curl", "-X", method, shell(url), ...said, ...(text ? ["--data", shell(text)] : [])].join(" "),
    httpx: python("httpx", "content"),
    requests: python("requests", "data"),
  }).map(([name, line]) => copied(name, line));
}
