// An operation in the other interfaces: a command, Python, HTTP. They are generated from its declaration.

import { operations, prefix, request, root } from "./api.js";

/** Return the command, the Python call and the curl command that are equivalent to a button. */
export function interfaces(operation, args = {}, where = {}) {
  const values = Object.fromEntries(Object.entries(args).filter(([, value]) => value !== undefined && value !== ""));
  return {
    Shell: command(operation, values, where),
    Python: python(operation, values, where),
    curl: curl(operation, values, where),
  };
}

function command(operation, values, where) {
  const [resource, name] = operation.split(".").map((word) => word.replaceAll("_", "-"));
  const world = worldOf(where);
  const words = ["reseller-sandbox", resource, name, ...(world ? ["--world", shell(world)] : [])];
  for (const { name: key, place } of operations[operation].parameters) {
    if (!(key in values)) continue;
    const option = `--${key.replaceAll("_", "-")}`;
    if (place !== "option") words.push(shell(word(values[key])));
    else if (values[key] === true) words.push(option);
    else if (values[key] === false) words.push(`--no-${option.slice(2)}`);
    else words.push(option, shell(word(values[key])));
  }
  return words.join(" ");
}

function python(operation, values, where) {
  const { parameters } = operations[operation];
  const world = worldOf(where);
  const subject = world ? `connect(${literal(root.href.replace(/\/$/, ""))}, world=${literal(world)})` : "sandbox";
  const placed = parameters.filter(({ name, place }) => place !== "option" && name in values);
  const isFirst = placed.every((parameter, at) => parameters.filter(({ place }) => place !== "option")[at] === parameter);
  const parts = parameters.filter(({ name }) => name in values).map(({ name, place }) => {
    const value = literal(values[name]);
    return place === "segment" || (place !== "option" && isFirst) ? value : `${attribute(name)}=${value}`;
  });
  return `${subject}.${operation}(${parts.join(", ")})`;
}

function curl(operation, values, where) {
  const { method, path, body } = request(operation, values, where);
  const words = ["curl", ...(method === "GET" ? [] : ["-X", method]), shell(new URL(path, root).href)];
  if (body) words.push("--json", shell(JSON.stringify(body)));
  return words.join(" ");
}

const worldOf = (where) => decodeURIComponent(prefix(where)).split("/")[1] || "";

const word = (value) => {
  if (typeof value !== "object") return String(value);
  const pairs = Array.isArray(value) ? [] : Object.entries(value);
  const isPlain = pairs.length && pairs.every(([, value]) => typeof value === "string" && !/[,=]/.test(value));
  return isPlain ? pairs.map((pair) => pair.join("=")).join(",") : JSON.stringify(value);
};

/** Return a word quoted for a shell. */
export const shell = (text) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

const KEYWORDS = new Set(["from", "in", "is", "class", "def", "import", "as", "with", "for", "if"]);
const attribute = (name) => (KEYWORDS.has(name) ? `${name}_` : name);

/** Return a JSON value in Python syntax. */
export function literal(value) {
  if (value === null) return "None";
  if (value === true) return "True";
  if (value === false) return "False";
  if (Array.isArray(value)) return `[${value.map(literal).join(", ")}]`;
  if (typeof value === "object") {
    return `{${Object.entries(value).map(([key, item]) => `${literal(key)}: ${literal(item)}`).join(", ")}}`;
  }
  return JSON.stringify(value);
}
