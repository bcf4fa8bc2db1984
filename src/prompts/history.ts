import type { Attachment } from "../protocol/attachments";
import { announcement, block, paragraphs, quotedBlock } from "./quote";
import { executedBlock } from "./task";

/**
 * The conversation so far, as blocks at the beginning of a prompt. Each entry of the history is one
 * block, which depends only on the entry, its position and the nonce. So the blocks of a turn begin
 * the blocks of the turn that continues it, and providers read them from their prompt caches.
 */

/**
 * An earlier turn. `turn`: its number; omitted if it equals its position in the history.
 * `attachments` are those of its question; omitted if there are none.
 */
export type EarlierTurn = {
  turn?: number;
  question: string;
  attachments?: readonly Attachment[];
  answer: string;
  /** Set if the user cancelled the turn; `answer` is then the text so far. */
  cancelled?: CancelledTurn;
};

/** `executedTools`: names of the tools that presenters of the turn executed. */
export type CancelledTurn = { executedTools: readonly string[] };

/** Replaces the oldest turns. `turns`: their numbers, oldest first. */
export type SummaryOfTurns = { summary: string; turns: readonly number[] };

export type HistoryEntry = EarlierTurn | SummaryOfTurns;

/**
 * The first user message of a conversation. `history`: its first blocks, which end with a blank
 * line; empty in a first turn. `text`: what follows them.
 */
export type FirstMessage = { history: readonly string[]; text: string };

/**
 * The first user message. `parts` are the paragraphs after the history: those that stay the same in
 * the next rounds come first.
 */
export function firstMessage(
  nonce: string,
  history: readonly HistoryEntry[],
  parts: readonly (string | null)[],
): FirstMessage {
  const [first, ...rest] = historyBlocks(nonce, history);
  return first === undefined
    ? { history: [], text: paragraphs(announcement(nonce), ...parts) }
    : { history: [paragraphs(announcement(nonce), first), ...rest], text: paragraphs(...parts) };
}

/** One block for each entry, oldest first. Each ends with a blank line. */
export const historyBlocks = (nonce: string, history: readonly HistoryEntry[]): string[] =>
  numbered(history).map((entry) => `${blockOf(nonce, entry)}\n\n`);

function blockOf(nonce: string, { entry, first, last }: NumberedEntry): string {
  return isSummary(entry)
    ? block(nonce, `HISTORY ${first} TO ${last}`, ...summaryParts(nonce, entry, { first, last }))
    : block(nonce, `HISTORY ${first}`, ...turnParts(nonce, entry, first));
}

/**
 * The numbers of the turns in the history, oldest first, with the numbers of their messages: those
 * that a summary replaces count too.
 */
export const turnsIn = (history: readonly HistoryEntry[]): { message: number; turn: number }[] =>
  numbered(history).flatMap(({ entry, first }) =>
    isSummary(entry)
      ? entry.turns.map((turn, index) => ({ message: first + index, turn }))
      : [{ message: first, turn: entry.turn ?? first }],
  );

const isSummary = (entry: HistoryEntry): entry is SummaryOfTurns => "summary" in entry;

/** An entry, with the numbers of the first and the last message that it represents. */
type NumberedEntry = { entry: HistoryEntry; first: number; last: number };

function numbered(history: readonly HistoryEntry[]): NumberedEntry[] {
  let next = 1;
  return history.map((entry) => {
    const first = next;
    next += isSummary(entry) ? entry.turns.length : 1;
    return { entry, first, last: next - 1 };
  });
}

function summaryParts(
  nonce: string,
  { summary }: SummaryOfTurns,
  { first, last }: Pick<NumberedEntry, "first" | "last">,
): string[] {
  return [
    SUMMED_UP,
    quotedBlock(nonce, `SUMMARY OF EARLIER MESSAGES ${first} TO ${last}`, summary),
  ];
}

const SUMMED_UP =
  "The conversation has become too long. Its oldest messages and their replies are left out; this is a summary of them:";

function turnParts(
  nonce: string,
  { question, attachments = [], answer, cancelled }: EarlierTurn,
  number: number,
): string[] {
  const message = `EARLIER MESSAGE ${number}`;
  return [
    quotedBlock(nonce, message, withNames(question, attachments)),
    ...(cancelled
      ? unfinishedReply(nonce, `UNFINISHED REPLY TO ${message}`, { answer, ...cancelled })
      : [quotedBlock(nonce, `REPLY TO ${message}`, answer)]),
  ];
}

/** What a cancelled turn has left: its text so far, and the tools that it executed. */
function unfinishedReply(
  nonce: string,
  title: string,
  { answer, executedTools }: CancelledTurn & { answer: string },
): string[] {
  const begun = answer.trim() !== "";
  return [
    begun ? STOPPED : STOPPED_EARLY,
    ...(begun ? [quotedBlock(nonce, title, answer)] : []),
    ...(executedTools.length === 0 ? [] : [executedBlock(nonce, executedTools, "unfinished")]),
  ];
}

const STOPPED = "The user stopped the work on this message. The reply had come this far:";
const STOPPED_EARLY = "The user stopped the work on this message before there was a reply.";

/** The earlier question with the names of its attachments, whose contents are not sent again. */
const withNames = (question: string, attachments: readonly Attachment[]): string =>
  attachments.length === 0
    ? question
    : `${question}\n\n(With it came, not sent again: ${attachments.map(({ name, media_type }) => `${name}, ${media_type}`).join("; ")}.)`;
