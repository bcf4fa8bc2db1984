import * as z from "zod";
import { IdSchema, LabelSchema } from "../protocol/api/ids";
import type { Handler } from "./api-env";
import type { ErrorCode } from "./errors";

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
export type OperationResponse = {
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
/** The documentation of an operation. */
export type Documentation = Omit<Operation, "handle">;

/** The description of a response header. */
export const header = <Name extends string>(name: Name, description: string) =>
  ({ [name]: { description, schema: { type: "string" } } }) satisfies Headers;

/** The description of a JSON response, with its schema and an example. */
export const json = (
  description: string,
  schema: z.ZodType,
  example: unknown,
): OperationResponse => ({
  description,
  content: { "application/json": { schema, example } },
});

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
