// The life of a name as a picture: its stages in a line, what requests do above it, what time does below.

import { svg } from "./dom.js";

let told;

/** Return where the stages stand and which ways lead between them, as the sandbox declares it. */
export const life = () => (told ??= fetch(new URL("../lifecycle.json", import.meta.url)).then((answer) => answer.json())
  .catch((problem) => { // it is asked for again
    told = undefined;
    throw problem;
  }));

/** Return the picture, with `stage` lit and the ways that lead on from there told in words. */
export function picture({ boxes, arcs, ends, width, top, height, wide, high }, stage) {
  const [begin, end] = ends;
  const at = boxes.find(([name]) => name === stage)?.[1] ?? begin;
  const leaves = ({ path }) => Math.abs(parseFloat(path.slice(2)) - at) <= 20;
  const ways = arcs.toSorted((one, other) => leaves(one) - leaves(other));
  return svg("svg.life", { viewBox: `0 ${top} ${width} ${height}`, role: "img", "aria-label": `The name is ${stage.replaceAll("_", " ")}` },
    svg("defs", ["tip", "tip-lit"].map((id) => svg(`marker.${id}`, { id, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" },
      svg("path", { d: "M 0 0 L 8 4 L 0 8 z" })))),
    ways.map((arc) => svg("path.arc", { class: leaves(arc) && "lit", d: arc.path, "marker-end": `url(#${leaves(arc) ? "tip-lit" : "tip"})` },
      svg("title", [...new Set([arc.label, ...arc.words])].join("; ")))),
    [begin, end].map((x) => svg("circle.end", { class: stage === "released" && "lit", cx: x, cy: 0, r: 14 })),
    boxes.map(([name, x]) => svg("g.box", { class: name === stage && "lit" },
      svg("rect", { x: x - wide, y: -high, width: 2 * wide, height: 2 * high, rx: 8 }), svg("text", { x, y: 5 }, name.replaceAll("_", " ")))),
    ways.filter(leaves).map((arc) => svg("text.label", { x: arc.x, y: arc.y + 4 }, arc.label)));
}
