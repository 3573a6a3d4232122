// Values in words: instants, spans, money, JSON.

/** Return an instant for people: `2026-01-15 12:00:00`, always in UTC. */
export const instant = (text) => (text ? text.replace("T", " ").replace(/(\.\d+)?Z$/, "") : "–");

/** Return the day of an instant. */
export const day = (text) => (text ? text.slice(0, 10) : "–");

/** @type {[number, string][]} */
const UNITS = [[86400 * 365, "year"], [86400, "day"], [3600, "hour"], [60, "minute"], [1, "second"]];

/** Return the distance between two instants: `in 3 days`, `2 hours ago`. */
export function distance(from, to) {
  const seconds = (Date.parse(to) - Date.parse(from)) / 1000;
  const [size, unit] = UNITS.find(([length]) => Math.abs(seconds) >= length * (length > 86400 ? 2 : 1)) ?? [1, "second"];
  const many = Math.round(Math.abs(seconds) / size);
  const words = `${many} ${unit}${many === 1 ? "" : "s"}`;
  return many === 0 ? "now" : seconds > 0 ? `in ${words}` : `${words} ago`;
}

/** Return a value as JSON for people. */
export const json = (value) => (typeof value === "string" ? value : JSON.stringify(value, null, 2));

/** Return a value on one line. */
export const brief = (value) => (typeof value === "string" ? value : value === null ? "–" : JSON.stringify(value));

/** Return a text parsed as JSON, or the text itself. */
export function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Return a count with its word: `2 requests`. */
export const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;

/** Return a charge as a change of the balance, or nothing if it is zero. */
export const money = (charged) => (Number(charged) ? (Number(charged) > 0 ? `−${charged}` : `+${charged.slice(1)}`) : "");

/** Return the time between two instants: `30 days`. */
export const span = (from, to) => distance(from, to).replace(/^in | ago$/g, "");

/** Return a number with its thousands apart: `2,013`. */
export const count = (number) => number.toLocaleString("en");
