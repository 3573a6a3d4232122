// Requests of programs and operations of the page as code: commands, and programs in several languages.

import { copied } from "./api.js";
import { Component, Copied, html } from "./pieces.js";
import { Problem } from "./view.js";

export const Copies = ({ of: copies }) => Object.entries(copies).map(([name, text]) => html`<${Copied} key=${name} name=${name} text=${text} />`);

/** A list to open, with the request `method`, `target`, `body` of an `account` in each language. */
export class CopyAs extends Component {
  open = async ({ currentTarget }) => {
    const { method, target, body, account, where } = this.props;
    const text = !body || typeof body === "string" ? body || "" : JSON.stringify(body);
    if (currentTarget.open) this.setState(await copied({ method, target, body: text, account: account ?? "" }, where).catch((problem) => ({ problem })));
  };

  render(_, { copies = {}, problem }) {
    return html`<details onToggle=${this.open}><summary>Copy as… command, curl, HTTPie, PHP, Node, Python</summary>
      ${problem && html`<${Problem} of=${problem} />`}<${Copies} of=${copies} /></details>`;
  }
}
