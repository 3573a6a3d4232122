// Calls of operations over HTTP, as in any program. All views use this module.

import { given } from "./address.js";
import { spaced } from "./words.js";

const here = new URL("../", import.meta.url);

export const root = new URL("../../", here);

/** Every operation by its id: its call, and its parameters with their shapes. */
export let operations = {};

const loaded = new Map();

/** Return declarations of the server, which are loaded once. */
export async function declared(file) {
  if (!loaded.has(file)) loaded.set(file, await (await reach(new URL(file, here))).json());
  return loaded.get(file);
}

export let interfaces = [];

/** The id of this start of the server. */
export let instance = "";

let change = "";

// A refusal from the server, or a server that does not answer.
class Refusal extends Error {
  constructor({ error = "", message = "", remedy = "" }) {
    super(message);
    Object.assign(this, { error, remedy });
  }
}

const fail = () => {
  dispatchEvent(new CustomEvent("unreachable")); // the page tries to reach the server again, and says so
  throw new Refusal({ message: "The server does not answer.", remedy: "Check that the server runs, and try again." });
};

/** @type {(address: URL, parameters?: object) => Promise<Response>} */
const reach = (address, parameters) => fetch(address, parameters).catch(fail);

/** Load the declarations and the session. */
export async function begin() {
  [operations, interfaces, { change, instance }] = await Promise.all([declared("operations.json"), declared("interfaces.json"), sent("GET", "_sandbox/session")]);
}

export async function signIn(token) {
  ({ change } = await sent("POST", "_sandbox/session", undefined, { "X-Sandbox-Token": token }));
}

/** Return the path of the world and the moment of an address. @param {Record<string, any>} [address] */
export function prefix({ world, at } = {}) {
  return at || world ? `_worlds/${encodeURIComponent((world || "default") + (at ? `@${at}` : ""))}/` : "";
}

/** Return the method, path and body of the request that calls an operation. */
export function request(operation, args = {}, where = {}) {
  const { method, path, parameters } = operations[operation];
  const values = given(args);
  let filled = path.slice(1);
  for (const { name } of parameters.filter(({ place }) => place === "segment")) {
    filled = filled.replace(`{${name}}`, encodeURIComponent(values[name]));
    delete values[name];
  }
  const isEmpty = !Object.keys(values).length;
  if (method !== "GET") return { method, path: prefix(where) + filled, body: isEmpty ? undefined : values };
  return { method, path: `${prefix(where)}${filled}${isEmpty ? "" : `?${new URLSearchParams(values)}`}` };
}

export const choices = (operation, name) => operations[operation].parameters.find((parameter) => parameter.name === name).shape.enum
  .map((word) => [word, spaced(word)]);

/** Return the result of an operation, or throw its refusal. */
export async function ask(operation, args, where) {
  const { method, path, body } = request(operation, args, where);
  return sent(method, path, body, method === "GET" ? {} : { "X-Sandbox-Change": change });
}

const row = (path) => (body, where) => sent("POST", `${prefix(where)}_sandbox/${path}`, body, { "X-Sandbox-Change": change });

/** Let the server sign a request, write a request as code, or write `calls` of operations as code. */
export const [signed, copied, written] = ["signature", "signature/copies", "calls"].map(row);

async function sent(method, path, body, headers = {}) {
  const text = body === undefined ? undefined : JSON.stringify(body);
  const type = text === undefined ? {} : { "Content-Type": "application/json" };
  const answer = await reach(new URL(path, root), { method, body: text, headers: { ...type, ...headers } });
  // A response without JSON is empty. Another problem means that the response broke off.
  const content = await answer.json().catch((problem) => (problem instanceof SyntaxError ? {} : fail()));
  if (answer.ok) return content;
  if (content.error?.startsWith("control_token") && !headers["X-Sandbox-Token"]) dispatchEvent(new CustomEvent("sign-in"));
  throw new Refusal({ message: `The server answered with ${answer.status}.`, ...content });
}
