import { beside } from "./address.js";
import { interfaces, prefix, root } from "./api.js";
import { CopyAs } from "./copies.js";
import { html, Table } from "./pieces.js";

const columns = () => ({ name: "Account", client_id: "Client id", ...Object.assign({}, ...interfaces.map(({ credentials }) => credentials)), balance: "Balance" });
const example = () => interfaces.find(({ example }) => example).example;

/** Shown before the first request: the address and the credentials for a program, and an example. */
export const First = ({ where, accounts }) => html`<section class="part first">
  <p>Your program finds this sandbox at <code>${(root.href + prefix(where)).slice(0, -1)}</code>${accounts.length > 0 && ", with the credentials of an account:"}</p>
  ${accounts.length > 0 && html`<${Table} label="Accounts" heads=${Object.values(columns())}>${accounts.map((account) => html`<tr key=${account.name}>
      ${Object.keys(columns()).map((key) => html`<td class="code">${key === "balance" ? `${account.balance} ${account.currency}` : account[key]}</td>`)}</tr>`)}<//>
    <p class="buttons"><a class="do first" href=${beside(where, "console", example().operation)}>Send a first request</a></p>
    <${CopyAs} method="GET" target="${root.pathname}${prefix(where)}${example().path.slice(1)}" account=${accounts[0].name} where=${where} />`}</section>`;
