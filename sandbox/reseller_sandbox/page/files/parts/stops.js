// The visible points of a world's past, in order of time.

import { ask } from "./api.js";
import { instant } from "./words.js";

const MOST = 500;

/** Return the stops of a world from its beginning to the present, each with its point and its words. */
export async function stopsOf(world) {
  const { events } = await ask("events.find", { limit: MOST }, { world });
  const stops = [{ point: "start", words: "the beginning" }];
  let between = [];
  for (const { kind, name, at, effect, registry_event } of events) {
    if (kind !== "request") {
      between.push(`${name}${registry_event ? ` ${registry_event.subject}` : ""}`);
      continue;
    }
    const { request, domains, outcome } = effect;
    if (between.length) stops.push({ point: `before:${request}`, at, words: `before ${request}: after ${few(between)}` });
    between = [];
    const said = [request, name, ...domains.slice(0, 2), outcome === "ok" ? "" : outcome].filter(Boolean).join(" ");
    stops.push({ point: `after:${request}`, at, words: said, isBad: outcome !== "ok" });
  }
  stops.push({ point: "", words: "the present" });
  return stops;
}

/** Return the index of a point among the stops. The point before a request is after the previous request. */
export function placeOf(stops, point) {
  const at = stops.findIndex((stop) => stop.point === point);
  if (at >= 0 || !point?.startsWith("before:")) return at;
  return stops.findIndex((stop) => stop.point === point.replace("before:", "after:")) - 1;
}

/** Return a stop as one line of text. */
export const labelOf = (stop) => stop && [stop.words, stop.at && instant(stop.at)].filter(Boolean).join(" · ");

const few = (names) => (names.length > 2 ? `${names[0]} and ${names.length - 1} more` : names.join(" and "));
