import type { TeamAgent } from "../config/team";
import { asksForDecision, byteLength } from "../coordination";
import { limitNotice, RESULTS } from "../prompts/notices";
import { RESEARCH_REQUEST } from "../prompts/coordination-user";
import type { RoundLimit } from "../protocol/events";
import type { HostedTool, Message, ModelRequest, ReplyItem, ToolSpec } from "../providers/provider";
import { workflowTools } from "../tools/workflow";
import { compacted } from "./compaction";
import type { CallRecord } from "./records";

/** Converts a round's records to its next request. */

type Conversation = { system: string; messages: Message[] };

type Result = Extract<CallRecord, { kind: "result" }>;
type ToolCall = Extract<ReplyItem, { type: "tool_call" }>;

/**
 * An exchange of the conversation: a reply (none before the first), the results of its calls, and
 * later notes.
 */
type Exchange = { items: readonly ReplyItem[]; results: Map<string, Result>; notes: string[] };

/**
 * The conversation so far. Every tool call of a reply has exactly one result, in order, before any
 * other message; calls without a result get a default text.
 */
export function toMessages(records: readonly CallRecord[]): Conversation {
  const [start] = records;
  if (start?.kind !== "start") throw new Error("a round's records begin with its start");
  const messages: Message[] = [{ role: "user", text: start.user }];
  for (const exchange of exchangesOf(compacted(records))) append(messages, exchange);
  return { system: start.system, messages };
}

function exchangesOf(records: readonly CallRecord[]): Exchange[] {
  let current: Exchange = { items: [], results: new Map(), notes: [] };
  const exchanges = [current];
  for (const record of records) {
    switch (record.kind) {
      case "start":
      case "summary":
      case "cut":
        break;
      case "reply":
        current = { items: record.items, results: new Map(), notes: [] };
        exchanges.push(current);
        break;
      case "result":
        if (!current.results.has(record.toolCall)) current.results.set(record.toolCall, record);
        break;
      case "note":
        current.notes.push(record.text);
        break;
    }
  }
  return exchanges;
}

/**
 * Omits a reply without content: servers refuse empty messages, some refuse reasoning without a
 * following item, and some a search without results. A reply with content is sent back completely,
 * including hosted items in order.
 */
function append(messages: Message[], { items, results, notes }: Exchange): void {
  if (items.some(hasContent)) messages.push({ role: "assistant", items: [...items] });
  const calls = items.filter((item) => item.type === "tool_call");
  const lastVote = calls.findLast(({ name }) => name === "vote");
  for (const call of calls) messages.push(resultOf(call, results.get(call.id), call === lastVote));
  if (notes.length > 0) say(messages, notes.join("\n\n"));
}

const hasContent = (item: ReplyItem): boolean =>
  item.type === "tool_call" || (item.type === "text" && item.text.trim() !== "");

/**
 * Appends to the last user message, because some servers refuse two messages of the same role in a
 * row. The text already sent remains a prefix, for prompt caches.
 */
function say(messages: Message[], text: string): void {
  const last = messages.at(-1);
  if (last?.role === "user")
    messages.splice(-1, 1, { role: "user", text: `${last.text}\n\n${text}` });
  else messages.push({ role: "user", text });
}

function resultOf(call: ToolCall, result: Result | undefined, isLastVote: boolean): Message {
  const { text, isError } = result ?? defaultResult(call.name, isLastVote);
  return { role: "tool", toolCallId: call.id, name: call.name, text, isError };
}

/**
 * A vote without a result was recorded, unless a later vote in the same reply replaced it. Other
 * calls were not executed.
 */
function defaultResult(name: string, isLastVote: boolean): { text: string; isError: boolean } {
  if (name === "vote")
    return { text: isLastVote ? RESULTS.voteRecorded : RESULTS.superseded, isError: false };
  return { text: RESULTS.notExecuted, isError: true };
}

export type RequestParts = {
  records: readonly CallRecord[];
  agent: TeamAgent;
  /** Aliases of the whole team. */
  aliases: readonly string[];
  /** Names of the coordination tools that this call may use. */
  offers: readonly string[];
  forced: boolean;
  maxOutputTokens: number | null;
  ownTools: readonly ToolSpec[];
  /** Hosted tools for this call. */
  hostedTools: readonly HostedTool[];
  /** A research call: it has hosted tools and no functions. Omitted: false. */
  research?: boolean;
  /**
   * A limit of the round that is near or reached. At 0, the call has only coordination tools.
   * Omitted if no limit is near.
   */
  limit?: RoundLimit | undefined;
};

