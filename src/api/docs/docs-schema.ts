import type { OpenApiGeneratorV31 } from "@asteasolutions/zod-to-openapi";
import { html } from "hono/html";

export type Html = ReturnType<typeof html>;

export type OpenApiDocument = ReturnType<OpenApiGeneratorV31["generateDocument"]>;

/** Named schemas of a document. */
type Schemas = NonNullable<NonNullable<OpenApiDocument["components"]>["schemas"]>;
export type Schema = Schemas[string];

const REF_PREFIX = "#/components/schemas/";

/** Describes a schema in a short text, with links to named schemas. */
export function schemaText(schema: Schema | undefined): Html | string {
  if (!schema) return "anything";
  if ("$ref" in schema) return link(schema.$ref);
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  const parts = schema.oneOf ?? schema.anyOf;
  if (parts) return joinedTexts(parts, " or ");
  if (schema.allOf) return joinedTexts(schema.allOf, " and ");
  const types = [schema.type ?? "anything"].flat();
  if (types.includes("array")) return html`list of ${schemaText(schema.items)}`;
  if (types.includes("object") && typeof schema.additionalProperties === "object") {
    return html`object of ${schemaText(schema.additionalProperties)}`;
  }
  return `${types.join(" or ")}${limitsText(schema)}`;
}

function joinedTexts(parts: readonly Schema[], separator: string): Html {
  const list = parts.map((part, index) => html`${index === 0 ? "" : separator}${schemaText(part)}`);
  return html`${list}`;
}

function link(ref: string): Html {
  const name = ref.replace(REF_PREFIX, "");
  return html`<a href="#schema-${name}">${name}</a>`;
}

function limitsText(schema: Exclude<Schema, { $ref: string }>): string {
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

/** The section of a named schema. It shows the fields, the variants or the type of the schema. */
export function schemaSection(name: string, schema: Schema): Html {
  const fields = fieldsOf(schema);
  const variants = "$ref" in schema ? [] : [schema, ...(schema.allOf ?? [])].flatMap(variantsOf);
  const content =
    variants.length > 0
      ? variantTable(variants)
      : fields.length > 0
        ? fieldTable(schema)
        : html`<p>${schemaText(schema)}</p>`;
  return html`<h3 id="schema-${name}">${name}</h3>${content}`;
}

const fieldsOf = (schema: Schema): [string, Schema][] =>
  "$ref" in schema ? [] : Object.entries(schema.properties ?? {});
const variantsOf = (schema: Schema): Schema[] => ("$ref" in schema ? [] : (schema.oneOf ?? []));

function fieldTable(schema: Schema): Html {
  const required = "$ref" in schema ? [] : (schema.required ?? []);
  const rows = fieldsOf(schema).map(
    ([name, field]) =>
      html`<tr><td><code>${name}</code>${required.includes(name) ? "" : html` <span class="dim">optional</span>`}</td><td>${schemaText(field)}</td><td>${descriptionOf(field)}</td></tr>`,
  );
  return html`<div class="wide"><table><tr><th>Field</th><th>Type</th><th>Meaning</th></tr>${rows}</table></div>`;
}

/** A table with one row per variant. The first field, such as `type`, names the variant. */
function variantTable(variants: readonly Schema[]): Html {
  const rows = variants.map((variant) => {
    const [first, ...fields] = fieldsOf(variant);
    const list = fields.map(
      ([name, field], index) =>
        html`${index === 0 ? "" : ", "}<code>${name}</code> ${schemaText(field)}`,
    );
    return html`<tr><td><code>${schemaText(first?.[1])}</code></td><td>${list}</td></tr>`;
  });
  return html`<div class="wide"><table><tr><th>Kind</th><th>Fields</th></tr>${rows}</table></div>`;
}

const descriptionOf = (schema: Schema): string =>
  "description" in schema ? (schema.description ?? "") : "";
