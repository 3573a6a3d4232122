// Forms of fault rules. A field with known values is a list, or suggests them.

import { sheet } from "./action.js";
import { ask, operations } from "./api.js";
import { html } from "./html.js";
import { SUGGESTED } from "./limits.js";

/** Return the known values of a rule's fields in a world. @param {Record<string, any>} address */
export async function known({ world }) {
  const [{ items }, { items: called }, { accounts }, { names }, { kinds }, { presets }] = await Promise.all([
    ask("coverage.items", { area: "errors" }, { world }), ask("coverage.items", { area: "operations" }, { world }), ask("accounts.list", {}, { world }),
    ask("names.list", { limit: SUGGESTED }, { world }), ask("faults.kinds", {}, { world }), ask("faults.presets", {}, { world })]);
  return { errors: unique(items.map(({ item }) => item.split(" ").at(-1))), operations: unique(called.map(({ operation }) => operation)),
    accounts: accounts.map(({ name }) => name), domains: names.map(({ name }) => name), methods: ["GET", "POST", "PUT", "DELETE"],
    // The kinds that need no parameter.
    plain: kinds.filter(({ parameters }) => !parameters.some(({ required }) => required)).map(({ kind }) => kind).filter((kind) => kind !== "error"),
    presets: presets.map(({ preset }) => preset) };
}

const unique = (words) => [...new Set(words)].sort();

// The list of suggestions for each field of `match`.
const SUGGESTING = { operation: "operations", domain: "domains", account: "accounts", method: "methods" };

/** Return the form of a kind: its own parameters with its own descriptions, then the `others`, which every rule has. */
export function form({ parameters }, ...others) {
  const abouts = Object.fromEntries(parameters.map(({ name, about }) => [name, about]));
  const wanted = [...parameters.map(({ name }) => name), ...others].map((name) => operations["faults.add"].parameters.find((parameter) => parameter.name === name));
  return { asks: true, parameters: wanted.map((parameter) => suggesting({ ...parameter, about: abouts[parameter.name] ?? parameter.about })) };
}

function suggesting(parameter) {
  if (parameter.name === "kind") return { ...parameter, shape: parameter.shape.oneOf.find((shape) => shape.enum) };
  if (parameter.name === "error") return { ...parameter, more: { list: "errors" } };
  if (parameter.name !== "match") return parameter;
  const properties = Object.fromEntries(Object.entries(parameter.shape.properties).map(([name, shape]) =>
    [name, SUGGESTING[name] ? { ...shape, more: { list: SUGGESTING[name] } } : shape]));
  return { ...parameter, shape: { ...parameter.shape, properties } };
}

const choice = (name, words, about, required = true) => ({ name, about, required, shape: { enum: words } });

/** Open the form that makes the next request of an operation fail. @param {Record<string, any>} where */
export async function failNext(operation, where) {
  const values = await known(where);
  const parameters = [
    choice("operation", values.operations, "The operation whose next request fails."),
    choice("kind", [...values.plain, ...values.presets], "The way in which the request fails, if you choose no error below."),
    choice("error", values.errors, "An error that the contract documents, in place of the kind.", false),
    choice("phase", ["before", "after"], "Before or after the operation takes effect. Afterwards, the effect stays and only the answer fails."),
    { name: "times", about: "The number of requests that fail.", required: true, shape: { type: "integer" } }];
  const rule = ({ operation: called, kind, error, phase, times }) => ({
    ...(error ? { kind: "error", error } : values.presets.includes(kind) ? { preset: kind } : { kind }), match: { operation: called }, when: { phase, times } });
  sheet({ label: `Fail the next ${operation}`, operation: "faults.add", where, asks: true, parameters, packs: rule, says: added,
    args: { operation, kind: "reset", phase: "after", times: 1 },
    more: (chosen) => sheet({ label: "Add a fault", operation: "faults.add", asks: true, where, args: rule(chosen), says: added, lists: values,
      parameters: operations["faults.add"].parameters.map(suggesting) }) });
}

const added = ({ faults }) => `The fault ${faults.map(({ name }) => name).join(", ")} is added.`;

/** A button that makes the next request of an operation fail. */
export const FailNext = ({ of: operation }, { address: { world } }) => html`<button type="button" class="do" title="Make the next ${operation} fail"
  onClick=${() => failNext(operation, { world })}>Fail the next…</button>`;
