// A graph of the world's history: the present line and the branches, with the advances of the clock.

import { write } from "./address.js";
import { ask } from "./api.js";
import { html } from "./html.js";
import { DRAWN } from "./limits.js";
import { span } from "./words.js";

const [RIGHT, ROW, DOT, LETTER] = [970, 30, 3.5, 7];
const LONGEST = 24; // letters of a name
const LONG = 36e5; // milliseconds between two requests that the graph shows as an advance of the clock

/** Return the lines, the present one first, each with its last requests before an event. */
export async function linesOf(world, branches, before) {
  const points = ["", ...branches.map(({ name }) => `branch:${name}`).reverse()];
  const lines = await Promise.all(points.map(async (at) => {
    const [{ events, matching }, { now }] = await Promise.all([
      ask("events.list", { kind: "request", before, limit: DRAWN }, { world, at }), ask("clock.show", {}, { world, at })]);
    const begin = matching - events.length;
    return { point: at, begin, requests: events.map((event, place) => request(event, begin + place + 1)), end: before ? undefined : now };
  }));
  return lines.map((line, at) => ({ ...line, ...forked(line, lines.slice(0, at)) }));
}

const request = ({ at, name, number, effect: { request: id, domains, outcome } }, place) => ({
  id, at, place, words: `${id} ${name} ${domains.join(" ")} ${outcome}`, isBad: outcome !== "ok", key: [at, name, number, id, outcome].join() });

// The line above from which a line branches off, and its own requests.
function forked({ requests }, above) {
  const shared = above.map((other) => {
    const keys = new Set(other.requests.map(({ key }) => key));
    const differs = requests.findIndex(({ key }) => !keys.has(key));
    return differs < 0 ? requests.length : differs;
  });
  const own = Math.max(0, ...shared);
  return { from: shared.indexOf(own), own: requests.slice(own) };
}

/** The graph. Each dot links to the moment after a request. */
export function Graph({ address, lines }) {
  const begin = Math.min(...lines.map((line) => line.begin));
  const count = Math.max(1, ...lines.map((line) => line.begin + line.requests.length - begin));
  const names = lines.map(({ point }) => point.replace("branch:", "") || "present");
  const left = Math.max(70, LETTER * Math.min(LONGEST, Math.max(...names.map((name) => name.length))) + 14);
  const x = (place) => left + ((RIGHT - left) * (place - begin)) / count;
  const y = (row) => 20 + ROW * row;
  const leads = (line, id) => write({ ...address, at: line.point || `after:${id}` });
  return html`<svg class="branches" viewBox="0 0 ${RIGHT + 90} ${y(lines.length - 1) + 16}" role="group" aria-label="The history of this world and its branches">
    ${lines.map((line, row) => html`<g class=${line.point ? "" : "present"}>
      <path d=${way(line, row, x, y, begin)} />
      ${labelled(advances(line), x).map(([from, to, words, isShown]) => html`<g class="advance"><path d="M ${x(from) + 5} ${y(row)} H ${Math.max(x(from) + 9, x(to) - 5)}"><title>The clock moves by ${words}</title></path>
        ${isShown && html`<text x=${(x(from) + x(to)) / 2} y=${y(row) - 7}>${words}</text>`}</g>`)}
      <text x="0" y=${y(row) + 4}>${shortened(names[row])}<title>${names[row]}</title></text>
      ${line.own.map(({ id, place, words, isBad }) => html`<a href=${leads(line, id)} aria-label=${words}>
        <circle class="${isBad ? "refused" : ""} ${address.at === `after:${id}` ? "chosen" : ""}" cx=${x(place)} cy=${y(row)} r=${DOT} /><title>${words}</title></a>`)}</g>`)}</svg>`;
}

const shortened = (name) => (name.length > LONGEST ? `${name.slice(0, LONGEST - 1)}…` : name);

// Whether there is room for the label of an advance, behind the label before it.
function labelled(all, x) {
  let end = 0;
  return all.map(([from, to, words]) => {
    const [middle, half] = [(x(from) + x(to)) / 2, (LETTER * words.length) / 2];
    const isShown = middle - half > end;
    if (isShown) end = middle + half;
    return [from, to, words, isShown];
  });
}

function advances({ own, requests, end }) {
  const first = requests.indexOf(own[0]);
  const stops = [...requests.slice(Math.max(0, first - 1)), ...(end ? [{ at: end, place: (requests.at(-1)?.place ?? 0) + 0.9 }] : [])];
  return stops.slice(1).map((stop, at) => [stops[at], stop])
    .filter(([from, to]) => Date.parse(to.at) - Date.parse(from.at) >= LONG)
    .map(([from, to]) => [from.place, to.place, span(from.at, to.at)]);
}

function way({ own, requests, from, point }, row, x, y, begin) {
  const end = x(requests.at(-1)?.place ?? begin);
  if (!point) return `M ${x(begin)} ${y(0)} H ${Math.max(end, x(begin) + 4)}`;
  const start = x((own[0]?.place ?? requests.at(-1)?.place ?? begin) - (own.length ? 1 : 0));
  return `M ${start} ${y(Math.max(from, 0))} C ${start} ${y(row)}, ${start} ${y(row)}, ${start + 14} ${y(row)} H ${Math.max(end, start + 14)}`;
}
