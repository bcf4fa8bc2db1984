import { byteLength, cutOldest, type HistoryFacts } from "../coordination";
import type { EarlierTurn, HistoryEntry, SummaryOfTurns } from "../prompts/history";
import type { SessionEvent } from "../protocol/events";
import { cutToFit } from "./cut-to-fit";

/**
 * The turns that a turn continues, as its agents see them: in full, or with a summary of the oldest
 * ones, and cut where they are still too long.
 */

/** Bytes of the marks around an entry, an upper bound. */
const FRAME_BYTES = 640;

const isSummary = (entry: HistoryEntry): entry is SummaryOfTurns => "summary" in entry;
const isTurn = (entry: HistoryEntry): entry is EarlierTurn => !isSummary(entry);

/** The sizes of a history by which the rules decide what is summarised. */
export function sizesOf(history: readonly HistoryEntry[]): Pick<HistoryFacts, "summary" | "turns"> {
  const summary = history.find(isSummary);
  return {
    summary: summary ? { turns: summary.turns, bytes: bytesOf(summary) } : null,
    turns: history
      .filter(isTurn)
      .map((entry, index) => ({ turn: entry.turn ?? index + 1, bytes: bytesOf(entry) })),
  };
}

/** An upper bound of the bytes that a history takes in a prompt. */
export function bytesOfHistory(history: readonly HistoryEntry[]): number {
  return history.reduce((sum, entry) => sum + bytesOf(entry), 0);
}

function bytesOf(entry: HistoryEntry): number {
  const texts = isSummary(entry)
    ? [entry.summary]
    : [entry.question, entry.answer, ...smallTextsOf(entry)];
  return texts.reduce((sum, text) => sum + byteLength(text), FRAME_BYTES);
}

/** The texts of a turn that are not cut: names of attachments and of executed tools. */
const smallTextsOf = ({ attachments = [], cancelled }: EarlierTurn): string[] => [
  ...attachments.map(({ name, media_type }) => `${name}, ${media_type}; `),
  ...(cancelled?.executedTools ?? []).map((name) => `- ${name}\n`),
];

/** The history after an event: a new summary replaces the entries that it covers. */
export function withSummary(
  history: readonly HistoryEntry[],
  event: SessionEvent,
): readonly HistoryEntry[] {
  if (event.type !== "history.summarised") return history;
  const { turns, text } = event;
  return [{ summary: text, turns }, ...history.slice(coveredEntries(history, turns).length)];
}

/** The first entries of a history: those that a summary of these turns covers. */
export function coveredEntries(
  history: readonly HistoryEntry[],
  turns: readonly number[],
): readonly HistoryEntry[] {
  const covered = new Set(turns);
  return history.filter((entry, index) => isSummary(entry) || covered.has(entry.turn ?? index + 1));
}

/** The history in the prompts of a turn. */
export const shownHistory = (
  history: readonly HistoryEntry[],
  plan: { bytes: number } | null | undefined,
): readonly HistoryEntry[] => (plan ? fitted(history, plan.bytes) : history);

/**
 * The history with at most `maxBytes`. The oldest texts are cut in their middle first. Turns for
 * which no space is left are only counted.
 */
export function fitted(
  history: readonly HistoryEntry[],
  maxBytes: number,
): readonly HistoryEntry[] {
  const { summary, turns } = sizesOf(history);
  const sizes = { summary: summary?.bytes ?? 0, turns: turns.map(({ bytes }) => bytes) };
  const kept = cutOldest(sizes, maxBytes);
  const shownTurns = history.filter(isTurn).map((turn, index) => {
    const bytes = kept.turns[index] ?? 0;
    return bytes === 0 ? null : cutTurn(turn, bytes);
  });
  const leftOut = turns.filter((_, index) => shownTurns[index] === null).map(({ turn }) => turn);
  const beginning = beginningOf(history.find(isSummary), kept.summary, leftOut);
  return [...beginning, ...shownTurns.filter((turn) => turn !== null)];
}

function cutTurn(turn: EarlierTurn, maxBytes: number): EarlierTurn {
  if (bytesOf(turn) <= maxBytes) return turn;
  const room = smallTextsOf(turn).reduce(
    (rest, text) => rest - byteLength(text),
    maxBytes - FRAME_BYTES,
  );
  const [question = "", answer = ""] = cutToFit([turn.question, turn.answer], Math.max(0, room));
  return { ...turn, question, answer };
}

/** The summary with the mark of the turns that are left out after it; empty without both. */
function beginningOf(
  summary: SummaryOfTurns | undefined,
  maxBytes: number,
  leftOut: readonly number[],
): SummaryOfTurns[] {
  if (!summary && leftOut.length === 0) return [];
  const texts = [
    ...(summary ? cutToFit([summary.summary], Math.max(0, maxBytes - FRAME_BYTES)) : []),
    ...(leftOut.length > 0 ? [leftOutMark(leftOut.length)] : []),
  ];
  return [{ summary: texts.join("\n\n"), turns: [...(summary?.turns ?? []), ...leftOut] }];
}

const leftOutMark = (count: number): string =>
  count === 1
    ? "[… 1 message with its reply left out …]"
    : `[… ${count} messages with their replies left out …]`;
