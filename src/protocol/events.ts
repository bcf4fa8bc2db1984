import { z } from "zod";
import { AttachmentSchema } from "./attachments";
import { FileAccessSchema, HandedFilesSchema, LeftOutSchema } from "./file-events";
import { COST_FIELDS } from "./cost";
import { CitationSchema, HostedToolNameSchema, HostedUseSchema } from "./hosted-tools";
import { RoundLimitSchema } from "./round-limit";
import { BudgetSchema, TeamRulesSchema, ToolRuleSchema } from "./team";
import { InputRequiredSchema, ToolProgressSchema } from "./tool-notifications";
import { UsageSchema } from "./usage-schema";

export type { FileAccess, HandedFiles, LeftOut } from "./file-events";
export type { RoundLimit } from "./round-limit";
export { type Usage, UsageSchema } from "./usage-schema";

/**
 * The session's event log: one union for the rules, the stored log, the wire and every client. Field names are the same
 * everywhere. Adding a field is compatible; renaming or removing one breaks recorded logs (`proof/golden/`).
 */

const StopReasonSchema = z.enum([
  "stop",
  "tool_calls",
  "length",
  "content_filter",
  "refusal",
  "unknown",
]);
export type StopReason = z.infer<typeof StopReasonSchema>;

/** What a call is for: a round's work, the final text, the presenter's verdict on it, or writing the personas. */
const PurposeSchema = z.enum(["coordination", "presentation", "judgement", "personas"]);
export type Purpose = z.infer<typeof PurposeSchema>;

const FailureClassSchema = z.enum([
  "transient",
  "interrupted",
  "quota",
  "context_too_long",
  "bad_credentials",
  "unknown_model",
  "bad_request",
  "content_filter",
  "refusal",
  "cancelled",
]);
export type FailureClass = z.infer<typeof FailureClassSchema>;

export const EndedBySchema = z.enum([
  "consensus",
  "deadline",
  "budget",
  "no_agents",
  "cancelled",
  "skipped",
]);
export type EndedBy = z.infer<typeof EndedBySchema>;

const agent = z.string();
const label = z.string();
const LabelledVote = z.object({ agent, label });

/** The two decisions of an agent, arguments already checked for shape; `tool_call` is the provider's id of the call. */
const DecisionSchema = z.discriminatedUnion("name", [
  z.object({ name: z.literal("new_answer"), tool_call: z.string(), content: z.string() }),
  z.object({
    name: z.literal("vote"),
    tool_call: z.string(),
    alias: z.string(),
    reason: z.string(),
  }),
  z.object({
    name: z.literal("invalid"),
    tool: z.enum(["new_answer", "vote"]),
    tool_call: z.string(),
    problem: z.string(),
  }),
]);
export type Decision = z.infer<typeof DecisionSchema>;

/** A context as it was uploaded when the turn began: what is uploaded later changes nothing for the turn. */
const PinnedContextSchema = z.object({
  name: z.string(),
  version: z.string(),
  /** agent id → what it may do; `write`: once it presents. Agents that are not named do not see it. */
  permissions: z.record(z.string(), z.enum(["read", "write"])),
});
export type PinnedContext = z.infer<typeof PinnedContextSchema>;

/** A tool of a tool server, as an agent is offered it. */
const ListedToolSchema = ToolRuleSchema.extend({
  /** As the server calls it; `name` is what the agent knows it by. */
  tool: z.string(),
  /** SHA-256 of its name, title, description and schemas, in hex. */
  hash: z.string(),
});
export type ListedTool = z.infer<typeof ListedToolSchema>;

/** What one tool server has for one agent. */
const ToolsListingSchema = z.object({
  /** By its name in the config. */
  server: z.string(),
  /** The revision of the protocol that it speaks; null: nobody knows. */
  version: z.string().nullable(),
  /** Why it cannot be used, as a sentence; null: it can. */
  problem: z.string().nullable(),
  tools: z.array(ListedToolSchema),
  /** Tools that are not offered, and why, as a clause. `changed`: not what it was when the session first saw it. */
  refused: z.array(z.object({ tool: z.string(), why: z.string(), changed: z.boolean() })),
  /** Tools that are not offered, beyond those listed. */
  more_refused: z.number().int().optional(),
});
export type ToolsListing = z.infer<typeof ToolsListingSchema>;

/** What of a conversation gave way to a summary. */
const DroppedSchema = z.object({
  replies: z.number().int(),
  tool_calls: z.number().int(),
  tool_results: z.number().int(),
  /** Messages to the agent, such as newer answers. */
  notes: z.number().int(),
  /** An estimate of what that leaves free, the summary counted. */
  tokens: z.number().int(),
});
export type Dropped = z.infer<typeof DroppedSchema>;

