import { html, render } from "./html.js";

/**
 * Open a dialog, if none is open. `draw` gets the function that closes it, and returns its content.
 *
 * @param {string} label
 * @param {Function} draw
 * @param {{ isFixed?: boolean, onClose?: Function }} [options]
 */
export function dialog(label, draw, { isFixed = false, onClose = () => {} } = {}) {
  if (document.querySelector("dialog[open]")) return;
  const place = document.createElement("div");
  const close = () => place.querySelector("dialog").close();
  const ended = () => {
    render(null, place);
    place.remove();
    onClose();
  };
  document.body.append(place);
  render(html`<dialog class="sheet" aria-label=${label} onClose=${ended} onCancel=${(event) => isFixed && event.preventDefault()}>${draw(close)}</dialog>`, place);
  place.querySelector("dialog").showModal();
}
