// A request as code to send it again: a signed command, or a program in PHP, Node or Python.

import { copied } from "./api.js";
import { Component, html } from "./html.js";
import { Copied } from "./pieces.js";
import { Problem } from "./view.js";

/** A list to open, with the request in each language: `method`, `target`, `body`, `account`. `where` is its address. */
export class CopyAs extends Component {
  open = async ({ currentTarget }) => {
    const { method, target, body, account, where } = this.props;
    const text = !body || typeof body === "string" ? body || "" : JSON.stringify(body);
    if (currentTarget.open) this.setState(await copied({ method, target, body: text, account: account ?? "" }, where).catch((problem) => ({ problem })));
  };

  render(_, { copies = {}, problem }) {
    return html`<details onToggle=${this.open}><summary>Copy as… command, curl, HTTPie, PHP, Node, Python</summary>
      ${problem && html`<${Problem} of=${problem} />`}${Object.entries(copies).map(([name, text]) => html`<${Copied} key=${name} name=${name} text=${text} />`)}</details>`;
  }
}
