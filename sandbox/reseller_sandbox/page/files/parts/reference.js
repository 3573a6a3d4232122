// The operations of the reseller API, from the OpenAPI documents of the sandbox.

import { look } from "./api.js";

/** Return the operations of an interface in order, each with its path, its fields and its example. */
export async function operationsOf(interfaceName, where) {
  const [{ paths, components }, { [interfaceName]: recorded }] = await Promise.all([
    look(`_sandbox/openapi/${interfaceName}.json`, where), look("_sandbox/page/requests.json")]);
  return Object.entries(paths).flatMap(([path, row]) => Object.entries(row).map(([method, operation]) => {
    const body = operation.requestBody?.content?.["application/json"];
    const example = recorded[operation.operationId] ?? {};
    const parameters = operation.parameters.map((parameter) => resolved(parameter, components));
    return {
      id: `${interfaceName}.${operation.operationId}`, own: operation["x-sandbox-operation"], interfaceName, path, method: method.toUpperCase(), tag: operation.tags[0],
      summary: operation.summary, path_fields: of(parameters, "path", example), query_fields: of(parameters, "query", example),
      body: body && { shape: resolved(body.schema, components), example: example.body, required: operation.requestBody.required },
    };
  }));
}

// A parameter in the form that form.js takes. `example` is its initial value.
const of = (parameters, place, { parameters: values = {} }) => parameters.filter((parameter) => parameter.in === place)
  .map((parameter) => ({ name: parameter.name, required: parameter.required, shape: parameter.schema, about: parameter.description, example: values[parameter.name] ?? parameter.schema.enum?.[0] }));

const DEEP = 6;

/** Return a schema with its references resolved and without null, which means a key that is not sent. */
function resolved(schema, components, deep = 0) {
  if (Array.isArray(schema)) return schema.filter((item) => item !== "null" && item !== null).map((item) => resolved(item, components, deep));
  if (!schema || typeof schema !== "object") return schema;
  if (schema.anyOf?.[1]?.type === "null") {
    const { anyOf: [variant], ...rest } = schema;
    return { ...resolved(variant, components, deep), ...rest };
  }
  if (schema.$ref) {
    const target = schema.$ref.split("/").slice(2).reduce((inner, key) => inner[key], components);
    return deep < DEEP ? resolved(target, components, deep + 1) : {};
  }
  return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, resolved(value, components, deep)]));
}
