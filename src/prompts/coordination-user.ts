import { type EarlierFiles, earlierFilesParagraph } from "./earlier-files";
import { type ContextPrompt, contextLines } from "./files";
import { type FirstMessage, firstMessage, type HistoryEntry } from "./history";
import { paragraphs, quotedBlock } from "./quote";
import { answersBlock, type ShownAnswer } from "./newer-answers";
import { type Persona, personaSection } from "./personas";
import { type Feedback, feedbackBlock, questionBlock } from "./task";
import type { Citation, HostedUse } from "../protocol/hosted-tools";

type RoundMessage = {
  nonce: string;
  history: readonly HistoryEntry[];
  /** Omitted or `null` if the agent has no files. */
  earlierFiles?: EarlierFiles | null;
  /** The user's uploads that the agent sees. Omitted: none. */
  contexts?: readonly ContextPrompt[];
  question: string;
  feedback: Feedback | null;
  /** Omitted or `null` if the agent has none. */
  persona?: Persona | null;
  /** The answers in the random order of this round. Empty before the agent's first answer. */
  answers: readonly ShownAnswer[];
  /** Text about the files of the agent's previous answer; omitted if it is not needed. */
  filesNote?: string | null;
  /**
   * Whether the agent's workspace still has the files of its last round, which failed before an
   * answer. Omitted: false.
   */
  keepsFiles?: boolean;
};

/**
 * The first user message of a coordination round. The parts that stay the same in later turns are
 * first, then those that stay the same in later rounds, so that prompt caches match.
 */
export function roundMessage(message: RoundMessage): FirstMessage {
  const { nonce, history, question, feedback, answers, filesNote = null } = message;
  return firstMessage(nonce, history, [
    earlierFilesParagraph(history, message.earlierFiles ?? null),
    contextLines(message.contexts ?? []),
    questionBlock(nonce, question),
    feedbackBlock(nonce, feedback),
    personaSection(message.persona ?? null),
    answers.length === 0 ? null : answersBlock(nonce, "CURRENT ANSWERS", answers),
    filesNote && `With your last answer ${filesNote}`,
    answers.length === 0 ? FIRST_ANSWER : DECISION_REQUEST,
    message.keepsFiles ? KEPT_FILES : null,
  ]);
}

const FIRST_ANSWER =
  "Work out your own answer to the ORIGINAL MESSAGE and submit it, complete, with `new_answer`. You will see other answers after that.";

const KEPT_FILES =
  "You have worked on this before, and your conversation was lost. `/workspace` still holds the files as you left them: look at them first, and continue from there.";

const DECISION_REQUEST =
  "Does the best of the CURRENT ANSWERS serve the ORIGINAL MESSAGE well? If yes, call `vote` for it. If no, call `new_answer` with a better one: combine strengths, mend weaknesses, or try a fresh approach.";

/** The last text of a research call. It is not stored in the conversation. */
export const RESEARCH_REQUEST =
  "First research: in this reply you have tools that will not be there afterwards, and nothing to decide with yet. Look up or compute whatever your decision should rest on, then write down what you found, with figures, dates and names, for yourself: nobody else sees it. If nothing needs looking up, say so in a word.";

type Findings = { text: string; uses: readonly HostedUse[]; citations: readonly Citation[] };

/**
 * The results of a research call: its text, output of code, sources. They are quoted, because web
 * pages may contain instructions. The reply itself is not sent back, because a provider may refuse
 * a reply in which other tools were used.
 */
export function researchNote(nonce: string, { text, uses, citations }: Findings): string {
  const codeRuns = uses.filter(
    ({ name, output }) => name === "code_execution" && output.trim() !== "",
  );
  const computed = codeRuns.map(({ input, output }) => `${input}\n→ ${output}`).join("\n\n");
  const sources = citations.map(({ title, url }) => `- ${title} ${url}`).join("\n");
  const blockUnlessEmpty = (title: string, content: string) =>
    content.trim() === "" ? null : quotedBlock(nonce, title, content);
  const blocks = [
    blockUnlessEmpty("YOUR RESEARCH", text),
    blockUnlessEmpty("COMPUTED", computed),
    blockUnlessEmpty("SOURCES", sources),
  ];
  const isEmpty = blocks.every((block) => block === null);
  return paragraphs(isEmpty ? FOUND_NOTHING : FOUND, ...blocks, NEXT_STEP);
}

const FOUND = "You have looked things up for this round already; this is what you found and noted.";
const FOUND_NOTHING = "You could have looked things up for this round already, and noted nothing.";
const NEXT_STEP =
  "The tools of your research are gone until your next round. Decide now as you were told above; what others should know of your research must stand in what you submit.";
