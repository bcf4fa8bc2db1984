import { createRoute, z } from "@hono/zod-openapi";
import { IdSchema, LabelSchema, ProblemSchema } from "../protocol/api";
import type { Handler } from "./api-env";
import { CODE_MEANINGS, type ErrorCode, statusOf } from "./errors";

export type Method = "get" | "post" | "put" | "delete";
type Tag =
  | "Runs"
  | "Sessions"
  | "Configs"
  | "Service"
  | "Keys"
  | "Secrets"
  | "Evaluations"
  | "Contexts";
type Headers = Record<string, { description: string; schema: { type: "string" } }>;
type Content = Record<string, { schema: z.ZodType; example?: unknown }>;
type OperationResponse = {
  description: string;
  content?: Content;
  headers?: Headers;
};

/**
 * One method of a path: its documentation and its handler. The handler validates the request:
 * the schemas here are only for the documentation.
 */
export type Operation = {
  /** Name of the operation in generated clients. */
  id: string;
  tag: Tag;
  summary: string;
  description?: string;
  request?: { params?: z.ZodObject; query?: z.ZodObject; headers?: z.ZodObject; body?: Content };
  /** Responses by status. */
  responses: Record<number, OperationResponse>;
  /** Alternative authentication schemes. If omitted, a key is required. */
  security?: Record<string, string[]>[];
  /** Error codes in addition to the codes that all routes below `/api` share. */
  codes?: readonly ErrorCode[];
  handle: Handler;
};

/** Error codes of all routes below `/api`. */
const SHARED_CODES: readonly ErrorCode[] = [
  "loop_detected",
  "access_closed",
  "unauthorized",
  "insufficient_scope",
  "rate_limited",
  "internal",
  "interrupted",
];
/** Additional error codes of all methods except GET. */
const WRITE_CODES: readonly ErrorCode[] = ["cross_site_refused"];
/** Statuses of temporary errors. Their responses have `retry-after`. */
const RETRYABLE_STATUSES: readonly number[] = [402, 429, 503];

/** The description of a response header. */
export const header = <Name extends string>(name: Name, description: string) =>
  ({ [name]: { description, schema: { type: "string" } } }) satisfies Headers;
const RETRY_AFTER = header("retry-after", "Seconds to wait before a retry");

/** The description of a JSON response, with its schema and an example. */
export const json = (
  description: string,
  schema: z.ZodType,
  example: unknown,
): OperationResponse => ({
  description,
  content: { "application/json": { schema, example } },
});

/** The operation in the form of the OpenAPI registry. `path` has parameters as `{name}`. */
export function toRoute(
  path: string,
  method: Method,
  { id, tag, request, responses, codes = [], ...texts }: Omit<Operation, "handle">,
) {
  const { body, ...parts } = request ?? {};
  const isApiRoute = path.startsWith("/api/");
  const methodCodes = method === "get" ? [] : WRITE_CODES;
  const sharedCodes = isApiRoute ? [...SHARED_CODES, ...methodCodes] : [];
  return createRoute({
    method,
    path,
    operationId: id,
    tags: [tag],
    ...(isApiRoute ? {} : { security: [] }),
    ...texts,
    request: { ...parts, ...(body && { body: { content: body, required: true } }) },
    responses: { ...responses, ...errorResponses([...sharedCodes, ...codes]) },
  });
}

/** The descriptions of error responses: one for each status, with all codes of this status. */
function errorResponses(codes: readonly ErrorCode[]): Record<number, OperationResponse> {
  const statuses = [...new Set(codes.map(statusOf))].sort((one, other) => one - other);
  return Object.fromEntries(
    statuses.map((status) => {
      const codesOfStatus = codes.filter((code) => statusOf(code) === status);
      const [first] = codesOfStatus;
      const example = {
        type: "about:blank",
        title: first?.replaceAll("_", " "),
        status,
        code: first,
        request_id: EXAMPLE_REQUEST,
      };
      const description = codesOfStatus
        .map((code) => `\`${code}\`: ${CODE_MEANINGS[code]}`)
        .join(". ");
      const content = { "application/problem+json": { schema: ProblemSchema, example } };
      return [
        status,
        {
          description,
          content,
          ...(RETRYABLE_STATUSES.includes(status) ? { headers: RETRY_AFTER } : {}),
        },
      ];
    }),
  );
}

const EXAMPLE_REQUEST = "0f8fad5b-d9cb-469f-a165-70867728950e";

/**
 * Path parameters, query parameters and headers for the OpenAPI document. `routes.ts` and the
 * handlers validate the values of requests.
 */

export const ID = z.object({ id: IdSchema.describe("Id of the session") });
const turn = z.int().min(1).describe("Number of the turn, from 1");
export const ID_TURN = ID.extend({ turn });
export const ID_TURN_LABEL = ID_TURN.extend({
  label: LabelSchema.describe(
    "Label of the answer or final text, such as `agent2.1` or `agent2.final`",
  ),
});

export const ATTEMPT = z.object({
  attempt: z
    .int()
    .min(1)
    .optional()
    .describe("Number of the attempt, from 1. Default: the latest attempt"),
});

/** Query parameter for the page size. */
export const limit = (defaultSize: number, maxSize: number) =>
  z.int().min(1).max(maxSize).default(defaultSize).describe("Maximum number of entries");

export const IDEMPOTENCY = z.object({
  "idempotency-key": z
    .string()
    .regex(/^[ -~]{1,255}$/)
    .optional()
    .describe(
      "Makes a repeated start safe: for 24 hours the same key with the same body returns the same run; with another body it is refused. Default: every request starts a run",
    ),
});
export const LAST_EVENT = z.object({
  "last-event-id": z
    .int()
    .min(0)
    .optional()
    .describe("Number of the last event that you have. Takes precedence over `after`"),
});