/** What every event carries before the log numbers it. `turn` is 0 for what belongs to the session as a whole. */
const base = { at: z.number(), turn: z.number().int() };
const inAttempt = { ...base, attempt: z.number().int() };
const ofAgent = { ...inAttempt, agent };
const ofRound = { ...ofAgent, round: z.number().int() };
const ofCall = { ...ofRound, call: z.string() };
const ofTool = { ...ofRound, tool_call: z.string(), name: z.string() };

export const SessionEventSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("session.created"), ...base, rules: TeamRulesSchema }),
  z.object({
    type: z.literal("turn.started"),
    ...base,
    question: z.string(),
    /** Images and files that came with the question; absent: none. */
    attachments: z.array(AttachmentSchema).optional(),
    /** No agent of the team reads more input tokens for the attachments in one call; absent: 0. */
    attachment_tokens: z.number().int().optional(),
    parent_turn: z.number().int().nullable(),
    /** agent id → alias, drawn once per turn. */
    aliases: z.record(z.string(), z.string()),
    budget: BudgetSchema,
    /** Unix ms; the whole turn, presentation included, ends by then. */
    deadline_at: z.number(),
    /** What the user uploaded and the agents see; absent: nothing. */
    contexts: z.array(PinnedContextSchema).optional(),
    /** Which version of the facts the turn is told in (`log-version.ts`); absent: 1. */
    log_version: z.number().int().optional(),
  }),
  z.object({
    type: z.literal("attempt.started"),
    ...inAttempt,
    /** Why the previous attempt's final answer was rejected; null in the first attempt. */
    feedback: z.object({ reason: z.string(), instructions: z.string() }).nullable(),
  }),
  z.object({
    type: z.literal("personas.assigned"),
    ...inAttempt,
    personas: z.record(z.string(), z.string()),
  }),
  z.object({
    type: z.literal("round.started"),
    ...ofRound,
    purpose: PurposeSchema,
    /** The answers shown, in the order shown. */
    labels: z.array(label),
    cause: z.enum(["first", "answered", "failed", "context_full"]),
    /** The tree the round starts from; a presenter starts from its winning snapshot, null where agents have no files. */
    workspace: z.string().nullable(),
    /** The failed round whose file changes this one keeps; absent: the round starts without changes. */
    carries: z.number().int().optional(),
  }),
  z.object({ type: z.literal("round.failed"), ...ofRound, code: z.string(), message: z.string() }),
  z.object({
    type: z.literal("call.started"),
    ...ofCall,
    purpose: PurposeSchema,
    /** 1 for the first try of this call. */
    try: z.number().int(),
    provider: z.string(),
    model: z.string(),
    /** The orchestrator's tools this call may use, and whether it must. None in coordination: a research call. */
    offers: z.array(z.string()),
    forced: z.boolean(),
    max_output_tokens: z.number().int(),
    /** The hosted tools this call may use, each so often; absent: none. */
    hosted_tools: z
      .array(z.object({ name: HostedToolNameSchema, max_uses: z.number().int() }))
      .optional(),
    /** A call that sums up the older part of the agent's conversation; absent: it does not. */
    compacts: z.literal(true).optional(),
    /** What the call says of its round's limits; absent: none is near. */
    limit: RoundLimitSchema.optional(),
    reserved: z.object({ tokens: z.number().int(), ...COST_FIELDS }),
  }),
  z.object({
    type: z.literal("call.deferred"),
    ...ofCall,
    /** Tokens of input the call needs room for before it can be paid. */
    input_tokens: z.number().int(),
  }),
  z.object({
    type: z.literal("call.waiting"),
    ...ofCall,
    /** For room within the limits of the backend's provider and model that the config sets. */
    reason: z.literal("rate_limit"),
    provider: z.string(),
    model: z.string(),
    /** Unix ms of about when there will be room; others may come first, or give theirs back. */
    until: z.number(),
    /** Tokens of input it needs room for in the budget; without, it waits no longer. */
    input_tokens: z.number().int(),
  }),
  /** What hosted tools did in a call, and the sources of its text; both come before its `call.completed`. */
  z.object({ type: z.literal("hosted_tool.completed"), ...ofCall, ...HostedUseSchema.shape }),
  z.object({ type: z.literal("citations.added"), ...ofCall, citations: z.array(CitationSchema) }),
  z.object({
    type: z.literal("call.completed"),
    ...ofCall,
    provider: z.string(),
    model: z.string(),
    stop_reason: StopReasonSchema,
    usage: UsageSchema,
    /** The provider reported no usage: `usage.output_tokens` is what the call had reserved. Absent: it reported. */
    unreported: z.literal(true).optional(),
    ...COST_FIELDS,
    /** Calls of the agent's own tools in this reply, in order. */
    tools: z.array(z.object({ tool_call: z.string(), name: z.string() })),
    /** Decisions of a reply that also calls tools: judged when the tools have run. */
    decisions: z.array(DecisionSchema),
  }),
  z.object({
    type: z.literal("call.failed"),
    ...ofCall,
    class: FailureClassSchema,
    code: z.string(),
    message: z.string(),
    /** Unix ms of the next try; null: there is none. */
    retry_at: z.number().nullable(),
    usage: UsageSchema.nullable(),
    /** What the failed try is charged: reported usage, its whole reservation if its fate is unknown, 0 if it never reached the model. */
    ...COST_FIELDS,
    tokens: z.number().int(),
  }),
  /** The older part of a round's conversation has given way to what this call wrote; comes right after its `call.completed`. */
  z.object({ type: z.literal("conversation.compacted"), ...ofCall, ...DroppedSchema.shape }),
  z.object({
    type: z.literal("stream.delta"),
    ...base,
    items: z.array(z.lazy(() => DeltaItemSchema)),
  }),
  /**
   * What a tool server has for an agent, from now on: in the turn it takes the place of what was listed before. A tool is pinned
   * for the session by the first event that names it.
   */
  z.object({ type: z.literal("tools.listed"), ...ofAgent, ...ToolsListingSchema.shape }),
  z.object({ type: z.literal("tool.started"), ...ofTool }),
  /** How far a running tool is, by its server; now and then, not each time the server says so. */
  z.object({ type: z.literal("tool.progressed"), ...ofTool, ...ToolProgressSchema.shape }),
  /** What a tool's server wants of a person. Nobody is asked and nothing is answered: it is shown. */
  z.object({ type: z.literal("tool.input_required"), ...ofTool, ...InputRequiredSchema.shape }),
  z.object({
    type: z.literal("tool.completed"),
    ...ofTool,
    outcome: z.enum(["ok", "error", "planned", "refused"]),
  }),
  /** Cut off by a restart and safe to repeat: it is owed again. */
  z.object({ type: z.literal("tool.interrupted"), ...ofTool }),
  /** Whether it did its work is not known. `message`: what it said, the beginning; absent where it said nothing. */
  z.object({ type: z.literal("tool.unknown"), ...ofTool, message: z.string().optional() }),
  /** The audit trail: what a tool did to files, or tried to; comes right before the tool's end. */
  z.object({
    type: z.literal("files.accessed"),
    ...ofTool,
    accesses: z.array(FileAccessSchema),
    /** Accesses beyond those listed, in logs that left them out. */
    more: z.number().int().optional(),
  }),
  z.object({
    type: z.literal("answer.submitted"),
    ...ofAgent,
    label,
    revision: z.number().int(),
    content: z.string(),
    /** `partial`: taken from a reply that was cut, because time, tries or calls ran out. */
    origin: z.enum(["tool", "partial"]),
    /** The call of `new_answer`. Absent: there was none, or the log is from before this field. */
    tool_call: z.string().optional(),
    /**
     * Whose files go with it: by its own label its own; else, as its author changed none, the label of the author's earlier snapshot,
     * or `base` for what the turn began with. null: the agent has no files.
     */
    snapshot: z.string().nullable(),
    /** Absent: the agent has no files, or the log is from before this field. */
    files: HandedFilesSchema.optional(),
    /** How many files stay, if its author changed none. Absent: it did, or the log is from before this field. */
    kept_files: z.number().int().optional(),
    /** Absent: none. */
    left_out: LeftOutSchema.optional(),
  }),
  z.object({
    type: z.literal("answer.refused"),
    ...ofRound,
    tool_call: z.string(),
    code: z.string(),
    message: z.string(),
  }),
  z.object({
    type: z.literal("votes.cleared"),
    ...inAttempt,
    by: label,
    votes: z.array(LabelledVote),
  }),
  z.object({
    type: z.literal("vote.cast"),
    ...ofRound,
    tool_call: z.string(),
    label,
    revision: z.number().int(),
    reason: z.string(),
  }),
  z.object({
    type: z.literal("vote.stale"),
    ...ofRound,
    tool_call: z.string(),
    label,
    missing: z.array(label),
  }),
  z.object({
    type: z.literal("vote.refused"),
    ...ofRound,
    tool_call: z.string(),
    code: z.string(),
    message: z.string(),
  }),
  z.object({ type: z.literal("round.nudged"), ...ofRound, nudge: z.number().int() }),
  z.object({
    type: z.literal("answers.injected"),
    ...ofRound,
    labels: z.array(label),
    via: z.enum(["tool_result", "message", "reopened"]),
  }),
  z.object({ type: z.literal("agent.failed"), ...ofAgent, code: z.string(), message: z.string() }),
  z.object({
    type: z.literal("agent.abstained"),
    ...ofAgent,
    code: z.string(),
    message: z.string(),
  }),
  z.object({
    type: z.literal("attempt.settled"),
    ...inAttempt,
    winner: agent.nullable(),
    label: label.nullable(),
    tally: z.record(z.string(), z.number().int()),
    tie: z.boolean(),
    ended_by: EndedBySchema,
  }),
  z.object({
    type: z.literal("presentation.started"),
    ...ofRound,
    label: label.nullable(),
    workspace: z.string().nullable(),
  }),
  z.object({
    type: z.literal("presentation.completed"),
    ...ofAgent,
    label,
    content: z.string(),
    source: z.enum(["presentation", "answer", "partial"]),
    /** Why it is not the presenter's own text; null if it is. */
    fallback: z.string().nullable(),
    /** Tools the presenter executed, which a fallen or rejected presentation cannot take back. */
    tools: z.array(z.string()),
    /**
     * Whose files go with it: by its own label its own; else what the presenter began with, as it changed none: the label of the
     * winning answer's snapshot, or `base` for what the turn began with. null: the presenter has no files; absent: not told.
     */
    snapshot: z.string().nullable().optional(),
    /** Absent: the presenter has no files, or the log is from before this field. */
    files: HandedFilesSchema.optional(),
    /** The file of `snapshot` that holds the whole text, of which `content` is only the beginning. Absent: there is none. */
    text_file: z.string().optional(),
    /** How many files, those of contexts too, its presenter had changed when it was cut off; they go with it. Absent: none. */
    changed_files: z.number().int().optional(),
  }),
  z.object({
    type: z.literal("attempt.restarted"),
    ...ofAgent,
    reason: z.string(),
    instructions: z.string(),
  }),
  z.object({
    type: z.literal("turn.completed"),
    ...base,
    winner: agent,
    label,
    attempt: z.number().int(),
    answer: z.string(),
    finish_reason: EndedBySchema,
    usage: UsageSchema,
    ...COST_FIELDS,
  }),
  z.object({
    type: z.literal("turn.failed"),
    ...base,
    code: z.string(),
    message: z.string(),
    agents: z.array(z.object({ agent, code: z.string(), message: z.string() })),
    usage: UsageSchema,
    ...COST_FIELDS,
  }),
  z.object({
    type: z.literal("turn.cancelled"),
    ...base,
    partial: z.object({
      winner: agent.nullable(),
      answer: z.string().nullable(),
      text: z.string().nullable(),
    }),
    usage: UsageSchema,
    ...COST_FIELDS,
  }),
]);

