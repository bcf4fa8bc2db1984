import type { AgentRules } from "../../protocol/team";
import { COMPACTION_OUTPUT_TOKENS, LIMITS } from "../limits";
import { halvingsOf, type NarrowWindow } from "./narrow-windows";

/**
 * How much of the conversation so far a turn shows to its agents. The text of earlier turns may
 * fill a share of the team's smallest window. If it is longer, older turns are summarised once,
 * before the attempt. The summary of a turn covers this turn and all turns that it continues, so
 * every branch from there uses it. This module is pure and knows only sizes.
 */

/** An earlier turn. `bytes`: its question and answer with their frame, in UTF-8. */
export type SizedTurn = { turn: number; bytes: number };

/**
 * A stored summary. `turns`: the numbers of the turns that it covers, oldest first: those from the
 * first turn to the last of them, on one branch.
 */
export type SizedSummary = { turns: readonly number[]; bytes: number };

export type HistoryFacts = {
  /** The longest stored summary of the branch; `null` if there is none. */
  summary: SizedSummary | null;
  /** The earlier turns that the summary does not cover, oldest first, without failed ones. */
  turns: readonly SizedTurn[];
  /**
   * Size of each agent's first request without earlier turns, in UTF-8 bytes: system message,
   * tools, question. By agent index. Omitted entries: short. Infinite if the agent has no first
   * call.
   */
  requestBytes: readonly number[];
  /** Expected input tokens of the question's attachments. */
  attachedTokens: number;
  /** Models whose windows are smaller than assumed. Omitted: none. */
  windows?: readonly NarrowWindow[];
};

/**
 * What a turn shows of the turns before it. `bytes`: the most that the history may take in a
 * prompt; longer texts are cut. `summary`: the turn whose stored summary is used; `null` if none
 * is. `summarises`: the summary to write before the attempt; `null` if none is needed or possible.
 * `windows`: as in `HistoryFacts`.
 */
export type HistoryPlan = {
  bytes: number;
  summary: number | null;
  summarises: PlannedSummary | null;
  windows: readonly NarrowWindow[];
};

/** `turns`: as in `SizedSummary`. `agent`: index of the agent that writes the summary. */
export type PlannedSummary = { turns: readonly number[]; agent: number };

/**
 * Bytes per token that are surely enough. Text in Latin script has four to five, source code about
 * three and a half. The share of the window below leaves room for denser text.
 */
const SAFE_BYTES_PER_TOKEN = 3;
/** Bytes per token of typical text. */
const TYPICAL_BYTES_PER_TOKEN = 4;
/** Share of a window that is kept for the output. */
const OUTPUT_SHARE = 0.15;
/** Share of the room that the history may use after a new summary. The rest is for later turns. */
const TARGET_SHARE = 0.5;
/** Share of the room that a summary may use. */
const SUMMARY_SHARE = 0.2;
/** Share of a window that a request for a summary may fill, its output included. */
const SUMMARISER_SHARE = 0.9;
/** Bytes of the marks around a summary, an upper bound. */
const SUMMARY_FRAME_BYTES = 640;
/** A summary for which less space is left is not worth a call. */
const MIN_SUMMARY_BYTES = 1_536;
/** Bytes of a request for a summary without the texts. */
const REQUEST_BYTES = 4_096;
/** A summary of less text than this is not worth a call. */
const MIN_TRANSCRIPT_BYTES = 1_024;

/**
 * What the turn shows of the earlier turns; `null` if it shows all of them in full. `facts` is
 * `null` for a turn without earlier turns.
 */
export function planHistory(
  agents: readonly AgentRules[],
  facts: HistoryFacts | null,
): HistoryPlan | null {
  if (!facts) return null;
  const { summary, turns, windows = [] } = facts;
  const bytes = roomFor(agents, facts);
  const plan = { bytes, summary: lastOf(summary), windows };
  if (sizeOf(facts) <= bytes)
    return summary || windows.length > 0 ? { ...plan, summarises: null } : null;
  const through = summaryRoom(bytes) < MIN_SUMMARY_BYTES ? null : lastSummarised(turns, bytes);
  return { ...plan, summarises: through === null ? null : writerOf(agents, facts, through) };
}

/** What a turn of kind `compact` summarises: all turns so far. `null` if nothing is left to do. */
export function planCompact(
  agents: readonly AgentRules[],
  facts: HistoryFacts | null,
): HistoryPlan | null {
  const last = facts?.turns.at(-1);
  if (!facts || !last) return null;
  const summarises = writerOf(agents, facts, last.turn);
  const { summary, windows = [] } = facts;
  const plan = { bytes: roomFor(agents, facts), summary: lastOf(summary), windows };
  return summarises && { ...plan, summarises };
}

/** The last turn that a summary covers, which identifies it; `null` without a summary. */
const lastOf = (summary: SizedSummary | null): number | null => summary?.turns.at(-1) ?? null;

/** Bytes of the history as it is: the stored summary and the turns after it. */
const sizeOf = ({ summary, turns }: Pick<HistoryFacts, "summary" | "turns">): number =>
  turns.reduce((sum, { bytes }) => sum + bytes, summary?.bytes ?? 0);

/**
 * The most bytes that the history may take in any agent's prompt. Agents whose window does not fit
 * the question alone do not count: they cannot work in this turn anyway.
 */
function roomFor(
  agents: readonly AgentRules[],
  { requestBytes, attachedTokens, windows = [] }: HistoryFacts,
): number {
  const rooms = agents.map((agent, index) => {
    const request = { bytes: requestBytes[index] ?? 0, attachedTokens };
    const room = roomOf(agent, request) / 2 ** halvingsOf(agent, windows);
    return { room, works: !isTooLong(agent, request) };
  });
  const working = rooms.filter(({ works }) => works);
  const counted = (working.length > 0 ? working : rooms).map(({ room }) => room);
  return Math.floor(Math.min(...counted));
}

