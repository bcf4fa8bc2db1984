import { summaryNote, summaryRequest } from "../prompts/compaction";
import type { CompactedPart } from "../protocol/events";
import type { ReplyItem } from "../providers/provider";
import { bytesWithin, estimateTokens } from "../tools/large-results";
import type { CallRecord } from "./records";
import { wholeUserText } from "./round-start";
import { byteLength } from "../coordination";
import { cutToFit } from "./cut-to-fit";

/**
 * Compaction replaces the older part of a round's conversation by a summary. A reply is always
 * removed together with the results of its calls, so that no call loses its result. The start of
 * the round and the recent part remain. The answers that were shown to the agent also remain,
 * because the agent must still judge them. They are removed only if the conversation would
 * otherwise stay too long. Records never change: a `summary` record names the records that it
 * replaces. This module is pure.
 */

/** Share of the context window in use after a compaction. The rest is for further work. */
const TARGET_SHARE = 0.4;
/**
 * Minimum share of the window that a summary must free. It does not apply if the provider refused
 * the conversation. Without this minimum, a round whose start nearly fills the window would be
 * compacted before every call.
 */
const MIN_FREED_SHARE = 0.1;
/** Reserved for a summary, in tokens of the provider. */
const SUMMARY_TOKENS = 2_000;
/**
 * Maximum length of a summary, in tokens. A longer summary than `SUMMARY_TOKENS` may use at most
 * half of the freed tokens.
 */
const MAX_SUMMARY_TOKENS = 2 * SUMMARY_TOKENS;
/** Share of the window for the text to be summarized. The rest is for instructions and output. */
const TRANSCRIPT_SHARE = 0.5;
const BYTES_PER_TOKEN = 4;

/**
 * `keepFrom` is the index of the first record that remains. Earlier records are removed, except the
 * start and, with `keepsNotes`, the notes. `dropped` counts what is removed; its `tokens` assume a
 * summary of the reserved length. `calibration`: see `ContextLimits`.
 */
export type CompactionPlan = {
  keepFrom: number;
  keepsNotes: boolean;
  dropped: CompactedPart;
  calibration: number;
};

export type ContextLimits = {
  contextWindow: number;
  /** Ratio of the provider's counts to our estimates; 1 if unknown. */
  calibration: number;
  /**
   * Whether the provider refused the conversation. The real window is then below `contextWindow`.
   */
  refused?: boolean;
};

/**
 * The smallest cut after which the rest of the conversation fits. If the rest never fits, the
 * largest cut. `null` if no cut would free enough to justify a call.
 */
export function planCompaction(
  records: readonly CallRecord[],
  limits: ContextLimits,
): CompactionPlan | null {
  const { contextWindow, calibration, refused = false } = limits;
  const target = effectiveWindow(records, limits) * TARGET_SHARE;
  const minFreed = refused ? 1 : contextWindow * MIN_FREED_SHARE;
  const before = tokensOf(compacted(records), calibration);
  const plans = possibleCuts(records).map((cut) => {
    const after = tokensOf(keptOf(records, cut), calibration) + SUMMARY_TOKENS;
    return {
      plan: { ...cut, calibration, dropped: droppedOf(records, cut, before - after) },
      after,
    };
  });
  const [chosen = plans.at(-1)] = plans.filter(
    ({ after }) => after <= target && before - after >= minFreed,
  );
  return chosen && before - chosen.after >= minFreed ? chosen.plan : null;
}

/**
 * The window to assume: the size of a refused conversation is an upper bound of the real window.
 */
function effectiveWindow(
  records: readonly CallRecord[],
  { contextWindow, calibration, refused = false }: ContextLimits,
): number {
  return refused
    ? Math.min(contextWindow, tokensOf(compacted(records), calibration))
    : contextWindow;
}

type Cut = Pick<CompactionPlan, "keepFrom" | "keepsNotes">;

