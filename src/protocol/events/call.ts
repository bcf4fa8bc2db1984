import { z } from "zod";
import { COST_FIELDS } from "../cost";
import { CitationSchema, HostedToolNameSchema, HostedUseSchema } from "../hosted-tools";
import { UsageSchema } from "../usage";
import { agent, base, ofCall } from "./fields";
import { PurposeSchema, RoundLimitSchema } from "./attempt";

const StopReasonSchema = z.enum([
  "stop",
  "tool_calls",
  "length",
  "content_filter",
  "refusal",
  "unknown",
]);
export type StopReason = z.infer<typeof StopReasonSchema>;

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

/** Events of model calls. */
export const CALL_EVENTS = [
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
] as const;

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

/** What models are writing. */
export const STREAM_EVENTS = [
  z.object({
    type: z.literal("stream.delta"),
    ...base,
    items: z.array(DeltaItemSchema),
  }),
] as const;
