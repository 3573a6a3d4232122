// Points of a world's past: the beginning, the moment after each request in the journal, and the present.

import { ask } from "./api.js";

/** Return the numbers of the first and the last request that the journal of a world has. */
export async function reachOf(world) {
  const { first, last } = await ask("journal.find", { limit: 0 }, { world });
  return first ? { first: numberOf(first), last: numberOf(last) } : { first: 1, last: 0 };
}

const numberOf = (id) => Number(id.slice(1));

/** Return the point at a place of the slider. The first place is the beginning, the last one the present. */
export const pointAt = ({ first, last }, place) => (place === 0 ? "start" : first + place - 1 > last ? "" : `after:r${first + place - 1}`);

/** Return the place of a point on the slider. The point before a request is after the previous request. */
export function placeOf({ first, last }, point) {
  const [side, id] = (point ?? "").split(":");
  if (side === "start") return 0;
  const number = /^r\d+$/.test(id ?? "") ? numberOf(id) : last + 1;
  return Math.max(0, Math.min(number - first + (side === "before" ? 0 : 1), last - first + 2));
}

/** Return a point in words. The request of the point is optional. */
export function wordsOf(point, request) {
  if (!point) return "the present";
  if (point === "start") return "the beginning";
  const [side, name] = point.split(":");
  if (!request) return `${side} ${name}`;
  const { id, operation, domains, outcome } = request;
  return [side === "before" && "before", id, operation, ...domains.slice(0, 2), outcome !== "ok" && outcome].filter(Boolean).join(" ");
}

/** Return the action that reverses a rewind, from its response. */
export const undo = ({ branch }) => branch && { operation: "branches.switch", args: { name: branch.name },
  says: () => "The world is as it was before." };
