import { createApp } from "../../src/api/app";
import { openApiDocument } from "../../src/api/docs/openapi";
import { fieldRows } from "./field-rows";
import { code, page, sentence, table } from "./markdown";
import { type OpenApi, OpenApiSchema, type Operation, type Shape } from "./schema";
import { typeText } from "./shape-text";

const INTRO = `Every route, from the OpenAPI document that the service serves at \`/openapi.json\`.
A running service shows the same document as a page at \`/docs\`. Errors are listed in [errors](errors.md),
events in [events](events.md).

Send a key as \`Authorization: Bearer mge_…\`. A local service that \`npm start\` runs needs no key.`;

const link = (name: string): string => `[${name}](#schema-${name.toLowerCase()})`;

export function httpPage(): string {
  const document = OpenApiSchema.parse(JSON.parse(JSON.stringify(openApiDocument(createApp()))));
  const operations = operationsOf(document);
  const tags = [...new Set(operations.map(({ operation }) => operation.tags[0] ?? ""))];
  return page(
    "# HTTP API",
    INTRO,
    table(
      ["Route", "Meaning"],
      operations.map(({ name, operation }) => [
        `[${code(name)}](#${operation.operationId.toLowerCase()})`,
        sentence(operation.summary),
      ]),
    ),
    ...tags.flatMap((tag) => [
      `## ${tag}`,
      ...operations
        .filter(({ operation }) => operation.tags[0] === tag)
        .flatMap(({ name, operation }) => operationBlocks(name, operation)),
    ]),
    "## Schemas",
    ...Object.entries(document.components.schemas).flatMap(([name, shape]) => [
      `<a id="schema-${name.toLowerCase()}"></a>\n\n### ${name}`,
      ...schemaBlocks(shape),
    ]),
  );
}

const operationsOf = ({ paths }: OpenApi): { name: string; operation: Operation }[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      name: `${method.toUpperCase()} ${path}`,
      operation,
    })),
  );

function operationBlocks(name: string, operation: Operation): string[] {
  const { operationId, summary, description, parameters = [], requestBody, responses } = operation;
  const parameterRows = parameters.map((parameter) => [
    code(parameter.name),
    `${parameter.in}${parameter.required ? "" : ", optional"}`,
    parameter.schema ? typeText(parameter.schema, link) : "",
    sentence(parameter.description ?? ""),
  ]);
  const responseRows = Object.entries(responses).map(([status, response]) => [
    status,
    mediaText(response.content),
    sentence(response.description),
  ]);
  return [
    `<a id="${operationId.toLowerCase()}"></a>\n\n### ${code(name)}`,
    sentence(summary),
    ...(description === undefined ? [] : [description]),
    ...(parameterRows.length === 0
      ? []
      : [table(["Parameter", "In", "Type", "Meaning"], parameterRows)]),
    ...(requestBody ? [`Body: ${mediaText(requestBody.content)}.`] : []),
    table(["Status", "Content", "Meaning"], responseRows),
  ];
}

const mediaText = (content: Operation["responses"][string]["content"] = {}): string =>
  Object.entries(content)
    .map(([type, { schema }]) => (schema ? `${code(type)}, ${typeText(schema, link)}` : code(type)))
    .join("; ");

function schemaBlocks(shape: Shape): string[] {
  const variants = [shape, ...(shape.allOf ?? [])].flatMap(({ oneOf }) => oneOf ?? []);
  const text = shape.description === undefined ? [] : [sentence(shape.description)];
  if (variants.length > 10) return [...text, "One of the events; see [events](events.md)."];
  const fields = fieldRows(shape, link);
  if (fields.length > 0) return [...text, table(["Field", "Type", "Meaning"], fields)];
  return [...text, `Type: ${typeText(shape, link)}.`];
}