type RequestSize = { bytes: number; attachedTokens: number };

function roomOf(
  { context_window: window, max_output_tokens: maxOutput }: AgentRules,
  { bytes, attachedTokens }: RequestSize,
): number {
  const output = Math.min(maxOutput, window * OUTPUT_SHARE);
  const left = window - output - attachedTokens - bytes / SAFE_BYTES_PER_TOKEN;
  const tokens = Math.max(
    window * LIMITS.historyMinShare,
    Math.min(window * LIMITS.historyShare, left),
  );
  return tokens * SAFE_BYTES_PER_TOKEN;
}

/** Bytes for a summary and its frame in a history of this many bytes. */
const summaryRoom = (historyBytes: number): number =>
  Math.floor(Math.min(LIMITS.summaryBytes, historyBytes * SUMMARY_SHARE));

/** Most bytes of the text of a summary in a history of this many bytes. */
export const maxSummaryBytes = (historyBytes: number): number =>
  Math.max(0, summaryRoom(historyBytes) - SUMMARY_FRAME_BYTES);

/**
 * The last turn that a new summary covers: the first turn after which the rest is short enough for
 * some turns to come. The latest turn stays in full if it fits. `null` if there is no turn to
 * summarise.
 */
function lastSummarised(turns: readonly SizedTurn[], bytes: number): number | null {
  const forSummary = summaryRoom(bytes);
  const fits = (index: number, room: number) =>
    forSummary + sizeOf({ summary: null, turns: turns.slice(index + 1) }) <= room;
  const target = bytes * TARGET_SHARE;
  const first = turns.findIndex((_, index) => fits(index, target));
  const last = turns.length - 1;
  const keepsLatest = first === last && last > 0 && fits(last - 1, bytes);
  return turns.at(keepsLatest ? last - 1 : first)?.turn ?? null;
}

/**
 * The first agent whose window fits the texts to summarise. If none does, the agent with the
 * largest window; the oldest texts are then cut for it. `null` if no window fits any text.
 */
function writerOf(
  agents: readonly AgentRules[],
  { summary, turns, windows = [] }: HistoryFacts,
  through: number,
): PlannedSummary | null {
  const summarised = turns.filter(({ turn }) => turn <= through);
  const bytes = sizeOf({ summary, turns: summarised });
  const rooms = agents.map((agent) => transcriptBytes(agent, windows));
  const fitting = rooms.findIndex((room) => bytes <= room);
  const largest = Math.max(...rooms);
  if (largest < MIN_TRANSCRIPT_BYTES) return null;
  return {
    turns: [...(summary?.turns ?? []), ...summarised.map(({ turn }) => turn)],
    agent: fitting >= 0 ? fitting : rooms.indexOf(largest),
  };
}

/** Most bytes of the texts in an agent's request for a summary. */
export function transcriptBytes(agent: AgentRules, windows: readonly NarrowWindow[] = []): number {
  const { context_window: window, max_output_tokens: maxOutput } = agent;
  const output = Math.min(maxOutput, COMPACTION_OUTPUT_TOKENS, window * OUTPUT_SHARE);
  const tokens = (window * SUMMARISER_SHARE - output) / 2 ** halvingsOf(agent, windows);
  return Math.max(0, Math.floor(tokens * SAFE_BYTES_PER_TOKEN) - REQUEST_BYTES);
}

/** A question that no window of the team fits. `tokens` is an estimate. */
export type QuestionTooLong = {
  ok: false;
  code: "question_too_long";
  tokens: number;
  window: number;
};

/**
 * Why the question cannot be answered whatever is done to the history: it is too long for the
 * window of every agent. `null` if it fits one. `attachedTokens`: only those of text files, because
 * estimates of other attachments are too rough for a refusal.
 */
export function lengthRefusal(
  agents: readonly AgentRules[],
  { requestBytes, attachedTokens }: Pick<HistoryFacts, "requestBytes" | "attachedTokens">,
): QuestionTooLong | null {
  const sizes = agents
    .map((agent, index) => ({ agent, bytes: requestBytes[index] ?? 0 }))
    .filter(({ bytes }) => Number.isFinite(bytes))
    .map(({ agent, bytes }) => ({ agent, request: { bytes, attachedTokens } }));
  if (sizes.some(({ agent, request }) => !isTooLong(agent, request))) return null;
  const [largest] = sizes.toSorted((a, b) => b.agent.context_window - a.agent.context_window);
  return largest
    ? {
        ok: false,
        code: "question_too_long",
        tokens: Math.ceil(typicalTokens(largest.request)),
        window: largest.agent.context_window,
      }
    : null;
}

/** Whether even a typical tokenizer would need more than the agent's window. */
const isTooLong = ({ context_window: window }: AgentRules, request: RequestSize): boolean =>
  typicalTokens(request) >= window;

const typicalTokens = ({ bytes, attachedTokens }: RequestSize): number =>
  bytes / TYPICAL_BYTES_PER_TOKEN + attachedTokens;

/**
 * Whether history and question are so short that nothing needs to be measured: then requests are
 * not built only to find out.
 */
export const isSurelyShort = (
  agents: readonly AgentRules[],
  { historyBytes, questionBytes }: { historyBytes: number; questionBytes: number },
): boolean => {
  const smallest = Math.min(...agents.map(({ context_window: window }) => window));
  return historyBytes + questionBytes <= smallest * LIMITS.historyMinShare * SAFE_BYTES_PER_TOKEN;
};
