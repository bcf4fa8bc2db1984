import { announcement, paragraphs } from "./quote";
import { answersBlock, type ShownAnswer } from "./shown-answers";
import {
  type EarlierTurn,
  type Feedback,
  feedbackBlock,
  historyBlock,
  questionBlock,
} from "./task";

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