/** Possible cuts, ordered by how much they remove. Only cuts at the end remove the latest reply. */
function possibleCuts(records: readonly CallRecord[]): Cut[] {
  const from = compactedFrom(records);
  const replyIndexes = records.flatMap(({ kind }, index) =>
    kind === "reply" && index >= from ? [index] : [],
  );
  const beforeReply = replyIndexes.slice(1);
  const atEnd = replyIndexes.length > 0 ? [records.length] : [];
  const cutsAt = (indexes: readonly number[], keepsNotes: boolean) =>
    indexes.map((keepFrom) => ({ keepFrom, keepsNotes }));
  return [
    ...cutsAt(beforeReply, true),
    ...cutsAt(beforeReply, false),
    ...cutsAt(atEnd, true),
    ...cutsAt(atEnd, false),
  ];
}

/**
 * Ids of all tool calls of the round, including removed calls. No id may be reused, because results
 * refer to their calls by id.
 */
export const callIdsIn = (records: readonly CallRecord[]): Set<string> =>
  new Set(
    records.flatMap((record) =>
      record.kind === "reply"
        ? record.items.flatMap((item) => (item.type === "tool_call" ? [item.id] : []))
        : [],
    ),
  );

/** Index of the first record that no summary replaces; 1 without a summary. */
const compactedFrom = (records: readonly CallRecord[]): number =>
  lastSummary(records)?.keepFrom ?? 1;

type Summary = Extract<CallRecord, { kind: "summary" }>;
const isSummary = (record: CallRecord): record is Summary => record.kind === "summary";
const lastSummary = (records: readonly CallRecord[]): Summary | undefined =>
  records.findLast(isSummary);

/** The records that the next call sends: the summary in place of the records that it replaces. */
export function compacted(records: readonly CallRecord[]): CallRecord[] {
  const summary = lastSummary(records);
  if (!summary) return [...records];
  const [start, ...kept] = keptOf(records, summary);
  return start ? [start, { kind: "note", text: summary.text }, ...kept] : [];
}

/** The original records that remain after the cut. */
function keptOf(records: readonly CallRecord[], { keepFrom, keepsNotes }: Cut): CallRecord[] {
  const earlierNotes = keepsNotes
    ? records.slice(notesFrom(records), keepFrom).flatMap(notesIn)
    : [];
  return [
    ...records.slice(0, 1),
    ...earlierNotes,
    ...records.slice(keepFrom).filter(({ kind }) => kind !== "summary" && kind !== "cut"),
  ];
}

/**
 * Index of the first record whose notes can remain. An earlier summary removed the notes before it.
 */
const notesFrom = (records: readonly CallRecord[]): number =>
  records.reduce(
    (from, record) =>
      isSummary(record) && !record.keepsNotes ? Math.max(from, record.keepFrom) : from,
    1,
  );

/** The record as a note: a note itself, or the newer answers in the result of a stale vote. */
function notesIn(record: CallRecord): CallRecord[] {
  if (record.kind === "note") return [record];
  const showsAnswers = record.kind === "result" && record.name === "vote" && !record.isError;
  return showsAnswers ? [{ kind: "note", text: record.text }] : [];
}

function droppedOf(
  records: readonly CallRecord[],
  { keepFrom, keepsNotes }: Cut,
  tokens: number,
): CompactedPart {
  const removed = records.slice(compactedFrom(records), keepFrom);
  const count = (kind: CallRecord["kind"]) =>
    removed.filter((record) => record.kind === kind).length;
  const calls = removed.flatMap((record) =>
    record.kind === "reply" ? record.items.filter(({ type }) => type === "tool_call") : [],
  );
  const notes = keepsNotes
    ? 0
    : records.slice(notesFrom(records), keepFrom).flatMap(notesIn).length;
  return {
    replies: count("reply"),
    tool_calls: calls.length,
    tool_results: count("result"),
    notes,
    tokens: Math.max(0, tokens),
  };
}

type SummaryOptions = ContextLimits & { nonce: string };

/**
 * The request for a summary. It is sent to the same model, without tools. Long texts are cut in the
 * middle.
 */
export function toSummaryRequest(
  records: readonly CallRecord[],
  plan: Cut,
  options: SummaryOptions,
): { system: string; user: string } {
  const { nonce, calibration } = options;
  const [start] = records;
  if (start?.kind !== "start") throw new Error("a round's records begin with its start");
  const cutOutput = cutOutputIn(records);
  const parts = [
    ...transcriptOf(records, plan),
    ...(cutOutput === "" ? [] : [`You had begun to write:\n${cutOutput}`]),
  ];
  const transcriptTokens = effectiveWindow(records, options) * TRANSCRIPT_SHARE;
  const maxBytes = Math.floor((transcriptTokens * BYTES_PER_TOKEN) / Math.max(1, calibration));
  const [task = "", ...transcript] = cutToFit([wholeUserText(start), ...parts], maxBytes);
  return summaryRequest({ nonce, task, transcript: transcript.join("\n\n") });
}

