// Forms from declarations: a field for each parameter, by the JSON Schema of its values.

import { html } from "./html.js";
import { parsed } from "./words.js";

/** Return fields for parameters, with `initial` values. Later only the user changes the values. */
export const fields = (parameters, initial = {}) => parameters.map((parameter) => field(parameter, initial?.[parameter.name], []));

export function values(form) {
  const result = {};
  for (const input of form.querySelectorAll("[data-path]")) {
    const value = valueOf(input);
    if (value !== undefined) put(result, JSON.parse(input.dataset.path), value);
  }
  return result;
}

/** Set the value at a path of an object, or remove it if it is undefined. */
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
  // A checkbox cannot leave a value out, so a switch that is not off by default gets a list.
  const isSwitch = isBoolean(shape) && !parameter.default && parameter.default !== null;
  return html`<label key=${path.join()} class="field">
    <span class="name">${isSwitch && html`<input type="checkbox" defaultChecked=${Boolean(initial)} ...${props} /> `}${parameter.name}${parameter.required && html`<i title="required">*</i>`}</span>
    ${!isSwitch && control(shape, initial, parameter.required, props)}${about}</label>`;
}

export const parts = ({ properties, required = [] }) => Object.entries(properties)
  .map(([name, shape]) => ({ name, shape, about: shape.description, required: required.includes(name), more: shape.more }));

/** Suggestions of fields, each list by its id. */
export const Lists = ({ of: all }) => Object.entries(all).map(([id, words]) => html`<datalist id=${id}>${words.map((word) => html`<option value=${word} />`)}</datalist>`);

/** Return a text of a declaration without markup, in one line. */
export const plain = (words) => words.replaceAll("`", "").replace(/\s+/g, " ");

function control(shape, initial, required, props) {
  const sorts = alternatives(shape);
  const choices = sorts.flatMap((schema) => schema.enum ?? ("const" in schema ? [schema.const] : []));
  if (isBoolean(shape)) choices.push(true, false);
  if (choices.length && (isBoolean(shape) || sorts.every((schema) => schema.enum || "const" in schema))) {
    return html`<select required=${required} ...${props} data-json=${isBoolean(shape) || undefined}>${!required && html`<option value="">–</option>`}
      ${choices.map((word) => html`<option value=${String(word)} selected=${word === initial}>${String(word)}</option>`)}</select>`;
  }
  const types = sorts.flatMap((schema) => schema.type ?? schema.anyOf?.flatMap(({ type }) => type ?? []) ?? ["object", "string"]);
  const [isText, isList, isObject] = ["string", "array", "object"].map((type) => types.includes(type));
  const text = typeof initial === "string" ? initial : JSON.stringify(initial ?? undefined);
  const common = { ...props, defaultValue: text ?? "", autocomplete: "off", spellcheck: false, required,
    "data-json": isList || isObject || (types.length > 0 && !isText) || undefined,
    placeholder: isList || isObject ? `${isText ? "text, or " : ""}${isList ? "[…]" : "{…}"}` : shape.examples?.[0] ?? shape.format ?? "" };
  if (isObject || (isList && !isText)) return html`<textarea rows=${isText ? 1 : 3} ...${common}></textarea>`;
  return html`<input type="text" inputmode=${types.some((type) => type !== "integer" && type !== "number") ? "text" : "decimal"} ...${common} />`;
}

/** Return the JSON value of a field, or undefined if the field is empty. */
export function valueOf(input) {
  if (input.type === "checkbox") return input.checked || undefined;
  const text = input.value.trim();
  if (!text) return undefined;
  return "json" in input.dataset ? parsed(text) : text; // the resource reports an invalid value
}

const isBoolean = (shape) => alternatives(shape).every(({ type }) => type === "boolean");

function alternatives(shape) {
  return shape.oneOf ? shape.oneOf.flatMap(alternatives) : [shape];
}
