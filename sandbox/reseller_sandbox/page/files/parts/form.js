// Forms from declarations: a field for each parameter, by the JSON Schema of its values.

import { html } from "./html.js";
import { parsed } from "./words.js";

/**
 * Return the fields for parameters (`name`, `required`, `shape`, `about`), filled with the `initial` values.
 *
 * The fields keep their own values, so that nothing but the user changes a form that is being filled in.
 */
export const fields = (parameters, initial = {}) => parameters.map((parameter) => field(parameter, initial?.[parameter.name], []));

/** Return the values of the fields in `form` as JSON. */
export function values(form) {
  const result = {};
  for (const input of form.querySelectorAll("[data-path]")) {
    const value = valueOf(input);
    if (value !== undefined) put(result, JSON.parse(input.dataset.path), value);
  }
  return result;
}

/** Set the value at a path of an object. Remove the value if it is undefined. */
export function put(object, path, value) {
  const inner = path.slice(0, -1).reduce((outer, key) => {
    if (typeof outer[key] !== "object" || outer[key] === null) outer[key] = {};
    return outer[key];
  }, object);
  if (value === undefined) delete inner[path.at(-1)];
  else inner[path.at(-1)] = value;
}

function field(parameter, initial, above) {
  const path = [...above, parameter.name];
  const shape = parameter.shape ?? {};
  const about = parameter.about && html`<small>${plain(parameter.about)}</small>`;
  if (shape.properties && Object.keys(shape.properties).length) {
    return html`<fieldset key=${path.join()}><legend>${parameter.name}</legend>${about}${parts(shape).map((part) => field(part, initial?.[part.name], path))}</fieldset>`;
  }
  const props = { "data-path": JSON.stringify(path), ...parameter.more };
  const isSwitch = isBoolean(shape);
  return html`<label key=${path.join()} class="field ${isSwitch ? "switch" : ""}">
    <span class="name">${parameter.name}${parameter.required && html`<i title="required">*</i>`}</span>
    ${isSwitch ? html`<input type="checkbox" defaultChecked=${Boolean(initial)} ...${props} />` : control(shape, initial, parameter.required, props)}${about}</label>`;
}

/** Return the properties of an object's schema as parameters. */
export const parts = ({ properties, required = [] }) => Object.entries(properties)
  .map(([name, shape]) => ({ name, shape, about: shape.description, required: required.includes(name), more: shape.more }));

/** Return a text of a declaration without markup, in one line. */
export const plain = (words) => words.replaceAll("`", "").replace(/\s+/g, " ");

const isBoolean = (shape) => alternatives(shape).every(({ type }) => type === "boolean");

function control(shape, initial, required, props) {
  const sorts = alternatives(shape);
  const choices = sorts.flatMap((schema) => schema.enum ?? ("const" in schema ? [schema.const] : []));
  if (choices.length && sorts.every((schema) => schema.enum || "const" in schema)) {
    return html`<select required=${required} ...${props}>${!required && html`<option value="">–</option>`}
      ${choices.map((word) => html`<option value=${String(word)} selected=${word === initial}>${String(word)}</option>`)}</select>`;
  }
  const types = sorts.flatMap((schema) => schema.type ?? (schema.anyOf ? [] : ["object", "string"]));
  const [isText, isList, isObject] = ["string", "array", "object"].map((type) => types.includes(type));
  const text = typeof initial === "string" ? initial : JSON.stringify(initial ?? undefined);
  const common = { ...props, defaultValue: text ?? "", autocomplete: "off", spellcheck: false, required,
    "data-types": isList || isObject ? "json" : types.join(" "),
    placeholder: isList || isObject ? `${isText ? "text, or " : ""}${isList ? "[…]" : "{…}"}` : shape.examples?.[0] ?? shape.format ?? "" };
  if (isObject || (isList && !isText)) return html`<textarea rows=${isText ? 1 : 3} ...${common}></textarea>`;
  return html`<input type="text" inputmode=${types.some((type) => type !== "integer" && type !== "number") ? "text" : "decimal"} ...${common} />`;
}

/** Return the JSON value of a field, or undefined if the field is empty. */
export function valueOf(input) {
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
