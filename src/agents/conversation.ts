import type { TeamAgent } from "../config/team";
import { asksForDecision, byteLength } from "../coordination";
import { limitNotice, RESULTS } from "../prompts/notices";
import { RESEARCH_REQUEST } from "../prompts/coordination-user";
import type { RoundLimit } from "../protocol/events";
import type { HostedTool, Message, ModelRequest, ReplyItem, ToolSpec } from "../providers/provider";
import { workflowTools } from "../tools/workflow";
import { compacted } from "./compaction";
import type { CallRecord } from "./records";

/** Converts the records of a round to the next request of that round. */

type Conversation = { system: string; messages: Message[] };

type Result = Extract<CallRecord, { kind: "result" }>;
type ToolCall = Extract<ReplyItem, { type: "tool_call" }>;

/**
 * Part of the conversation: a reply, the results of its calls, and the notes up to the next reply.
 * The first exchange has no reply: `items` is empty.
 */
type Exchange = { items: readonly ReplyItem[]; results: Map<string, Result>; notes: string[] };

/** A call's request is built before and after its grant, from the same records. */
const conversations = new WeakMap<readonly CallRecord[], Conversation>();

/**
 * The conversation so far. The results follow their reply directly: exactly one for each tool call,
 * in the order of the calls. A call without a result gets a default text. Neither `records` nor the
 * result may be changed afterwards.
 */
export function toMessages(records: readonly CallRecord[]): Conversation {
  const conversation = conversations.get(records) ?? conversationOf(records);
  conversations.set(records, conversation);
  return conversation;
}

function conversationOf(records: readonly CallRecord[]): Conversation {
  const [start] = records;
  if (start?.kind !== "start") throw new Error("a round's records begin with its start");
  const { system, history, user } = start;
  const messages: Message[] = [{ role: "user", ...(history && { history }), text: user }];
  for (const exchange of exchangesOf(compacted(records))) append(messages, exchange);
  return { system, messages };
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
 * Appends an exchange. A reply without content is omitted: servers refuse empty messages, and some
 * refuse reasoning without a following item or a search without results. A reply with content is
 * sent back completely and in order, including its hosted items.
 */
function append(messages: Message[], { items, results, notes }: Exchange): void {
  if (items.some(hasContent)) messages.push({ role: "assistant", items: [...items] });
  const calls = items.filter((item) => item.type === "tool_call");
  const lastVote = calls.findLast(({ name }) => name === "vote");
  for (const call of calls) messages.push(resultOf(call, results.get(call.id), call === lastVote));
  if (notes.length > 0) appendUserText(messages, notes.join("\n\n"));
}

const hasContent = (item: ReplyItem): boolean =>
  item.type === "tool_call" || (item.type === "text" && item.text.trim() !== "");

/**
 * Appends the text to the last message if that is a user message, because some servers refuse two
 * messages of the same role in a row. The text already sent remains a prefix, for prompt caches.
 */
function appendUserText(messages: Message[], text: string): void {
  const last = messages.at(-1);
  if (last?.role === "user") messages.splice(-1, 1, { ...last, text: `${last.text}\n\n${text}` });
  else messages.push({ role: "user", text });
}

function resultOf(call: ToolCall, result: Result | undefined, isLastVote: boolean): Message {
  const { text, isError } = result ?? defaultResult(call.name, isLastVote);
  return { role: "tool", toolCallId: call.id, name: call.name, text, isError };
}

/**
 * The result of a call that has no `result` record. The last vote of a reply then counts as
 * recorded, and its earlier votes count as replaced. Other calls were not executed.
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
  /** Whether the model must call a tool. */
  forced: boolean;
  /** `null` if the output is not limited. */
  maxOutputTokens: number | null;
  /** The agent's own tools, which are not coordination tools. */
  ownTools: readonly ToolSpec[];
  /** Hosted tools for this call. */
  hostedTools: readonly HostedTool[];
  /** Whether this is a research call, which has hosted tools and no functions. Omitted: false. */
  research?: boolean;
  /**
   * A limit of the round that is near or reached; omitted if no limit is near. If no calls or no
   * time remain, the call has only coordination tools.
   */
  limit?: RoundLimit | undefined;
};

/**
 * Converts the parts to a request. The agent's own tools are listed first: they stay the same while
 * the coordination tools change, so prompt caches match a longer prefix.
 */
export function toRequest(parts: RequestParts): ModelRequest {
  const { agent, aliases, offers, research = false, limit } = parts;
  const records = limit ? withNote(parts.records, limitNotice(limit, offers)) : parts.records;
  const ownTools =
    mayUseTools(offers) && !research && !asksForDecision({ limit }) ? parts.ownTools : [];
  const hostedTools = mayUseTools(offers) ? parts.hostedTools : [];
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

/** The records with a note at the end. The note is not stored, so prompt caches still match. */
const withNote = (records: readonly CallRecord[], text: string): CallRecord[] => [
  ...records,
  { kind: "note", text },
];

type ContinuationSigns = { offers: readonly string[]; usesTools: boolean; hasReplied: boolean };

/**
 * Whether another call will probably continue this one within minutes. This is probable if the call
 * has tools, if its vote may become stale, or if the round already has a reply. Verdicts and
 * personas are single calls.
 */
export const willContinue = ({ offers, usesTools, hasReplied }: ContinuationSigns): boolean =>
  mayUseTools(offers) && (usesTools || hasReplied || offers.includes("vote"));

/**
 * Whether the call may use tools of the agent. A call for a verdict or for personas may not: it
 * uses only the text that it contains, and a call of another tool would count as no answer.
 */
const mayUseTools = (offers: readonly string[]): boolean =>
  !offers.includes("submit") && !offers.includes("assign_personas");

/** Upper bounds of the tokens that providers add: roles, separators, instructions for tools. */
const OVERHEAD = {
  request: 64,
  withTools: 512,
  tool: 32,
  hostedTool: 1_024,
  message: 16,
  item: 16,
} as const;

/**
 * Upper bound of the input tokens: a text never has more tokens than UTF-8 bytes. Excludes the
 * results of hosted tools in this call, because the rules reserve tokens for each use.
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
  // The provider describes hosted tools to the model. The length of this text is unknown.
  const hosted = hostedTools.length * OVERHEAD.hostedTool;
  const base =
    OVERHEAD.request +
    fixed +
    (tools.length + hostedTools.length > 0 ? OVERHEAD.withTools : 0) +
    hosted;
  const withoutTools = base + messagesBound(messages);
  return tools.reduce((sum, tool) => sum + OVERHEAD.tool + toolBytes(tool), withoutTools);
}

/** The bytes of each tool's description. A tool is described in every call. */
const bytesOfTools = new WeakMap<ToolSpec, number>();

function toolBytes(tool: ToolSpec): number {
  const bytes = bytesOfTools.get(tool) ?? byteLength(JSON.stringify(tool));
  bytesOfTools.set(tool, bytes);
  return bytes;
}

/** Upper bound of the input tokens of these messages alone. */
export const messagesBound = (messages: readonly Message[]): number =>
  messages.reduce((sum, message) => sum + OVERHEAD.message + messageBytes(message), 0);

function messageBytes(message: Message): number {
  switch (message.role) {
    case "user":
      return (message.history ?? []).reduce(
        (sum, text) => sum + OVERHEAD.item + byteLength(text),
        byteLength(message.text),
      );
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
