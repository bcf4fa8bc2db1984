import * as z from "zod";
import { COST_FIELDS } from "../cost";
import { CitationSchema, HostedToolNameSchema, HostedUseSchema } from "../hosted-tools";
import { UsageSchema } from "../usage";
import { agent, base, count, ofCall, reasonFields } from "./fields";
import { PurposeSchema, RoundLimitSchema } from "./attempt";

const StopReasonSchema = z
  .enum(["stop", "tool_calls", "length", "content_filter", "refusal", "unknown"])
  .describe(
    "Why the reply ended. `length`: at its output limit. `unknown`: the provider gave no known reason",
  );
export type StopReason = z.infer<typeof StopReasonSchema>;

const FailureClassSchema = z
  .enum([
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
  ])
  .describe("Class of the failure. It decides whether the call is tried again");
export type FailureClass = z.infer<typeof FailureClassSchema>;

const decisionCall = z.string().describe("Id of the tool call with the decision");
const decisionName = "Kind of the decision; `invalid` if its arguments have the wrong shape";

/** A decision of an agent: an answer or a vote. The shape of the arguments is already checked. */
const DecisionSchema = z.discriminatedUnion("name", [
  z.object({
    name: z.literal("new_answer").describe(decisionName),
    tool_call: decisionCall,
    content: z.string().describe("Text of the answer"),
  }),
  z.object({
    name: z.literal("vote").describe(decisionName),
    tool_call: decisionCall,
    alias: z.string().describe("Alias of the agent that the vote is for"),
    reason: z.string().describe("The reason that the agent gave"),
  }),
  z.object({
    name: z.literal("invalid").describe(decisionName),
    tool: z.enum(["new_answer", "vote"]).describe("Name of the tool that was called"),
    tool_call: decisionCall,
    problem: z.string().describe("What is wrong with the arguments"),
  }),
]);
export type Decision = z.infer<typeof DecisionSchema>;

/** Size of the part of a conversation that a summary replaced. */
const CompactedPartSchema = z.object({
  replies: count.describe("Number of replies that were removed"),
  tool_calls: count.describe("Number of tool calls that were removed"),
  tool_results: count.describe("Number of tool results that were removed"),
  notes: count.describe(
    "Number of messages to the agent, such as newer answers, that were removed",
  ),
  tokens: count.describe("Estimated number of input tokens saved, the summary deducted"),
});
export type CompactedPart = z.infer<typeof CompactedPartSchema>;

const provider = z.string().describe("Type of the backend");
const model = z.string().describe("Name of the model");
const input_tokens = count.describe("Input tokens of the call, for which the budget needs room");

