import { summaryNote, summaryRequest } from "../prompts/compaction";
import type { Dropped } from "../protocol/events";
import type { ReplyItem } from "../providers/provider";
import { bytesWithin, estimateTokens } from "../tools/results";
import type { CallRecord } from "./records";
import { byteLength } from "../coordination";
import { cutToFit } from "./cut-to-fit";

/**
 * Compaction: the older part of a round's conversation gives way to a summary. What goes are whole stretches, a reply with the
 * results of all its calls, so no call is ever parted from its result. What the round began with stays, and so does the recent
 * part. Answers the agent was shown meanwhile stay too, as it still has to judge them, unless nothing else helps. Records never
 * change: a `summary` among them says what it stands for. Pure.
 */

/** What it may take afterwards: enough is left for work, and for what comes before the next time. */
const TARGET_SHARE = 0.4;
/**
 * What a summary must free of the window, unless the provider refused the conversation: what the round began with never goes, and
 * where that alone nearly fills the window a summary that hardly helps would be wanted again before every call.
 */
const LEAST_FREED_SHARE = 0.1;
/** What a summary is given room for, in tokens as the provider counts. */
const SUMMARY_TOKENS = 2_000;
/** What one that became longer may take at most; less where what is over its room would take more than half of what was to be freed. */
const LONGEST_SUMMARY = 2 * SUMMARY_TOKENS;
/** Of the window, for what is summed up: the model must have room to read and to write. */
const TRANSCRIPT_SHARE = 0.5;
const BYTES_PER_TOKEN = 4;

/**
 * `keepFrom`: the first record, by its place, that stays; those before it go, but for the start and what `keepsNotes` keeps.
 * `dropped` takes the summary to be as long as it has room for.
 */
export type CompactionPlan = {
  keepFrom: number;
  keepsNotes: boolean;
  dropped: Dropped;
  calibration: number;
};

export type Room = {
  contextWindow: number;
  /** What a provider's counts were of our estimates so far; 1 where nothing is known. */
  calibration: number;
  /** The provider refused the conversation as it is, so that its real window is smaller, whatever is known of the model. */
  refused?: boolean;
};

/**
 * What is to be summed up, so that the rest fits; as little as that takes. Where nothing fits, as much as can be. null: nothing
 * could go that would make it enough smaller to be worth a call.
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

/** What the model takes, as far as anyone knows. */
function windowOf(
  records: readonly CallRecord[],
  { contextWindow, calibration, refused = false }: Room,
): number {
  return refused
    ? Math.min(contextWindow, tokensOf(compacted(records), calibration))
    : contextWindow;
}

type Cut = Pick<CompactionPlan, "keepFrom" | "keepsNotes">;

/** From what loses least to what loses most. The last stretch goes last of all. */
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

/** Ids of all calls of the round, also of those that have gone: none may come again, since results are found by them. */
export const callIdsIn = (records: readonly CallRecord[]): Set<string> =>
  new Set(
    records.flatMap((record) =>
      record.kind === "reply"
        ? record.items.flatMap((item) => (item.type === "tool_call" ? [item.id] : []))
        : [],
    ),
  );

/** Up to where the conversation has been summed up before. */
const compactedFrom = (records: readonly CallRecord[]): number =>
  lastSummary(records)?.keepFrom ?? 1;

type Summary = Extract<CallRecord, { kind: "summary" }>;
const isSummary = (record: CallRecord): record is Summary => record.kind === "summary";
const lastSummary = (records: readonly CallRecord[]): Summary | undefined =>
  records.findLast(isSummary);

/** The records as calls see them: what was summed up is its summary. */
export function compacted(records: readonly CallRecord[]): CallRecord[] {
  const summary = lastSummary(records);
  if (!summary) return [...records];
  const [start, ...kept] = keptOf(records, summary);
  return start ? [start, { kind: "note", text: summary.text }, ...kept] : [];
}