/** The output of the latest call, if this output was cut because it did not fit; else "". */
function cutOutputIn(records: readonly CallRecord[]): string {
  const last = records.findLast(({ kind }) => kind === "reply" || kind === "cut");
  return last?.kind === "cut" ? last.text.trim() : "";
}

/**
 * The record for a summary, and what it actually removes. A text of any length frees at least half
 * of the planned tokens, because a longer text is cut in the middle.
 */
export function toSummary(
  plan: CompactionPlan,
  nonce: string,
  text: string,
): { record: Summary; dropped: CompactedPart } {
  const { keepFrom, keepsNotes, calibration } = plan;
  const plannedTokens = plan.dropped.tokens;
  const maxTokens = Math.min(MAX_SUMMARY_TOKENS, SUMMARY_TOKENS + Math.floor(plannedTokens / 2));
  const emptyNoteBytes = byteLength(summaryNote(nonce, ""));
  const maxBytes = bytesWithin(maxTokens - MESSAGE_OVERHEAD, calibration) - emptyNoteBytes;
  const note = summaryNote(nonce, cutToFit([text.trim()], maxBytes).join(""));
  const noteTokens = tokensOf([{ kind: "note", text: note }], calibration);
  const dropped = { ...plan.dropped, tokens: plannedTokens + SUMMARY_TOKENS - noteTokens };
  return { record: { kind: "summary", keepFrom, keepsNotes, text: note }, dropped };
}

/** The removed part as text. It includes an earlier summary, which the new summary replaces. */
function transcriptOf(records: readonly CallRecord[], { keepFrom, keepsNotes }: Cut): string[] {
  const earlier = lastSummary(records);
  const earlierNotes = keepsNotes
    ? []
    : records.slice(notesFrom(records), compactedFrom(records)).flatMap(notesIn);
  const removed = records.slice(compactedFrom(records), keepFrom);
  const summary = earlier ? [`Before that:\n${earlier.text}`] : [];
  return [
    ...summary,
    ...[...earlierNotes, ...removed].flatMap((record) => recordTexts(record, keepsNotes)),
  ];
}

function recordTexts(record: CallRecord, keepsNotes: boolean): string[] {
  switch (record.kind) {
    case "reply":
      return record.items.flatMap(itemTexts);
    case "result":
      return [`${record.name} ${record.isError ? "failed" : "returned"}:\n${record.text}`];
    case "note":
      return keepsNotes ? [] : [`You were told:\n${record.text}`];
    case "start":
    case "summary":
    case "cut":
      return [];
  }
}

function itemTexts(item: ReplyItem): string[] {
  switch (item.type) {
    case "text":
      return item.text.trim() === "" ? [] : [`You wrote:\n${item.text}`];
    case "tool_call":
      return [`You called ${item.name}:\n${item.arguments}`];
    case "reasoning":
    case "hosted":
      return [];
  }
}

/** Estimated tokens that a message has in addition to its text. */
const MESSAGE_OVERHEAD = 16;

/** Estimated tokens of these records in a conversation, adjusted to the provider's counts. */
export const tokensOf = (records: readonly CallRecord[], calibration: number): number =>
  records.reduce((sum, record) => sum + tokensIn(record, calibration), 0);

function tokensIn(record: CallRecord, calibration: number): number {
  return MESSAGE_OVERHEAD + estimateTokens(textsIn(record).join(""), calibration);
}

function textsIn(record: CallRecord): string[] {
  switch (record.kind) {
    case "start":
      return [record.system, wholeUserText(record)];
    case "reply":
      // JSON, because the opaque data of an item is sent back too
      return record.items.map((item) => JSON.stringify(item));
    case "result":
    case "note":
      return [record.text];
    case "summary":
    case "cut":
      return [];
  }
}
