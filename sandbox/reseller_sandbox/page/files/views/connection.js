// A banner while the server does not answer.

import { Component, html } from "../parts/html.js";
import { connection, onEvents, retry } from "../parts/live.js";

export class Connection extends Component {
  componentDidMount() {
    this.stop = onEvents({ connection: () => this.#tick() });
  }

  componentWillUnmount() {
    this.stop();
  }

  #tick() {
    clearTimeout(this.timer);
    if (connection.isLost) this.timer = setTimeout(() => this.#tick(), 500);
    document.body.classList.toggle("lost", connection.isLost);
    this.setState({});
  }

  render() {
    if (!connection.isLost) return null;
    const seconds = Math.max(0, Math.ceil((connection.until - Date.now()) / 1000));
    return html`<p class="banner">The server does not answer. The page shows the last known state.${" "}
      <span class="quiet" aria-live="off">Next attempt in ${seconds} s.</span> <button type="button" onClick=${retry}>Try now</button></p>`;
  }
}
