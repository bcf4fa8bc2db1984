import { z } from "zod";

/** Readers of the OpenAPI document for tests, and validation of responses against it. */

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

/** Every operation as `GET /path`. */
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

/** The errors of a value by a schema of the document. Empty if the value is valid. */
export function faultsOf({ components }: Document, schema: object, value: unknown): string[] {
  const standing: unknown = JSON.parse(
    JSON.stringify({ ...schema, $defs: components.schemas }).replaceAll(
      "#/components/schemas/",
      "#/$defs/",
    ),
  );
  const result = z.fromJSONSchema(standing as z.core.JSONSchema.JSONSchema).safeParse(value);
  return result.success
    ? []
    : result.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`);
}

/** Headers that programs act on. */
const TELLING = ["location", "retry-after", "x-config-warnings"];

/**
 * The parts of a response that the document does not allow: status, headers, type, content. Reads a
 * copy of the body.
 */
export async function undocumented(
  document: Document,
  request: { method: string; path: string },
  response: Response,
): Promise<string[]> {
  const [pathname = ""] = request.path.split("?");
  const method = request.method === "HEAD" ? "get" : request.method.toLowerCase();
  const found = operationsOf(document).find(
    (one) => one.method === method && toPattern(one.path).test(pathname),
  );
  if (!found)
    return [404, 405].includes(response.status)
      ? []
      : [`${method} ${pathname} is not in the document`];
  const said = found.operation.responses[String(response.status)];
  if (!said) return [`${found.name} does not say ${response.status}`];
  const untold = TELLING.filter((name) => response.headers.has(name) && !said.headers?.[name]);
  if (untold.length > 0)
    return [`${found.name} ${response.status} does not say ${untold.join(", ")}`];
  const type = response.headers.get("content-type")?.split(";")[0] ?? null;
  if (type === null || request.method === "HEAD") return [];
  const media = said.content?.[type];
  if (!media) return [`${found.name} ${response.status} does not say ${type}`];
  if (!type.endsWith("json")) return [];
  return faultsOf(document, media.schema, await response.clone().json()).map(
    (fault) => `${found.name} ${response.status}: ${fault}`,
  );
}

/** Paths with fewer parameters match first, so `validate` is not the name of a config. */
const toPattern = (path: string): RegExp =>
  new RegExp(`^${path.replace("{path}", ".+").replaceAll(/\{\w+\}/g, "[^/]+")}$`);
