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
  /** In the order drawn for this round; empty until the agent has an answer of its own. */
  answers: readonly ShownAnswer[];
  /** About the files of the agent's own answer before; absent: nothing. */
  filesNote?: string | null;
  /** The agent's last round was lost before it had an answer, and its workspace is as that round left it. Absent: no. */
  keepsFiles?: boolean;
};

/** The user message a coordination round begins with: what stays the same for the turn first, what changes last. */
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

/** What an agent is told around its research call: in it, and afterwards with what it found. */

/** Ends the conversation that a research call is made with; it is not kept. */
export const RESEARCH_REQUEST =
  "First research: in this reply you have tools that will not be there afterwards, and nothing to decide with yet. Look up or compute whatever your decision should rest on, then write down what you found, with figures, dates and names, for yourself: nobody else sees it. If nothing needs looking up, say so in a word.";

type Found = { text: string; uses: readonly HostedUse[]; citations: readonly Citation[] };

/**
 * What came of the research, as quoted data: its text, results of code, sources. What web pages say may pose as anything, and a
 * provider need not know a reply again that it gave with other tools.
 */
export function researchNote(nonce: string, { text, uses, citations }: Found): string {
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
