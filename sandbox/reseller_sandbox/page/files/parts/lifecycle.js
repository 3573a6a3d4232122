// The lifecycle of a name as a picture: stages in a line, requests above it, timed events below.

import { svg } from "./dom.js";

// The distance between stages, and the height of an arc per stage that it passes.
const APART = 150, RISE = 40;

// The half size of a stage's box.
const WIDE = 62, HIGH = 24;

let loaded;

/** Return the stages and their transitions, as the sandbox declares them. */
export const life = () => (loaded ??= fetch(new URL("../lifecycle.json", import.meta.url)).then((answer) => answer.json())
  .catch((problem) => { // the next call loads it again
    loaded = undefined;
    throw problem;
  }));

/** Return the picture, with `stage` highlighted and its transitions described in words. */
export function picture({ stages, ways }, stage) {
  const x = (name, outside) => APART / 2 + APART * (name === null ? outside : stages.indexOf(name) + 1);
  const last = stages.length + 1;
  const from = stages.includes(stage) ? stage : null;
  const arcs = ways
    .map((way) => ({ ...way, ...arc(x(way.from, 0), x(way.to, last), way.timed ? 1 : -1), isLit: way.from === from }))
    .toSorted((first, second) => first.isLit - second.isLit);
  const heights = arcs.map(({ y }) => y);
  const top = Math.min(...heights) - 24;
  return svg("svg.life", { viewBox: `0 ${top} ${x(null, last) + APART / 2} ${Math.max(...heights) + 24 - top}`, role: "img", "aria-label": `The name is ${stage.replaceAll("_", " ")}` },
    svg("defs", ["tip", "tip-lit"].map((id) => svg(`marker.${id}`, { id, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" },
      svg("path", { d: "M 0 0 L 8 4 L 0 8 z" })))),
    arcs.map((arc) => svg("path.arc", { class: arc.isLit && "lit", d: arc.path, "marker-end": `url(#${arc.isLit ? "tip-lit" : "tip"})` },
      svg("title", [...new Set([arc.label, ...arc.words])].join("; ")))),
    [x(null, 0), x(null, last)].map((cx) => svg("circle.end", { class: stage === "released" && "lit", cx, cy: 0, r: 14 })),
    stages.map((name) => svg("g.box", { class: name === stage && "lit" },
      svg("rect", { x: x(name) - WIDE, y: -HIGH, width: 2 * WIDE, height: 2 * HIGH, rx: 8 }), svg("text", { x: x(name), y: 5 }, name.replaceAll("_", " ")))),
    arcs.filter(({ isLit }) => isLit).map((arc) => svg("text.label", { x: arc.x, y: arc.y + 4 }, arc.label)));
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