/**
 * The agent's own tools come first. They stay the same, while the coordination tools change, so
 * prompt caches match a longer prefix.
 */
export function toRequest(parts: RequestParts): ModelRequest {
  const { agent, aliases, offers, research = false, limit } = parts;
  const records = limit ? withNote(parts.records, limitNotice(limit, offers)) : parts.records;
  const ownTools = mayAct(offers) && !research && !asksForDecision({ limit }) ? parts.ownTools : [];
  const hostedTools = mayAct(offers) ? parts.hostedTools : [];
  const hasReplied = records.some(({ kind }) => kind === "reply");
  return {
    ...toMessages(research ? withResearchRequest(records) : records),
    model: agent.backend.model,
    tools: [...ownTools, ...workflowTools(offers, aliases)],
    toolChoice: parts.forced ? "required" : "auto",
    maxOutputTokens: parts.maxOutputTokens,
    params: agent.backend.params,
    hostedTools,
    continues: willContinue({
      offers,
      usesTools: ownTools.length + hostedTools.length > 0,
      hasReplied,
    }),
  };
}

/** The conversation for a research call. */
export const withResearchRequest = (records: readonly CallRecord[]): CallRecord[] =>
  withNote(records, RESEARCH_REQUEST);

/** The note is last and only in this call, so that prompt caches still match. */
const withNote = (records: readonly CallRecord[], text: string): CallRecord[] => [
  ...records,
  { kind: "note", text },
];

type Prospects = { offers: readonly string[]; usesTools: boolean; hasReplied: boolean };

/**
 * Whether another call will probably continue this one within minutes: with tools, if a vote may be
 * stale, or if the round has already continued. Verdicts and personas are single calls.
 */
export const willContinue = ({ offers, usesTools, hasReplied }: Prospects): boolean =>
  mayAct(offers) && (usesTools || hasReplied || offers.includes("vote"));

/**
 * Verdicts and personas use only the given text; a call of another tool would count as no answer.
 */
const mayAct = (offers: readonly string[]): boolean =>
  !offers.includes("submit") && !offers.includes("assign_personas");

/** Tokens that providers add: roles, separators, instructions for tools. */
const OVERHEAD = {
  request: 64,
  withTools: 512,
  tool: 32,
  hostedTool: 1_024,
  message: 16,
  item: 16,
} as const;

/**
 * Upper bound of the input tokens: no tokenizer makes more tokens than UTF-8 bytes. Excludes
 * results of hosted tools in this call, which the rules reserve per use.
 */
export function inputTokenBound({
  system,
  messages,
  tools,
  hostedTools,
  params,
}: ModelRequest): number {
  // parameters may contain prompts
  const fixed = byteLength(system) + byteLength(JSON.stringify(params));
  // described by the provider in unknown words
  const hosted = hostedTools.length * OVERHEAD.hostedTool;
  const base =
    OVERHEAD.request +
    fixed +
    (tools.length + hostedTools.length > 0 ? OVERHEAD.withTools : 0) +
    hosted;
  const said = base + messagesBound(messages);
  return tools.reduce((sum, tool) => sum + OVERHEAD.tool + byteLength(JSON.stringify(tool)), said);
}

/** The same for messages alone. */
export const messagesBound = (messages: readonly Message[]): number =>
  messages.reduce((sum, message) => sum + OVERHEAD.message + messageBytes(message), 0);

function messageBytes(message: Message): number {
  switch (message.role) {
    case "user":
      return byteLength(message.text);
    case "tool":
      return byteLength(message.text) + byteLength(message.name) + byteLength(message.toolCallId);
    case "assistant":
      return message.items.reduce((sum, item) => sum + OVERHEAD.item + itemBytes(item), 0);
  }
}

function itemBytes(item: ReplyItem): number {
  const opaque = item.opaque === undefined ? 0 : byteLength(JSON.stringify(item.opaque) ?? "");
  return opaque + byteLength(textOf(item));
}

function textOf(item: ReplyItem): string {
  switch (item.type) {
    case "tool_call":
      return item.name + item.id + item.arguments;
    case "hosted":
      return "";
    case "text":
    case "reasoning":
      return item.text;
  }
}