/** Events of model calls. */
export const CALL_EVENTS = [
  z.object({
    type: z.literal("call.started"),
    ...ofCall,
    purpose: PurposeSchema,
    try: count.describe("Number of the try of this call, from 1"),
    provider,
    model,
    offers: z
      .array(z.string())
      .describe(
        "Decision tools that the call may use. Empty for a call that only researches with hosted tools, and for a summary",
      ),
    forced: z.boolean().describe("Whether the call must use one of `offers`"),
    max_output_tokens: count.describe("Maximum number of tokens that the call may write"),
    hosted_tools: z
      .array(
        z.object({
          name: HostedToolNameSchema.describe("Name of the hosted tool"),
          max_uses: count.describe("Maximum number of uses in this call"),
        }),
      )
      .optional()
      .describe("Hosted tools that the call may use. Omitted if none"),
    compacts: z
      .literal(true)
      .optional()
      .describe(
        "Whether the call summarizes the older part of the agent's conversation. Omitted if it does not",
      ),
    limit: RoundLimitSchema.optional().describe(
      "Limits of the round, as the call states them to the agent. Omitted if none is near",
    ),
    reserved: z
      .object({ tokens: count.describe("Input and output tokens reserved"), ...COST_FIELDS })
      .describe("Tokens and cost that are reserved for the call"),
  }),
  z.object({ type: z.literal("call.deferred"), ...ofCall, input_tokens }),
  z.object({
    type: z.literal("call.waiting"),
    ...ofCall,
    reason: z
      .literal("rate_limit")
      .describe("The config's rate limits of the provider and model have no room"),
    provider,
    model,
    until: z
      .number()
      .describe(
        "Estimated time at which there is room, in Unix milliseconds. Other calls can change it",
      ),
    input_tokens,
  }),
  /** Comes before the `call.completed` of its call. */
  z.object({ type: z.literal("hosted_tool.completed"), ...ofCall, ...HostedUseSchema.shape }),
  /** Comes before the `call.completed` of its call. */
  z.object({
    type: z.literal("citations.added"),
    ...ofCall,
    citations: z.array(CitationSchema).describe("The sources"),
  }),
  z.object({
    type: z.literal("call.completed"),
    ...ofCall,
    provider,
    model,
    stop_reason: StopReasonSchema,
    usage: UsageSchema.describe("Tokens that the call used"),
    unreported: z
      .literal(true)
      .optional()
      .describe(
        "The provider reported no usage, so `usage.output_tokens` is the reservation of the call. Omitted if it reported usage",
      ),
    ...COST_FIELDS,
    tools: z
      .array(
        z.object({
          tool_call: z.string().describe("Id of the tool call"),
          name: z.string().describe("Name of the tool"),
        }),
      )
      .describe("Calls of the agent's own tools in this reply, in order"),
    decisions: z
      .array(DecisionSchema)
      .describe(
        "Decisions of a reply that also calls tools; they are checked after the tools have run. Empty otherwise",
      ),
  }),
  z.object({
    type: z.literal("call.failed"),
    ...ofCall,
    class: FailureClassSchema,
    ...reasonFields,
    retry_at: z
      .number()
      .nullable()
      .describe("Time of the next try in Unix milliseconds; `null` if there is no next try"),
    retry_after_ms: count
      .optional()
      .describe("Milliseconds for which the provider asked to wait. Omitted: it asked for no wait"),
    usage: UsageSchema.nullable().describe("Reported usage; `null` if the provider reported none"),
    ...COST_FIELDS,
    tokens: count.describe(
      "Tokens charged: the reported usage, or the whole reservation if the outcome is unknown, or 0 if the request did not reach the model",
    ),
  }),
  /** Comes directly after the `call.completed` of the call that wrote the summary. */
  z.object({ type: z.literal("conversation.compacted"), ...ofCall, ...CompactedPartSchema.shape }),
] as const;

/** A piece of a model's output. */
const DeltaItemSchema = z.object({
  agent,
  round: count.describe("Number of the agent's round in the attempt, from 1"),
  call: z.string().describe("Id of the model call"),
  kind: z
    .enum(["text", "reasoning", "tool_arguments", "hosted_tool", "final"])
    .describe(
      "`text`: text of the reply. `reasoning`: the model's reasoning. `tool_arguments`: arguments of a tool call. `hosted_tool`: input of a hosted tool. `final`: the final text",
    ),
  name: z
    .string()
    .optional()
    .describe("Name of the tool that the arguments or the input are for. Omitted for other kinds"),
  tool_index: count
    .optional()
    .describe(
      "Index of the tool call in the reply, from 0; `offset` counts within that call. Omitted for other kinds and in older logs, where `offset` counts per tool name",
    ),
  tool_call: z
    .string()
    .optional()
    .describe("Id of the tool call. Omitted if the id is not known yet"),
  offset: count.describe(
    "Position of `text` in UTF-16 code units, from the start of this call's output of this kind",
  ),
  text: z.string().describe("The piece itself"),
});
export type DeltaItem = z.infer<typeof DeltaItemSchema>;
export type DeltaKind = DeltaItem["kind"];

/** Events with output that models are still writing. */
export const STREAM_EVENTS = [
  z.object({
    type: z.literal("stream.delta"),
    ...base,
    items: z.array(DeltaItemSchema).describe("The pieces, in the order written"),
  }),
] as const;