/** What is left of the records themselves. */
function keptOf(records: readonly CallRecord[], { keepFrom, keepsNotes }: Cut): CallRecord[] {
  const earlier = keepsNotes ? records.slice(notesFrom(records), keepFrom).flatMap(toldIn) : [];
  return [
    ...records.slice(0, 1),
    ...earlier,
    ...records.slice(keepFrom).filter(({ kind }) => kind !== "summary" && kind !== "cut"),
  ];
}

/** Notes that an earlier compaction summed up do not come back. */
const notesFrom = (records: readonly CallRecord[]): number =>
  records.reduce(
    (from, record) =>
      isSummary(record) && !record.keepsNotes ? Math.max(from, record.keepFrom) : from,
    1,
  );

/** What the agent was told, rather than found out: newer answers, also those that came with the result of a stale vote. */
function toldIn(record: CallRecord): CallRecord[] {
  if (record.kind === "note") return [record];
  const showsAnswers = record.kind === "result" && record.name === "vote" && !record.isError;
  return showsAnswers ? [{ kind: "note", text: record.text }] : [];
}

function droppedOf(
  records: readonly CallRecord[],
  { keepFrom, keepsNotes }: Cut,
  tokens: number,
): Dropped {
  const gone = records.slice(compactedFrom(records), keepFrom);
  const count = (kind: CallRecord["kind"]) => gone.filter((record) => record.kind === kind).length;
  const calls = gone.flatMap((record) =>
    record.kind === "reply" ? record.items.filter(({ type }) => type === "tool_call") : [],
  );
  const notes = keepsNotes ? 0 : records.slice(notesFrom(records), keepFrom).flatMap(toldIn).length;
  return {
    replies: count("reply"),
    tool_calls: calls.length,
    tool_results: count("result"),
    notes,
    tokens: Math.max(0, tokens),
  };
}

type Asked = Room & { nonce: string };

/** The call to the same model that sums up, without tools. Long texts are cut in their middle, so that it fits. */
export function toSummaryRequest(
  records: readonly CallRecord[],
  plan: Cut,
  asked: Asked,
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

/** What the call that did not fit had written, if that was the last thing that happened. */
function cutIn(records: readonly CallRecord[]): string {
  const last = records.findLast(({ kind }) => kind === "reply" || kind === "cut");
  return last?.kind === "cut" ? last.text.trim() : "";
}

/**
 * The record that a summary becomes, and what it really leaves free. However long the text is, the conversation becomes shorter, by
 * at least half of what was planned: what is too much is cut out of its middle.
 */
export function toSummary(
  plan: CompactionPlan,
  nonce: string,
  text: string,
): { record: Summary; dropped: Dropped } {
  const { keepFrom, keepsNotes, calibration } = plan;
  const planned = plan.dropped.tokens;
  const most = Math.min(LONGEST_SUMMARY, SUMMARY_TOKENS + Math.floor(planned / 2));
  const room = bytesWithin(most - AROUND, calibration) - byteLength(summaryNote(nonce, ""));
  const note = summaryNote(nonce, cutToFit([text.trim()], room).join(""));
  const taken = tokensOf([{ kind: "note", text: note }], calibration);
  const dropped = { ...plan.dropped, tokens: planned + SUMMARY_TOKENS - taken };
  return { record: { kind: "summary", keepFrom, keepsNotes, text: note }, dropped };
}

/** What goes, in words; an earlier summary goes too, and is summed up again. */
function transcriptOf(records: readonly CallRecord[], { keepFrom, keepsNotes }: Cut): string[] {
  const earlier = lastSummary(records);
  const told = keepsNotes
    ? []
    : records.slice(notesFrom(records), compactedFrom(records)).flatMap(toldIn);
  const gone = records.slice(compactedFrom(records), keepFrom);
  const summary = earlier ? [`Before that:\n${earlier.text}`] : [];
  return [...summary, ...[...told, ...gone].flatMap((record) => inWords(record, keepsNotes))];
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

/** What a record's message adds around its text, in tokens. */
const AROUND = 16;

/** What these take of a conversation, in tokens as the provider counts. */
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
      return record.items.map((item) => JSON.stringify(item)); // with what the provider wants back unread
    case "result":
    case "note":
      return [record.text];
    case "summary":
    case "cut":
      return [];
  }
}
