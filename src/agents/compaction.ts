import { summaryNote, summaryRequest } from "../prompts/compaction";
import type { CompactedPart } from "../protocol/events";
import type { ReplyItem } from "../providers/provider";
import { bytesWithin, estimateTokens } from "../tools/large-results";
import type { CallRecord } from "./records";
import { byteLength } from "../coordination";
import { cutToFit } from "./cut-to-fit";

/**
 * Compaction replaces the older part of a round's conversation by a summary. It removes whole
 * stretches, a reply with the results of its calls, so that no call loses its result. The start of
 * the round and the recent part remain. Answers shown to the agent remain too, because it must
 * still judge them, unless this would not free enough. Records never change: a `summary` record
 * names the records it replaces. Pure.
 */

/** Share of the window used afterwards: leaves room for work before the next compaction. */
const TARGET_SHARE = 0.4;
/**
 * Minimum share of the window that a summary must free, unless the provider refused the
 * conversation. If the start of the round alone nearly fills the window, compaction would otherwise
 * repeat before every call.
 */
const LEAST_FREED_SHARE = 0.1;
/** Reserved for a summary, in tokens of the provider. */
const SUMMARY_TOKENS = 2_000;
/**
 * Maximum length of a summary; shorter if its excess would use more than half of the freed tokens.
 */
const LONGEST_SUMMARY = 2 * SUMMARY_TOKENS;
/** Share of the window for the text to be summarized, so that the model can read and write. */
const TRANSCRIPT_SHARE = 0.5;
const BYTES_PER_TOKEN = 4;

/**
 * `keepFrom`: index of the first record that remains. Earlier ones are removed, except the start
 * and, with `keepsNotes`, notes. `dropped` assumes a summary of the reserved length.
 */
export type CompactionPlan = {
  keepFrom: number;
  keepsNotes: boolean;
  dropped: CompactedPart;
  calibration: number;
};

export type Room = {
  contextWindow: number;
  /** Ratio of the provider's counts to our estimates; 1 if unknown. */
  calibration: number;
  /** The provider refused the conversation, so its real window is smaller than the listed one. */
  refused?: boolean;
};

/**
 * The smallest cut after which the rest fits; the largest possible one if none does. `null` if no
 * cut would free enough to justify a call.
 */
export function planCompaction(records: readonly CallRecord[], room: Room): CompactionPlan | null {
  const { contextWindow, calibration, refused = false } = room;
  const target = windowOf(records, room) * TARGET_SHARE;
  const worth = refused ? 1 : contextWindow * LEAST_FREED_SHARE;
  const before = tokensOf(compacted(records), calibration);
  const plans = candidates(records).map((cut) => {
    const after = tokensOf(keptOf(records, cut), calibration) + SUMMARY_TOKENS;
    return {
      plan: { ...cut, calibration, dropped: droppedOf(records, cut, before - after) },
      after,
    };
  });
  const [fit = plans.at(-1)] = plans.filter(
    ({ after }) => after <= target && before - after >= worth,
  );
  return fit && before - fit.after >= worth ? fit.plan : null;
}

/** The model's window, as far as known. */
function windowOf(
  records: readonly CallRecord[],
  { contextWindow, calibration, refused = false }: Room,
): number {
  return refused
    ? Math.min(contextWindow, tokensOf(compacted(records), calibration))
    : contextWindow;
}

type Cut = Pick<CompactionPlan, "keepFrom" | "keepsNotes">;

/** Possible cuts, from the least loss to the most. The last stretch is removed last. */
function candidates(records: readonly CallRecord[]): Cut[] {
  const from = compactedFrom(records);
  const replies = records.flatMap(({ kind }, place) =>
    kind === "reply" && place >= from ? [place] : [],
  );
  const recent = replies.slice(1);
  const all = replies.length > 0 ? [records.length] : [];
  const cuts = (places: readonly number[], keepsNotes: boolean) =>
    places.map((keepFrom) => ({ keepFrom, keepsNotes }));
  return [...cuts(recent, true), ...cuts(recent, false), ...cuts(all, true), ...cuts(all, false)];
}

/**
 * Ids of all calls of the round, including removed ones. None may be reused, because results refer
 * to them.
 */
export const callIdsIn = (records: readonly CallRecord[]): Set<string> =>
  new Set(
    records.flatMap((record) =>
      record.kind === "reply"
        ? record.items.flatMap((item) => (item.type === "tool_call" ? [item.id] : []))
        : [],
    ),
  );

/** Index up to which the conversation has been summarized. */
const compactedFrom = (records: readonly CallRecord[]): number =>
  lastSummary(records)?.keepFrom ?? 1;

type Summary = Extract<CallRecord, { kind: "summary" }>;
const isSummary = (record: CallRecord): record is Summary => record.kind === "summary";
const lastSummary = (records: readonly CallRecord[]): Summary | undefined =>
  records.findLast(isSummary);

