import { html } from "hono/html";
import type { App } from "../api-env";

export type Html = ReturnType<typeof html>;

export type OpenApiDocument = ReturnType<App["getOpenAPI31Document"]>;

/** Schemas of a document, from its type. */
type Schemas = NonNullable<NonNullable<OpenApiDocument["components"]>["schemas"]>;
export type Schema = Schemas[string];

const REF = "#/components/schemas/";

/** A short text for a schema, with links to named schemas. */
export function inWords(schema: Schema | undefined): Html | string {
  if (!schema) return "anything";
  if ("$ref" in schema) return link(schema.$ref);
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  const parts = schema.oneOf ?? schema.anyOf;
  if (parts) return joined(parts, " or ");
  if (schema.allOf) return joined(schema.allOf, " and ");
  const types = [schema.type ?? "anything"].flat();
  if (types.includes("array")) return html`list of ${inWords(schema.items)}`;
  if (types.includes("object") && typeof schema.additionalProperties === "object") {
    return html`object of ${inWords(schema.additionalProperties)}`;
  }
  return `${types.join(" or ")}${bounds(schema)}`;
}

function joined(parts: readonly Schema[], between: string): Html {
  const list = parts.map((part, nth) => html`${nth === 0 ? "" : between}${inWords(part)}`);
  return html`${list}`;
}

function link(ref: string): Html {
  const name = ref.replace(REF, "");
  return html`<a href="#schema-${name}">${name}</a>`;
}

function bounds(schema: Exclude<Schema, { $ref: string }>): string {
  const { minimum, maximum, minLength, maxLength, pattern } = schema;
  const texts = [
    minimum === undefined ? "" : `from ${minimum}`,
    maximum === undefined || maximum === Number.MAX_SAFE_INTEGER ? "" : `to ${maximum}`,
    minLength === undefined ? "" : `at least ${minLength} characters`,
    maxLength === undefined ? "" : `at most ${maxLength} characters`,
    pattern === undefined ? "" : `like ${pattern}`,
    schema.default === undefined ? "" : `default ${JSON.stringify(schema.default)}`,
  ];
  const text = texts
    .filter((part) => part !== "" && !part.includes(String(Number.MIN_SAFE_INTEGER)))
    .join(", ");
  return text === "" ? "" : ` (${text})`;
}

/** Section of a named schema: its fields, its variants, or its type. */
export function schemaSection(name: string, schema: Schema): Html {
  const fields = fieldsOf(schema);
  const kinds = "$ref" in schema ? [] : [schema, ...(schema.allOf ?? [])].flatMap(kindsOf);
  const content =
    kinds.length > 0
      ? kindTable(kinds)
      : fields.length > 0
        ? fieldTable(schema)
        : html`<p>${inWords(schema)}</p>`;
  return html`<h3 id="schema-${name}">${name}</h3>${content}`;
}

const fieldsOf = (schema: Schema): [string, Schema][] =>
  "$ref" in schema ? [] : Object.entries(schema.properties ?? {});
const kindsOf = (schema: Schema): Schema[] => ("$ref" in schema ? [] : (schema.oneOf ?? []));

function fieldTable(schema: Schema): Html {
  const required = "$ref" in schema ? [] : (schema.required ?? []);
  const rows = fieldsOf(schema).map(
    ([field, of]) =>
      html`<tr><td><code>${field}</code>${required.includes(field) ? "" : html` <span class="dim">optional</span>`}</td><td>${inWords(of)}</td><td>${descriptionOf(of)}</td></tr>`,
  );
  return html`<div class="wide"><table><tr><th>Field</th><th>Type</th><th>Meaning</th></tr>${rows}</table></div>`;
}

/** One row per variant, named by its first field. */
function kindTable(kinds: readonly Schema[]): Html {
  const rows = kinds.map((kind) => {
    const [first, ...fields] = fieldsOf(kind);
    const list = fields.map(
      ([field, of], nth) => html`${nth === 0 ? "" : ", "}<code>${field}</code> ${inWords(of)}`,
    );
    return html`<tr><td><code>${inWords(first?.[1])}</code></td><td>${list}</td></tr>`;
  });
  return html`<div class="wide"><table><tr><th>Kind</th><th>Fields</th></tr>${rows}</table></div>`;
}

const descriptionOf = (schema: Schema): string =>
  "description" in schema ? (schema.description ?? "") : "";
