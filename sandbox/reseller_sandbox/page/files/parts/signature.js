import { html, Text } from "./pieces.js";

const PARTS = { key: "API key", url: "URL", body: "body" };

/** The explanation of a wrong signature: the mistake, the string to sign, and other accepted strings. */
export function Signature({ refusal: { facts: { explanation, diagnosis: { place, signed, expected, accepted } } } }) {
  return html`<p><b>The mistake:</b> ${explanation}</p>
    ${signed !== null && place in { ...PARTS, parts: 1 } && html`<h3>The client signed</h3><${Text} name="Signed string" sort="string" text=${signed} />`}
    <h3>The string to sign: API key, URL and body, with nothing between them</h3><${Parts} of=${expected} wrong=${place} />
    <p class="quiet">${Object.entries(PARTS).map(([name, words]) => html`<span class="string"><mark class=${name}>${words}</mark></span> `)} · accepted by <code>${expected.settings}</code></p>
    ${accepted.length > 1 && html`<details><summary>Show all ${accepted.length} strings that are accepted</summary>
      ${accepted.map((parts) => html`<p class="quiet"><code>${parts.settings}</code></p><${Parts} of=${parts} />`)}</details>`}`;
}

/** A string to sign, with its parts in colours and the `wrong` one marked. */
export const Parts = ({ of: parts, wrong }) => html`<${Text} name="String to sign" sort="string" text=${Object.keys(PARTS).map((name) => parts[name]).join("")}>
  ${Object.entries(PARTS).map(([name, words]) => html`<mark class="${name} ${wrong === name ? "wrong" : ""}" title=${wrong === name ? `${words}: the mistake is here` : words}>${parts[name]}</mark>`)}<//>`;