/** A piece of what a model is writing. `offset` counts UTF-16 code units from the start of this call's text of this kind. */
const DeltaItemSchema = z.object({
  agent,
  round: z.number().int(),
  call: z.string(),
  kind: z.enum(["text", "reasoning", "tool_arguments", "hosted_tool", "final"]),
  /** Of the tool whose arguments or input this is. */
  name: z.string().optional(),
  /**
   * Which tool call of the reply these arguments belong to, from 0: `offset` then counts within that tool call's. Calls that
   * are shown at once have one each, also if they are of one tool. Absent: text, a hosted tool's input, or a log that has none;
   * there `offset` counts within the tool's name.
   */
  tool_index: z.number().int().optional(),
  /** The `tool_call` of the events that tell of this call later. Absent: it is not known yet, as where the provider gives no ids. */
  tool_call: z.string().optional(),
  offset: z.number().int(),
  text: z.string(),
});
export type DeltaItem = z.infer<typeof DeltaItemSchema>;
export type DeltaKind = DeltaItem["kind"];

/** Any event as the rules make it and the log stores it, before it has a number. */
export type SessionEvent = z.infer<typeof SessionEventSchema>;
export type EventType = SessionEvent["type"];
/** The event of one type: `EventOf<"vote.cast">`. */
export type EventOf<T extends EventType> = Extract<SessionEvent, { type: T }>;
export type CallEvent = EventOf<
  "call.started" | "call.deferred" | "call.waiting" | "call.completed" | "call.failed"
>;
/** Of an agent's own tool. */
export type ToolEvent = EventOf<
  | "tool.started"
  | "tool.progressed"
  | "tool.input_required"
  | "tool.completed"
  | "tool.interrupted"
  | "tool.unknown"
>;

/** An event as clients get it. */
export const WireEventSchema = z.intersection(
  SessionEventSchema,
  z.object({ sequence_number: z.number().int(), session_id: z.string() }),
);
export type WireEvent = z.infer<typeof WireEventSchema>;

const TERMINAL = new Set<string>(["turn.completed", "turn.failed", "turn.cancelled"]);
/** Whether nothing more is logged for the turn after an event of this type. */
export const isTerminal = (type: string): boolean => TERMINAL.has(type);