/** The records as calls see them, with summarized ones replaced. */
export function compacted(records: readonly CallRecord[]): CallRecord[] {
  const summary = lastSummary(records);
  if (!summary) return [...records];
  const [start, ...kept] = keptOf(records, summary);
  return start ? [start, { kind: "note", text: summary.text }, ...kept] : [];
}

/** The original records that remain. */
function keptOf(records: readonly CallRecord[], { keepFrom, keepsNotes }: Cut): CallRecord[] {
  const earlier = keepsNotes ? records.slice(notesFrom(records), keepFrom).flatMap(notesIn) : [];
  return [
    ...records.slice(0, 1),
    ...earlier,
    ...records.slice(keepFrom).filter(({ kind }) => kind !== "summary" && kind !== "cut"),
  ];
}

/** Notes in an earlier summary are not restored. */
const notesFrom = (records: readonly CallRecord[]): number =>
  records.reduce(
    (from, record) =>
      isSummary(record) && !record.keepsNotes ? Math.max(from, record.keepFrom) : from,
    1,
  );

/** Information given to the agent: newer answers, including those in the result of a stale vote. */
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
  const gone = records.slice(compactedFrom(records), keepFrom);
  const count = (kind: CallRecord["kind"]) => gone.filter((record) => record.kind === kind).length;
  const calls = gone.flatMap((record) =>
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

type SummaryOptions = Room & { nonce: string };

/**
 * The request for a summary, to the same model, without tools. Long texts are cut in the middle to
 * fit.
 */
export function toSummaryRequest(
  records: readonly CallRecord[],
  plan: Cut,
  asked: SummaryOptions,
): { system: string; user: string } {
  const { nonce, calibration } = asked;
  const [start] = records;
  if (start?.kind !== "start") throw new Error("a round's records begin with its start");
  const partial = cutIn(records);
  const parts = [
    ...transcriptOf(records, plan),
    ...(partial === "" ? [] : [`You had begun to write:\n${partial}`]),
  ];
  const room = Math.floor(
    (windowOf(records, asked) * TRANSCRIPT_SHARE * BYTES_PER_TOKEN) / Math.max(1, calibration),
  );
  const [task = "", ...transcript] = cutToFit([start.user, ...parts], room);
  return summaryRequest({ nonce, task, transcript: transcript.join("\n\n") });
}

/** The output of the call that did not fit, if it was the last event. */
function cutIn(records: readonly CallRecord[]): string {
  const last = records.findLast(({ kind }) => kind === "reply" || kind === "cut");
  return last?.kind === "cut" ? last.text.trim() : "";
}

/**
 * The record for a summary, and the tokens actually freed. For any length of the text, the
 * conversation shrinks by at least half of the plan: the excess is cut from the middle.
 */
export function toSummary(
  plan: CompactionPlan,
  nonce: string,
  text: string,
): { record: Summary; dropped: CompactedPart } {
  const { keepFrom, keepsNotes, calibration } = plan;
  const planned = plan.dropped.tokens;
  const most = Math.min(LONGEST_SUMMARY, SUMMARY_TOKENS + Math.floor(planned / 2));
  const room = bytesWithin(most - AROUND, calibration) - byteLength(summaryNote(nonce, ""));
  const note = summaryNote(nonce, cutToFit([text.trim()], room).join(""));
  const taken = tokensOf([{ kind: "note", text: note }], calibration);
  const dropped = { ...plan.dropped, tokens: planned + SUMMARY_TOKENS - taken };
  return { record: { kind: "summary", keepFrom, keepsNotes, text: note }, dropped };
}

/** The removed part as text, including an earlier summary, which is summarized again. */
function transcriptOf(records: readonly CallRecord[], { keepFrom, keepsNotes }: Cut): string[] {
  const earlier = lastSummary(records);
  const earlierNotes = keepsNotes
    ? []
    : records.slice(notesFrom(records), compactedFrom(records)).flatMap(notesIn);
  const gone = records.slice(compactedFrom(records), keepFrom);
  const summary = earlier ? [`Before that:\n${earlier.text}`] : [];
  return [
    ...summary,
    ...[...earlierNotes, ...gone].flatMap((record) => inWords(record, keepsNotes)),
  ];
}

function inWords(record: CallRecord, keepsNotes: boolean): string[] {
  switch (record.kind) {
    case "reply":
      return record.items.flatMap(itemInWords);
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

function itemInWords(item: ReplyItem): string[] {
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

/** Tokens of a message besides its text. */
const AROUND = 16;

/** Tokens of these records in a conversation, as the provider counts. */
export const tokensOf = (records: readonly CallRecord[], calibration: number): number =>
  records.reduce((sum, record) => sum + tokensIn(record, calibration), 0);

function tokensIn(record: CallRecord, calibration: number): number {
  return AROUND + estimateTokens(textsIn(record).join(""), calibration);
}

function textsIn(record: CallRecord): string[] {
  switch (record.kind) {
    case "start":
      return [record.system, record.user];
    case "reply":
      // includes opaque data that is sent back
      return record.items.map((item) => JSON.stringify(item));
    case "result":
    case "note":
      return [record.text];
    case "summary":
    case "cut":
      return [];
  }
}
