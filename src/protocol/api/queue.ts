import * as z from "zod";
import { IdSchema } from "./ids";
import { warningsField } from "./problem";
import { seconds } from "./time";

/** Requests and responses about the queue of a session. */

export const OnBusySchema = z.enum(["reject", "queue", "interrupt"]);

const position = z.int().min(1).describe("Position in the queue, from 1");
const queueId = IdSchema.describe("Id of the request in the queue");

const QueuedRequestSchema = z
  .object({
    id: queueId,
    position,
    question_preview: z.string().describe("Start of the question"),
    attachments: z.int().describe("Number of images and files of the question"),
    parent_turn: z
      .int()
      .nullable()
      .describe(
        "Number of the turn that the request names to follow; `null` for the head at its start",
      ),
    interrupts: z
      .boolean()
      .describe("Whether the request starts although the queue was held before it"),
    created_at: seconds.describe("Time of the request in Unix seconds"),
  })
  .meta({ id: "QueuedRequest" });

const HeldSchema = z
  .object({
    code: z
      .enum(["cancelled", "turn_failed", "key_revoked"])
      .describe(
        "`cancelled`: a turn was cancelled. `turn_failed`: a turn failed. `key_revoked`: the key of the next request is no longer valid",
      ),
    message: z.string().describe("The reason, for people. Its wording may change"),
  })
  .meta({ id: "QueueHold" });

const WaitingSchema = z
  .object({
    code: z
      .enum(["turn_running", "turn_unsettled", "quota_exceeded", "spend_exceeded", "service_error"])
      .describe(
        "`turn_running`: a turn runs. `turn_unsettled`: the cost of the turn before is being charged. `quota_exceeded`: the tenant runs the maximum number of turns. `spend_exceeded`: the daily budget of the tenant is exhausted. `service_error`: a part of the service did not respond",
      ),
    message: z.string().describe("The reason, for people. Its wording may change"),
    retry_at: seconds
      .nullable()
      .describe("Time of the next try in Unix seconds; `null` if an event ends the wait"),
  })
  .meta({ id: "QueueWait" });

export const QueueSchema = z
  .object({
    session_id: IdSchema.describe("Id of the session"),
    // Unions, because nullable schemas would lose their names in the OpenAPI document.
    held: z
      .union([HeldSchema, z.null()])
      .describe("Why nothing starts until the queue is resumed; `null` if the queue is not held"),
    waiting: z
      .union([WaitingSchema, z.null()])
      .describe("Why the first request has not started yet; `null` if none waits or it starts now"),
    data: z.array(QueuedRequestSchema).describe("The requests in the order of their start"),
  })
  .meta({ id: "Queue" });
export type Queue = z.infer<typeof QueueSchema>;

export const QueuedTurnSchema = z
  .object({
    session_id: IdSchema.describe("Id of the session"),
    id: queueId,
    position: position.nullable().describe("Position in the queue; `null` once the turn exists"),
    turn: z
      .int()
      .nullable()
      .describe("Number of the turn that the request has started; `null` while it waits"),
  })
  .meta({ id: "QueuedTurn" });
export type QueuedTurn = z.infer<typeof QueuedTurnSchema>;

/** The response to a request that was queued. */
export const QueuedResponseSchema = z
  .object({
    session_id: IdSchema.describe("Id of the session"),
    status: z.literal("queued").describe("Always `queued`: the turn does not exist yet"),
    queued: z.object({ id: queueId, position }).describe("The request in the queue"),
    links: z
      .object({
        session: z.string().describe("Path of the session"),
        queue: z.string().describe("Path of the queue"),
        queued: z.string().describe("Path of the request in the queue; it names the turn later"),
      })
      .describe("Paths on the same host"),
    warnings: warningsField,
  })
  .meta({ id: "Queued" });
export type QueuedResponse = z.infer<typeof QueuedResponseSchema>;
