// The history lines of a world as a small graph: the present one and the abandoned branches.

import { ask } from "./api.js";
import { write } from "./address.js";
import { svg } from "./dom.js";

const MOST = 500;
const [LEFT, RIGHT, ROW, DOT] = [70, 970, 26, 3.5];

/** Return the lines, the present one first: their requests, and the index of the first separate request. */
export async function linesOf(world, branches) {
  const points = ["", ...branches.map(({ name }) => `branch:${name}`).reverse()];
  const results = await Promise.all(points.map((at) => ask("events.find", { kind: "request", limit: MOST }, { world, at })));
  const lines = results.map(({ events }, at) => ({ point: points[at], requests: events.map(request) }));
  return lines.map((line, at) => ({ ...line, ...forked(line, lines.slice(0, at)) }));
}

const request = ({ at, name, number, effect }) =>
  ({ id: effect.request, words: `${effect.request} ${name} ${effect.domains.join(" ")} ${effect.outcome}`, isBad: effect.outcome !== "ok", key: [at, name, number, effect.request, effect.outcome].join() });

// The line above from which a line branches off, and the number of requests before that.
function forked(line, above) {
  const shared = above.map(({ requests }) => {
    const differs = line.requests.findIndex((request, at) => requests[at]?.key !== request.key);
    return differs < 0 ? Math.min(line.requests.length, requests.length) : differs;
  });
  const own = Math.max(0, ...shared);
  return { from: shared.indexOf(own), own };
}

/** Return the graph. Each dot links to the moment after a request. */
export function graph(address, lines) {
  const most = Math.max(1, ...lines.map(({ requests }) => requests.length));
  const x = (count) => LEFT + ((RIGHT - LEFT) * count) / most;
  const y = (row) => 16 + ROW * row;
  const leads = (line, id) => write({ ...address, at: line.point ? line.point : `after:${id}` });
  return svg("svg.branches", { viewBox: `0 0 ${RIGHT + 30} ${y(lines.length - 1) + 16}`, role: "group", "aria-label": "The history of this world and its branches" },
    lines.map((line, row) => svg("g", { class: !line.point && "present" },
      svg("path", { d: way(line, row, x, y) }),
      svg("text", { x: 0, y: y(row) + 4 }, line.point.replace("branch:", "") || "present"),
      line.requests.slice(line.own).map((request, at) => svg("a", { href: leads(line, request.id), "aria-label": request.words },
        svg("circle", { class: request.isBad && "refused", cx: x(line.own + at + 1), cy: y(row), r: DOT }), svg("title", request.words))))));
}

function way({ own, requests, from, point }, row, x, y) {
  const end = x(requests.length);
  if (!point) return `M ${x(0)} ${y(0)} H ${Math.max(end, x(0) + 4)}`;
  const begin = x(own);
  return `M ${begin} ${y(Math.max(from, 0))} C ${begin} ${y(row)}, ${begin} ${y(row)}, ${begin + 14} ${y(row)} H ${Math.max(end, begin + 14)}`;
}
