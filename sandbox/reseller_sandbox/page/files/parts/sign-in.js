import { signIn as send } from "./api.js";
import { dialog } from "./dialog.js";
import { Component, html } from "./html.js";
import { Problem } from "./view.js";

/** Ask for the server's control token until it is correct. The browser then has a cookie. */
export const signIn = () => new Promise((done) =>
  dialog("Control token", (close) => html`<${Token} close=${close} />`, { isFixed: true, onClose: done }));

class Token extends Component {
  send = async (event) => {
    event.preventDefault();
    const { token } = event.target.elements;
    try {
      await send(token.value);
      this.props.close();
    } catch (problem) {
      this.setState({ problem });
      token.select();
    }
  };

  render(_, { problem }) {
    return html`<form onSubmit=${this.send}>
      <h2>Control token</h2>
      <p class="about">This server was started with a control token (--control-token). Enter the token once in this browser.</p>
      <label class="field"><span class="name">Token</span><input type="password" name="token" autocomplete="current-password" required /></label>
      ${problem && html`<${Problem} of=${problem} />`}
      <p class="buttons"><button class="do first" type="submit">Sign in</button></p>
    </form>`;
  }
}
