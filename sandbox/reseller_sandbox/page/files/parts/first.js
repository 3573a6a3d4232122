// Shown before the first request: the address and the credentials for a program.

import { beside } from "./address.js";
import { interfaces, prefix, root } from "./api.js";
import "./copies.js";
import { h } from "./dom.js";

const columns = () => ({ name: "Account", client_id: "Client id", ...Object.assign({}, ...interfaces.map(({ credentials }) => credentials)), balance: "Balance" });
const example = () => interfaces.find(({ example }) => example).example;

/** Return the address and the credentials of the world at an address, with examples of a first request. */
export const first = (where, accounts) => h("section.part.first",
  h("p", "Your program finds this sandbox at ", h("code", (root.href + prefix(where)).slice(0, -1)), accounts.length > 0 && ", with the credentials of an account:"),
  accounts.length > 0 && [
    h("div.scroll", { tabindex: 0, role: "region", "aria-label": "Accounts" }, h("table.grid",
      h("thead", h("tr", Object.values(columns()).map((word) => h("th", { scope: "col" }, word)))),
      h("tbody", accounts.map((account) => h("tr", Object.keys(columns()).map((key) => h("td.code", key === "balance" ? `${account.balance} ${account.currency}` : String(account[key])))))))),
    h("p.buttons", h("a.do.first", { href: beside(where, "console", example().operation) }, "Send a first request")),
    h("page-copies", { $request: { method: "GET", target: `${root.pathname}${prefix(where)}${example().path.slice(1)}`, body: "", account: accounts[0].name, where } }),
  ]);
