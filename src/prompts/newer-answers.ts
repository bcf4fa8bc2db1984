import type { HandedFiles, LeftOut } from "../protocol/events";
import { FILES_KEPT } from "../protocol/left-out";
import { block, paragraphs, quotedBlock } from "./quote";

/**
 * The files of an answer. `keptFiles` is the number of files that stay from before; omitted if
 * unknown.
 */
type AnswerFiles = { files?: HandedFiles; keptFiles?: number; leftOut?: LeftOut };

/**
 * A note to an agent about the files of its own answer; `null` if not needed. The note names no
 * path, because paths would reveal which answer below `/peers` is the agent's own.
 */
export function answerFilesNote({ files, keptFiles, leftOut }: AnswerFiles): string | null {
  if (files === "kept" && keptFiles === 0) return null;
  if (files === "kept") return `${FILES_KEPT}.`;
  if (!leftOut) return null;
  const { count } = leftOut;
  const missing = count === 1 ? "1 file is missing" : `${count} files are missing`;
  return `${missing} that the answer before had and that you did not delete. Copy them from \`/peers\` if they belong to it.`;
}

/** An answer as agents see it: an alias and a text. */
export type ShownAnswer = { alias: string; content: string };

/** One block that contains a block for each answer, in the given order. */
export function answersBlock(
  nonce: string,
  title: string,
  answers: readonly ShownAnswer[],
): string {
  return block(
    nonce,
    title,
    ...answers.map(({ alias, content }) => quotedBlock(nonce, `ANSWER ${alias}`, content)),
  );
}

/**
 * Why newer answers are shown to a working agent: they arrived while it worked, or its vote no
 * longer counts, or its vote was not counted.
 */
export type UpdateCause = "working" | "vote_void" | "vote_stale";

const NOTICES: Record<UpdateCause, string> = {
  working: "Newer answers have arrived while you were working.",
  vote_void: "Your vote no longer counts: a newer answer arrived after it. Judge again.",
  vote_stale:
    "Your vote was not counted: newer answers had arrived that you had not seen. Here they are; judge again.",
};

const OPTIONS = `Does the best of all current answers, these among them, serve the ORIGINAL MESSAGE well? You have three options:

1. Continue what you were doing, if it still leads to something better than every answer there is.
2. Refine: take in what these answers do well, mend what they lack, and call \`new_answer\`.
3. Vote: if one of the answers serves the message well, call \`vote\` for it.`;

/** The message with the new answers. It does not repeat the other answers. */
export function updateMessage(
  nonce: string,
  cause: UpdateCause,
  answers: readonly ShownAnswer[],
): string {
  return paragraphs(
    `${NOTICES[cause]} A new answer replaces its author's earlier one; the other answers stand as you know them.`,
    answersBlock(nonce, "NEW ANSWERS", answers),
    OPTIONS,
  );
}
