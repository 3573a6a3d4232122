// Calls of resources over HTTP, as in any program. Everything that the page shows or does uses this module.

const here = new URL("../", import.meta.url);

/** The address of the server. */
export const root = new URL("../../", here);

/** The declaration of every operation by its id: its call, and its parameters with their shapes. */
export let operations = {};

const loaded = new Map();

/** Return declarations of the server, which are loaded once. */
export const declared = (file) => loaded.get(file) ?? loaded.set(file, reach(new URL(file, here)).then((answer) => answer.json()).catch((problem) => {
  loaded.delete(file); // the next call loads it again
  throw problem;
})).get(file);

/** The declarations of the interfaces: name, label, address, credentials and example paths. */
export let interfaces = [];

/** The id of the server's process. It is another one after a restart. */
export let instance = "";

let change = "";

/** A refusal from the server, or a server that does not answer: status 0. */
export class Refusal extends Error {
  /** @param {number} status @param {{ error?: string, message?: string, remedy?: string }} [content] */
  constructor(status, { error, message, remedy } = {}) {
    super(message || `The server answered with ${status}.`);
    this.status = status;
    this.error = error || "";
    this.remedy = remedy || "";
  }
}

const UNREACHABLE = { message: "The server does not answer.", remedy: "Check that the server runs, and try again." };

const reach = (address, parameters) => fetch(address, parameters).catch(() => {
  throw new Refusal(0, UNREACHABLE);
});

/** Load the operations and the header for changes. Throw a Refusal if a token is required. */
export async function begin() {
  [operations, interfaces, { change, instance }] = await Promise.all([declared("operations.json"), declared("interfaces.json"), sent("GET", "_sandbox/session")]);
}

/** Send the control token. The browser keeps a cookie for it. */
export async function signIn(token) {
  ({ change } = await sent("POST", "_sandbox/session", undefined, { "X-Sandbox-Token": token }));
}

/** Return the base path for the world and the moment of an address. @param {Record<string, any>} [address] */
export function prefix({ world, at } = {}) {
  return at || world ? `_worlds/${encodeURIComponent((world || "default") + (at ? `@${at}` : ""))}/` : "";
}

/** Return the method, path and body of the request that calls an operation. */
export function request(operation, args = {}, where = {}) {
  const { method, path, parameters } = operations[operation];
  const values = Object.fromEntries(Object.entries(args).filter(([, value]) => value !== undefined));
  let filled = path;
  for (const { name, place } of parameters) {
    if (place === "segment") {
      filled = filled.replace(`{${name}}`, encodeURIComponent(values[name]));
      delete values[name];
    }
  }
  const isGet = method === "GET";
  const query = isGet ? new URLSearchParams(values).toString() : "";
  return {
    method,
    path: prefix(where) + filled.slice(1) + (query ? `?${query}` : ""),
    body: isGet || !Object.keys(values).length ? undefined : values,
  };
}

/** Return the allowed words of a parameter that takes only these, each with its label. */
export const choices = (operation, name) => operations[operation].parameters.find((parameter) => parameter.name === name).shape.enum
  .map((word) => [word, word.replaceAll("_", " ")]);

/** Return the result of an operation. Throw a Refusal if it refuses. */
export async function ask(operation, args, where) {
  const { method, path, body } = request(operation, args, where);
  return sent(method, path, body, method === "GET" ? {} : { "X-Sandbox-Change": change });
}

const read = (path) => (body, where) => sent("POST", `${prefix(where)}_sandbox/${path}`, body, { "X-Sandbox-Change": change });

/** Let the server sign a request of an interface, or write it as commands and programs. */
export const [signed, copied] = [read("signature"), read("signature/copies")];

async function sent(method, path, body, headers = {}) {
  const text = body === undefined ? undefined : JSON.stringify(body);
  const type = text === undefined ? {} : { "Content-Type": "application/json" };
  const answer = await reach(new URL(path, root), { method, body: text, headers: { ...type, ...headers } });
  const content = await answer.json().catch(() => ({}));
  if (answer.ok) return content;
  const refusal = new Refusal(answer.status, content);
  if (refusal.error.startsWith("control_token") && !headers["X-Sandbox-Token"]) {
    dispatchEvent(new CustomEvent("sign-in", { detail: refusal }));
  }
  throw refusal;
}
