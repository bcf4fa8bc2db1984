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
type Answer = {
  description: string;
  content?: Content;
  headers?: Headers;
};

/** One method of a path: what the document says of it, and what is done. Handlers read and check what they take themselves. */
export type Operation = {
  /** Its name in generated clients. */
  id: string;
  tag: Tag;
  summary: string;
  description?: string;
  request?: { params?: z.ZodObject; query?: z.ZodObject; headers?: z.ZodObject; body?: Content };
  /** By status. */
  answers: Record<number, Answer>;
  /** Who may ask, where it is not whoever has a key: each entry is one way in. */
  security?: Record<string, string[]>[];
  /** Refusals beside those of every address below `/api`. */
  codes?: readonly ErrorCode[];
  handle: Handler;
};

const EVERYWHERE: readonly ErrorCode[] = [
  "loop_detected",
  "access_closed",
  "unauthorized",
  "insufficient_scope",
  "rate_limited",
  "internal",
  "interrupted",
];
const WRITING: readonly ErrorCode[] = ["cross_site_refused"];
/** Statuses of refusals that pass by themselves. */
const PASSING: readonly number[] = [402, 429, 503];

/** A header of an answer. */
export const header = <Name extends string>(name: Name, description: string) =>
  ({ [name]: { description, schema: { type: "string" } } }) satisfies Headers;
const RETRY_AFTER = header("retry-after", "In how many seconds it is worth asking again");

/** JSON of a schema, with an example. */
export const json = (description: string, schema: z.ZodType, example: unknown): Answer => ({
  description,
  content: { "application/json": { schema, example } },
});

/** The route as OpenAPI has it; `path` is written with `{name}`. */
export function toRoute(
  path: string,
  method: Method,
  { id, tag, request, answers, codes = [], ...texts }: Omit<Operation, "handle">,
) {
  const { body, ...parts } = request ?? {};
  const isOurs = path.startsWith("/api/");
  const shared = isOurs ? [...EVERYWHERE, ...(method === "get" ? [] : WRITING)] : [];
  return createRoute({
    method,
    path,
    operationId: id,
    tags: [tag],
    ...(isOurs ? {} : { security: [] }),
    ...texts,
    request: { ...parts, ...(body && { body: { content: body, required: true } }) },
    responses: { ...answers, ...problems([...shared, ...codes]) },
  });
}

/** One response for each status, with all codes that have it. */
function problems(codes: readonly ErrorCode[]): Record<number, Answer> {
  const statuses = [...new Set(codes.map(statusOf))].sort((one, other) => one - other);
  return Object.fromEntries(
    statuses.map((status) => {
      const own = codes.filter((code) => statusOf(code) === status);
      const [first] = own;
      const example = {
        type: "about:blank",
        title: first?.replaceAll("_", " "),
        status,
        code: first,
        request_id: EXAMPLE_REQUEST,
      };
      const description = own.map((code) => `\`${code}\`: ${CODE_MEANINGS[code]}`).join("; ");
      const content = { "application/problem+json": { schema: ProblemSchema, example } };
      return [
        status,
        { description, content, ...(PASSING.includes(status) ? { headers: RETRY_AFTER } : {}) },
      ];
    }),
  );
}

const EXAMPLE_REQUEST = "0f8fad5b-d9cb-469f-a165-70867728950e";

/** What addresses and headers hold, as the document tells of it. `routes.ts` and its neighbours read it, in their own words. */

export const ID = z.object({ id: IdSchema.describe("The session's id") });
const turn = z.int().min(1).describe("The turn's number, from 1");
export const ID_TURN = ID.extend({ turn });
export const ID_TURN_LABEL = ID_TURN.extend({
  label: LabelSchema.describe("The answer's label: `agent2.1`, `agent2.final`"),
});

export const ATTEMPT = z.object({
  attempt: z
    .int()
    .min(1)
    .optional()
    .describe("The attempt the answer is of; the last unless given"),
});

/** A page's size. */
export const limit = (usual: number, most: number) =>
  z.int().min(1).max(most).default(usual).describe("How many to give at most");

export const IDEMPOTENCY = z.object({
  "idempotency-key": z
    .string()
    .regex(/^[ -~]{1,255}$/)
    .optional()
    .describe(
      "Makes starting twice the same as once: for a day the same key with the same body gives the same run, and with another body is refused.",
    ),
});
export const LAST_EVENT = z.object({
  "last-event-id": z.int().min(0).optional().describe("The last event you have; wins over `after`"),
});
