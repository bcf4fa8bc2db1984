import { announcement, paragraphs, quotedBlock } from "./quote";
import { answersBlock, type ShownAnswer } from "./newer-answers";
import {
  type EarlierTurn,
  type Feedback,
  feedbackBlock,
  historyBlock,
  questionBlock,
} from "./task";
import type { Citation, HostedUse } from "../protocol/hosted-tools";

type RoundMessage = {
  nonce: string;
  history: readonly EarlierTurn[];
  question: string;
  feedback: Feedback | null;
  /** In the order drawn for this round; empty until the agent has an answer. */
  answers: readonly ShownAnswer[];
  /** About the files of the agent's previous answer; omitted if there is nothing to say. */
  filesNote?: string | null;
  /**
   * The agent's last round was lost before its answer, and its workspace still has that round's
   * files. Omitted: false.
   */
  keepsFiles?: boolean;
};

/** The first user message of a coordination round: constant parts first, changing ones last. */
export function roundMessage(message: RoundMessage): string {
  const {
    nonce,
    history,
    question,
    feedback,
    answers,
    filesNote = null,
    keepsFiles = false,
  } = message;
  return paragraphs(
    announcement(nonce),
    historyBlock(nonce, history),
    questionBlock(nonce, question),
    feedbackBlock(nonce, feedback),
    answers.length === 0 ? null : answersBlock(nonce, "CURRENT ANSWERS", answers),
    filesNote && `With your last answer ${filesNote}`,
    answers.length === 0 ? FIRST_ANSWER : THE_QUESTION,
    keepsFiles ? KEPT_FILES : null,
  );
}

const FIRST_ANSWER =
  "Work out your own answer to the ORIGINAL MESSAGE and submit it, complete, with `new_answer`. You will see other answers after that.";

const KEPT_FILES =
  "You have worked on this before, and your conversation was lost. `/workspace` still holds the files as you left them: look at them first, and continue from there.";

const THE_QUESTION =
  "Does the best of the CURRENT ANSWERS serve the ORIGINAL MESSAGE well? If yes, call `vote` for it. If no, call `new_answer` with a better one: combine strengths, mend weaknesses, or try a fresh approach.";

/** Texts of a research call: its request, and the note with its results. */

/** The end of the conversation of a research call; not stored. */
export const RESEARCH_REQUEST =
  "First research: in this reply you have tools that will not be there afterwards, and nothing to decide with yet. Look up or compute whatever your decision should rest on, then write down what you found, with figures, dates and names, for yourself: nobody else sees it. If nothing needs looking up, say so in a word.";

type Findings = { text: string; uses: readonly HostedUse[]; citations: readonly Citation[] };

/**
 * The results of research as quoted data: text, output of code, sources. Web pages may imitate
 * instructions. The reply itself is not sent back, because a provider may refuse a reply that was
 * made with other tools.
 */
export function researchNote(nonce: string, { text, uses, citations }: Findings): string {
  const ran = uses.filter(({ name, output }) => name === "code_execution" && output.trim() !== "");
  const computed = ran.map(({ input, output }) => `${input}\n→ ${output}`).join("\n\n");
  const sources = citations.map(({ title, url }) => `- ${title} ${url}`).join("\n");
  const block = (title: string, found: string) =>
    found.trim() === "" ? null : quotedBlock(nonce, title, found);
  const blocks = [
    block("YOUR RESEARCH", text),
    block("COMPUTED", computed),
    block("SOURCES", sources),
  ];
  const isEmpty = blocks.every((found) => found === null);
  return paragraphs(isEmpty ? NOTHING : FOUND, ...blocks, NEXT);
}

const FOUND = "You have looked things up for this round already; this is what you found and noted.";
const NOTHING = "You could have looked things up for this round already, and noted nothing.";
const NEXT =
  "The tools of your research are gone until your next round. Decide now as you were told above; what others should know of your research must stand in what you submit.";
