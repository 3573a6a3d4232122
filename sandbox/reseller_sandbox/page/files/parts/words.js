// Values in words: instants, spans, money, JSON.

/** Return an instant as `2026-01-15 12:00:00`, always in UTC. */
export const instant = (text) => (text ? text.replace("T", " ").replace(/(\.\d+)?Z$/, "") : "–");

export const day = (text) => (text ? text.slice(0, 10) : "–");

/** @type {[number, Intl.RelativeTimeFormatUnit][]} */
const UNITS = [[86400 * 365, "year"], [86400, "day"], [3600, "hour"], [60, "minute"], [1, "second"]];
const relative = new Intl.RelativeTimeFormat("en");

/** Return the distance between two instants: `in 3 days`, `2 hours ago`. */
export function distance(from, to) {
  const seconds = (Date.parse(to) - Date.parse(from)) / 1000;
  const [size, unit] = UNITS.find(([length]) => Math.abs(seconds) >= length * (length > 86400 ? 2 : 1)) ?? UNITS.at(-1);
  const many = Math.round(seconds / size);
  return many ? relative.format(many, unit) : "now";
}

export const json = (value) => (typeof value === "string" ? value : JSON.stringify(value, null, 2));

/** Return names as words: `pending delete`. */
export const spaced = (name) => name.replaceAll("_", " ");

/** Return the entries of an object on one line: `by=P30D dry_run=true`. */
export const pairs = (all) => Object.entries(all).map(([key, value]) => `${key}=${brief(value)}`).join(" ");

export const brief = (value) => (typeof value === "string" ? value : value === null ? "–" : JSON.stringify(value));

/** Return the value of a JSON text, or the text itself. */
export function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

export const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;

export const moved = ({ now, total }) => `The clock is at ${instant(now)}, after ${plural(total, "event")}.`;

/** Return a charge as a change of the balance. */
export const money = (charged) => (Number(charged) ? (Number(charged) > 0 ? `−${charged}` : `+${charged.slice(1)}`) : "");

export const span = (from, to) => distance(from, to).replace(/^in | ago$/g, "");

export const count = (number) => number.toLocaleString("en");
