import * as z from "zod";
import { ANSWER_EVENTS } from "./answer";
import { ATTEMPT_EVENTS, PRESENTATION_EVENTS, ROUND_EVENTS } from "./attempt";
import { CALL_EVENTS, STREAM_EVENTS } from "./call";
import { FILE_EVENTS } from "./file";
import { HISTORY_EVENTS } from "./history";
import { TOOL_EVENTS } from "./tool";
import { TURN_EVENTS } from "./turn";

export { type EndedBy, EndedBySchema } from "./attempt";
export type {
  Decision,
  DeltaItem,
  DeltaKind,
  CompactedPart,
  FailureClass,
  StopReason,
} from "./call";
export type { FileAccess, HandedFiles, LeftOut } from "./file";
export type { Purpose, RoundLimit } from "./attempt";
export type { ListedTool, ToolsListing } from "./tool";
export { type GrantedWorkspace, isTerminal, LOG_VERSION, type PinnedContext } from "./turn";
export { type Usage, UsageSchema } from "../usage";

/**
 * The events of a session. The rules, the stored log, the wire and every client use this one union,
 * so field names are the same everywhere. Adding a field is compatible; renaming or removing a
 * field breaks recorded logs (`proof/golden/`). The descriptions of the fields are public: the
 * OpenAPI document and the reference show them.
 */
export const SessionEventSchema = z.discriminatedUnion("type", [
  ...TURN_EVENTS,
  ...HISTORY_EVENTS,
  ...ATTEMPT_EVENTS,
  ...ROUND_EVENTS,
  ...CALL_EVENTS,
  ...STREAM_EVENTS,
  ...TOOL_EVENTS,
  ...FILE_EVENTS,
  ...ANSWER_EVENTS,
  ...PRESENTATION_EVENTS,
]);

/** Any event as the rules create it, before the log gives it a number. */
export type SessionEvent = z.infer<typeof SessionEventSchema>;
export type EventType = SessionEvent["type"];
/** The event with this type, such as `EventOf<"vote.cast">`. */
export type EventOf<T extends EventType> = Extract<SessionEvent, { type: T }>;
export type CallEvent = EventOf<
  "call.started" | "call.deferred" | "call.waiting" | "call.completed" | "call.failed"
>;
/** An event of an agent's own tool. */
export type ToolEvent = EventOf<
  | "tool.started"
  | "tool.progressed"
  | "tool.input_required"
  | "tool.completed"
  | "tool.interrupted"
  | "tool.unknown"
>;

/** An event as clients receive it. */
export const WireEventSchema = z.intersection(
  SessionEventSchema,
  z.object({
    sequence_number: z
      .number()
      .int()
      .describe("Number of the event in the session, from 1 without gaps. It is also the SSE id"),
    session_id: z.string().describe("Id of the session"),
  }),
);
export type WireEvent = z.infer<typeof WireEventSchema>;
