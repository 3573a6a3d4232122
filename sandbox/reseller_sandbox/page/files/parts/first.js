// Shown before the first request: the address and the credentials for a program.

import { beside } from "./address.js";
import { prefix, root } from "./api.js";
import "./copies.js";
import { h } from "./dom.js";

const COLUMNS = { name: "Account", client_id: "Client id", key: "v3 key", secret: "v3 secret", token: "v2.0 token", balance: "Balance" };

/** Return the address and the credentials of the world at an address, with examples of a first request. */
export const first = (where, accounts) => h("section.part.first",
  h("p", "Your program finds this sandbox at ", h("code", (root.href + prefix(where)).slice(0, -1)), accounts.length > 0 && ", with the credentials of an account:"),
  accounts.length > 0 && [
    h("div.scroll", { tabindex: 0, role: "region", "aria-label": "Accounts" }, h("table.grid",
      h("thead", h("tr", Object.values(COLUMNS).map((word) => h("th", { scope: "col" }, word)))),
      h("tbody", accounts.map((account) => h("tr", Object.keys(COLUMNS).map((key) => h("td.code", key === "balance" ? `${account.balance} ${account.currency}` : String(account[key])))))))),
    h("p.buttons", h("a.do.first", { href: beside(where, "console", "v3.balance") }, "Send a first request")),
    h("page-copies", { $request: { method: "GET", target: `${root.pathname}${prefix(where)}v3/balance`, body: "", account: accounts[0].name, where } }),
  ]);
