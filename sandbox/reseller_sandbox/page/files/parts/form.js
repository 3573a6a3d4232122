// Forms from declarations: a field for each parameter, by the JSON Schema of its values.

import { h } from "./dom.js";
import { parsed } from "./words.js";

/** Return the fields for parameters (`name`, `required`, `shape`, `about`), filled with the `initial` values. */
export const fields = (parameters, initial = {}) => parameters.map((parameter) => field(parameter, initial[parameter.name]));

/** Return the values of the fields in `form` as JSON. Throw if a field is invalid. */
export function values(form) {
  const result = {};
  for (const input of form.querySelectorAll("[data-path]")) {
    const value = read(input);
    if (value === undefined) continue;
    const path = JSON.parse(input.dataset.path);
    const last = path.pop();
    path.reduce((inner, key) => (inner[key] ??= {}), result)[last] = value;
  }
  return result;
}

function field(parameter, initial, above = []) {
  const path = [...above, parameter.name];
  const shape = parameter.shape ?? {};
  if (shape.properties && Object.keys(shape.properties).length) {
    const inner = Object.entries(shape.properties).map(([name, of]) => ({
      name, shape: of, about: of.description, required: shape.required?.includes(name),
    }));
    return h("fieldset", h("legend", parameter.name), about(parameter), inner.map((part) => field(part, initial?.[part.name], path)));
  }
  const input = control(shape, initial, parameter);
  input.dataset.path = JSON.stringify(path);
  input.required = parameter.required && input.type !== "checkbox";
  return h("label.field", { class: input.type === "checkbox" && "switch" },
    h("span.name", parameter.name, parameter.required && h("i", { title: "required" }, "*")), input, about(parameter));
}

/** Return a text of a declaration without markup, in one line. */
export const plain = (words) => words.replaceAll("`", "").replace(/\s+/g, " ");

const about = (parameter) => parameter.about && h("small", plain(parameter.about));

function control(shape, initial, { required }) {
  const sorts = alternatives(shape);
  const choices = sorts.flatMap((schema) => schema.enum ?? ("const" in schema ? [schema.const] : []));
  if (choices.length && sorts.every((schema) => schema.enum || "const" in schema)) {
    const shown = choices.map((word) => h("option", { value: String(word), selected: word === initial }, String(word)));
    return h("select", required ? [] : h("option", { value: "" }, "–"), shown);
  }
  const types = new Set(sorts.flatMap((schema) => schema.type ?? []));
  if (types.size === 1 && types.has("boolean")) return h("input", { type: "checkbox", checked: Boolean(initial) });
  const isText = !types.has("object") && !types.has("array");
  const text = initial === undefined ? "" : typeof initial === "string" ? initial : JSON.stringify(initial);
  if (isText) {
    const isNumber = [...types].every((type) => type === "integer" || type === "number") && types.size;
    return h("input", {
      type: "text", inputmode: isNumber ? "decimal" : "text", value: text, autocomplete: "off", spellcheck: "false",
      "data-types": [...types].join(" "), placeholder: shape.examples?.[0] ?? shape.format ?? "",
    });
  }
  const hint = (types.has("string") ? "text, or " : "") + (types.has("array") ? "[…]" : "{…}");
  return h("textarea", { rows: types.has("string") ? 1 : 3, value: text, spellcheck: "false", "data-types": "json", placeholder: hint });
}

function read(input) {
  if (input.type === "checkbox") return input.checked || undefined;
  const text = input.value.trim();
  if (!text) return undefined;
  const types = (input.dataset.types ?? "string").split(" ");
  if (types.includes("string") || types[0] === "") return text;
  return parsed(text); // the resource reports an invalid value
}

function alternatives(shape) {
  return shape.oneOf ? shape.oneOf.flatMap(alternatives) : [shape];
}
