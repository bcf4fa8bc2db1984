import type { TeamAgent } from "../config/team";
import { asksForDecision, byteLength } from "../coordination";
import { limitNotice, RESULTS } from "../prompts/notices";
import { RESEARCH_REQUEST } from "../prompts/coordination-user";
import type { RoundLimit } from "../protocol/events";
import type { HostedTool, Message, ModelRequest, ReplyItem, ToolSpec } from "../providers/provider";
import { workflowTools } from "../tools/workflow";
import { compacted } from "./compaction";
import type { CallRecord } from "./records";

/** From a round's records to what its next call sends. */

type Conversation = { system: string; messages: Message[] };

type Result = Extract<CallRecord, { kind: "result" }>;
type ToolCall = Extract<ReplyItem, { type: "tool_call" }>;

/** A stretch of the conversation: a reply (none before the first), the results of its calls, and what was said after it. */
type Stretch = { items: readonly ReplyItem[]; results: Map<string, Result>; notes: string[] };

/**
 * The conversation so far. Every tool call of a reply has exactly one result, in the order of the calls, before anything else
 * is said; calls that nothing spoke for get a text of their own.
 */
export function toMessages(records: readonly CallRecord[]): Conversation {
  const [start] = records;
  if (start?.kind !== "start") throw new Error("a round's records begin with its start");
  const messages: Message[] = [{ role: "user", text: start.user }];
  for (const stretch of stretchesOf(compacted(records))) append(messages, stretch);
  return { system: start.system, messages };
}

function stretchesOf(records: readonly CallRecord[]): Stretch[] {
  let current: Stretch = { items: [], results: new Map(), notes: [] };
  const stretches = [current];
  for (const record of records) {
    switch (record.kind) {
      case "start":
      case "summary":
      case "cut":
        break;
      case "reply":
        current = { items: record.items, results: new Map(), notes: [] };
        stretches.push(current);
        break;
      case "result":
        if (!current.results.has(record.toolCall)) current.results.set(record.toolCall, record);
        break;
      case "note":
        current.notes.push(record.text);
        break;
    }
  }
  return stretches;
}

/**
 * A reply that said nothing is left out: servers refuse empty messages, some refuse reasoning that nothing follows, and some
 * a search whose results were still to come. One that said something goes back whole, what hosted tools did in its place.
 */
function append(messages: Message[], { items, results, notes }: Stretch): void {
  if (items.some(isSaid)) messages.push({ role: "assistant", items: [...items] });
  const calls = items.filter((item) => item.type === "tool_call");
  const lastVote = calls.findLast(({ name }) => name === "vote");
  for (const call of calls) messages.push(resultOf(call, results.get(call.id), call === lastVote));
  if (notes.length > 0) say(messages, notes.join("\n\n"));
}

const isSaid = (item: ReplyItem): boolean =>
  item.type === "tool_call" || (item.type === "text" && item.text.trim() !== "");

/** One message: some servers take no two of the same role in a row. What was sent stays its beginning, for prompt caches. */
function say(messages: Message[], text: string): void {
  const last = messages.at(-1);
  if (last?.role === "user")
    messages.splice(-1, 1, { role: "user", text: `${last.text}\n\n${text}` });
  else messages.push({ role: "user", text });
}

function resultOf(call: ToolCall, result: Result | undefined, isLastVote: boolean): Message {
  const { text, isError } = result ?? unspoken(call.name, isLastVote);
  return { role: "tool", toolCallId: call.id, name: call.name, text, isError };
}

/** A vote without a result was recorded, unless a later one in the same reply took its place; anything else was not done. */
function unspoken(name: string, isLastVote: boolean): { text: string; isError: boolean } {
  if (name === "vote")
    return { text: isLastVote ? RESULTS.voteRecorded : RESULTS.superseded, isError: false };
  return { text: RESULTS.notExecuted, isError: true };
}

export type RequestParts = {
  records: readonly CallRecord[];
  agent: TeamAgent;
  /** Of the whole team. */
  aliases: readonly string[];
  /** Names of the orchestrator's tools this call may use. */
  offers: readonly string[];
  forced: boolean;
  maxOutputTokens: number | null;
  ownTools: readonly ToolSpec[];
  /** Tools the provider may run in this call. */
  hostedTools: readonly HostedTool[];
  /** A research call: it has hosted tools and no functions. Absent: it is none. */
  research?: boolean;
  /** A limit of its round that is near or reached; at 0 the call has no tools but the orchestrator's. Absent: none. */
  limit?: RoundLimit | undefined;
};

/** The agent's own tools come first: they stay, while the orchestrator's come and go, and prompt caches go by what stays. */
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

/** The conversation that a research call is made with. */
export const withResearchRequest = (records: readonly CallRecord[]): CallRecord[] =>
  withNote(records, RESEARCH_REQUEST);

/** The note comes last and is said in this call alone, so that the conversation stays as prompt caches know it. */
const withNote = (records: readonly CallRecord[], text: string): CallRecord[] => [
  ...records,
  { kind: "note", text },
];

type Prospects = { offers: readonly string[]; usesTools: boolean; hasReplied: boolean };

/**
 * Whether another call is likely to go on from this one's end within minutes: where tools are at work, where a vote may turn out
 * to be stale, or where the round has gone on already. A verdict and personas are one call each.
 */
export const willContinue = ({ offers, usesTools, hasReplied }: Prospects): boolean =>
  mayAct(offers) && (usesTools || hasReplied || offers.includes("vote"));

/** A verdict and personas are given on what is there; any other tool would only be taken for silence. */
const mayAct = (offers: readonly string[]): boolean =>
  !offers.includes("submit") && !offers.includes("assign_personas");

/** What providers add of their own: roles, separators, their instructions for tool use. In tokens. */
const OVERHEAD = {
  request: 64,
  withTools: 512,
  tool: 32,
  hostedTool: 1_024,
  message: 16,
  item: 16,
} as const;

/**
 * No tokenizer makes more tokens than bytes, so the UTF-8 size of all that is sent bounds the input from above. What hosted
 * tools will add in this call is not in it: the rules reserve that for each use.
 */
export function inputTokenBound({
  system,
  messages,
  tools,
  hostedTools,
  params,
}: ModelRequest): number {
  const fixed = byteLength(system) + byteLength(JSON.stringify(params)); // parameters may hold prompts of their own
  const hosted = hostedTools.length * OVERHEAD.hostedTool; // described by the provider, in words nobody else knows
  const base =
    OVERHEAD.request +
    fixed +
    (tools.length + hostedTools.length > 0 ? OVERHEAD.withTools : 0) +
    hosted;
  const said = base + messagesBound(messages);
  return tools.reduce((sum, tool) => sum + OVERHEAD.tool + byteLength(JSON.stringify(tool)), said);
}

/** The same of messages alone. */
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
