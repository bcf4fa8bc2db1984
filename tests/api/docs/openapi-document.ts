import * as z from "zod";

/** Parses the OpenAPI document for tests, and validates responses against the document. */

const MediaSchema = z.record(
  z.string(),
  z.looseObject({ schema: z.looseObject({}), example: z.unknown().optional() }),
);
const ResponseSchema = z.looseObject({
  description: z.string().min(1),
  content: MediaSchema.optional(),
  headers: z.record(z.string(), z.looseObject({ description: z.string().min(1) })).optional(),
});
const SecuritySchema = z.array(z.record(z.string(), z.array(z.string())));
const OperationSchema = z.looseObject({
  operationId: z.string(),
  tags: z.array(z.string()).min(1),
  summary: z.string().min(1),
  parameters: z
    .array(
      z.looseObject({
        name: z.string(),
        in: z.string(),
        description: z.string(),
        schema: z.looseObject({}),
      }),
    )
    .optional(),
  requestBody: z.looseObject({ content: MediaSchema }).optional(),
  security: SecuritySchema.optional(),
  responses: z.record(z.string(), ResponseSchema),
});
export const DocumentSchema = z.looseObject({
  openapi: z.literal("3.1.0"),
  info: z.looseObject({ title: z.string(), version: z.string(), description: z.string() }),
  security: SecuritySchema,
  components: z.looseObject({
    schemas: z.record(z.string(), z.looseObject({})),
    securitySchemes: z.record(z.string(), z.looseObject({ type: z.string() })),
  }),
  paths: z.record(z.string(), z.record(z.string(), OperationSchema)),
});
export type Document = z.infer<typeof DocumentSchema>;
export type Operation = z.infer<typeof OperationSchema>;

/** All operations. `name`: method and path, such as `GET /healthz`. */
export const operationsOf = ({
  paths,
}: Document): { name: string; path: string; method: string; operation: Operation }[] =>
  Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({
      name: `${method.toUpperCase()} ${path}`,
      path,
      method,
      operation,
    })),
  );

/** Validates a value by a schema of the document. Returns the errors. */
export function faultsOf({ components }: Document, schema: object, value: unknown): string[] {
  const standaloneSchema: unknown = JSON.parse(
    JSON.stringify({ ...schema, $defs: components.schemas }).replaceAll(
      "#/components/schemas/",
      "#/$defs/",
    ),
  );
  const result = z
    .fromJSONSchema(standaloneSchema as z.core.JSONSchema.JSONSchema)
    .safeParse(value);
  return result.success
    ? []
    : result.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`);
}

/** Headers that programs use. The document must have them. */
const DOCUMENTED_HEADERS = ["location", "retry-after", "x-config-warnings"];

/**
 * Returns messages about parts of a response that do not match the document: status, headers, media
 * type or content. Reads a copy of the body.
 */
export async function undocumented(
  document: Document,
  request: { method: string; path: string },
  response: Response,
): Promise<string[]> {
  const [pathname = ""] = request.path.split("?");
  const method = request.method === "HEAD" ? "get" : request.method.toLowerCase();
  const found = operationsOf(document).find(
    (operation) => operation.method === method && toPattern(operation.path).test(pathname),
  );
  if (!found)
    return [404, 405].includes(response.status)
      ? []
      : [`${method} ${pathname} is not in the document`];
  const documentedResponse = found.operation.responses[String(response.status)];
  if (!documentedResponse) return [`${found.name} has no status ${response.status}`];
  const undocumentedHeaders = DOCUMENTED_HEADERS.filter(
    (name) => response.headers.has(name) && !documentedResponse.headers?.[name],
  );
  if (undocumentedHeaders.length > 0)
    return [`${found.name} ${response.status} has no header ${undocumentedHeaders.join(", ")}`];
  const type = response.headers.get("content-type")?.split(";")[0] ?? null;
  if (type === null || request.method === "HEAD") return [];
  const media = documentedResponse.content?.[type];
  if (!media) return [`${found.name} ${response.status} has no media type ${type}`];
  if (!type.endsWith("json")) return [];
  return faultsOf(document, media.schema, await response.clone().json()).map(
    (fault) => `${found.name} ${response.status}: ${fault}`,
  );
}

/** A pattern that matches the concrete paths of an operation. */
const toPattern = (path: string): RegExp =>
  new RegExp(`^${path.replace("{path}", ".+").replaceAll(/\{\w+\}/g, "[^/]+")}$`);
