// The lifecycle of a name as a picture: stages in a line, requests above it, timed events below.

import { html } from "./html.js";
import { spaced } from "./words.js";

// The distance between stages, the height of an arc per stage that it passes, and half the size of a stage.
const [APART, RISE, WIDE, HIGH] = [150, 40, 62, 24];

export function Picture({ life: { stages, ways }, stage }) {
  const x = (name, outside) => APART / 2 + APART * (name === null ? outside : stages.indexOf(name) + 1);
  const last = stages.length + 1;
  const from = stages.includes(stage) ? stage : null;
  const arcs = ways
    .map((way) => ({ ...way, ...arc(x(way.from, 0), x(way.to, last), way.timed ? 1 : -1), isLit: way.from === from }))
    .toSorted((first, second) => first.isLit - second.isLit);
  const heights = arcs.map(({ y }) => y);
  const top = Math.min(...heights) - 24;
  return html`<svg class="life" viewBox="0 ${top} ${x(null, last) + APART / 2} ${Math.max(...heights) + 24 - top}" role="img" aria-label="The name is ${spaced(stage)}">
    <marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M 0 0 L 8 4 L 0 8 z" /></marker>
    ${arcs.map((way) => html`<path class="arc ${way.isLit ? "lit" : ""}" d=${way.path} marker-end="url(#tip)"><title>${[...new Set([way.label, ...way.words])].join("; ")}</title></path>`)}
    ${[x(null, 0), x(null, last)].map((cx) => html`<circle class="end ${stage === "released" ? "lit" : ""}" cx=${cx} cy="0" r="14" />`)}
    ${stages.map((name) => html`<g class="box ${name === stage ? "lit" : ""}"><rect x=${x(name) - WIDE} y=${-HIGH} width=${2 * WIDE} height=${2 * HIGH} rx="8" /><text x=${x(name)} y="5">${spaced(name)}</text></g>`)}
    ${arcs.filter(({ isLit }) => isLit).map((way) => html`<text class="label" x=${way.x} y=${way.y + 4}>${way.label}</text>`)}</svg>`;
}

/** Return the arc between two places, above the line (`side` -1) or below. A backward arc is higher. */
function arc(left, right, side) {
  const edge = side * HIGH;
  const isBack = right < left;
  let rise = RISE * Math.abs(right - left) / APART + (isBack ? 60 : 24);
  let [begin, end, out] = isBack ? [left - 16, right + 16, 0] : [left + 16, right - 16, 0];
  if (left === right) {
    [rise, begin, end, out] = [150, left - 20, left + 20, 46];
  }
  const height = edge + side * rise;
  return {
    path: `M ${begin} ${edge} C ${begin - out} ${height}, ${end + out} ${height}, ${end} ${edge}`,
    x: (begin + end) / 2,
    y: edge + side * rise * 0.75,
  };
}
