// The operations of the reseller API, from the OpenAPI documents of the sandbox.

import { look } from "./api.js";

/** Return the operations of an interface in order, each with its path, its fields and its example. */
export async function operationsOf(interfaceName, where) {
  const [{ paths, components }, { [interfaceName]: recorded }] = await Promise.all([
    look(`_sandbox/openapi/${interfaceName}.json`, where), look("_sandbox/page/requests.json")]);
  return Object.entries(paths).flatMap(([path, row]) => Object.entries(row).map(([method, operation]) => {
    const body = operation.requestBody?.content?.["application/json"];
    const example = recorded[operation.operationId] ?? {};
    const parameters = operation.parameters.map((one) => resolved(one, components));
    return {
      id: `${interfaceName}.${operation.operationId}`, own: operation["x-sandbox-operation"], interfaceName, path, method: method.toUpperCase(), tag: operation.tags[0],
      summary: operation.summary, path_fields: of(parameters, "path", example), query_fields: of(parameters, "query", example),
      body: body && { shape: resolved(body.schema, components), example: example.body, required: operation.requestBody.required },
    };
  }));
}

// A parameter in the form that form.js takes. `example` is its initial value.
const of = (parameters, place, { parameters: given = {} }) => parameters.filter((one) => one.in === place)
  .map((one) => ({ name: one.name, required: one.required, shape: one.schema, about: one.description, example: given[one.name] ?? one.schema.enum?.[0] }));

const DEEP = 6;

/** Return a schema with its references resolved and without null, which means a key that is not sent. */
function resolved(schema, components, deep = 0) {
  if (Array.isArray(schema)) return schema.filter((one) => one !== "null" && one !== null).map((one) => resolved(one, components, deep));
  if (!schema || typeof schema !== "object") return schema;
  if (schema.anyOf?.[1]?.type === "null") {
    const { anyOf: [one], ...rest } = schema;
    return { ...resolved(one, components, deep), ...rest };
  }
  if (schema.$ref) {
    const target = schema.$ref.split("/").slice(2).reduce((inner, key) => inner[key], components);
    return deep < DEEP ? resolved(target, components, deep + 1) : {};
  }
  return Object.fromEntries(Object.entries(schema).map(([key, one]) => [key, resolved(one, components, deep)]));
}
