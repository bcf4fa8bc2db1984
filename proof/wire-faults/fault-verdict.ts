import type { WireEvent } from "../../src/protocol/events";
import { type EndMarks, readEnd } from "../../tests/contracts/faults/oracle";

/**
 * Selects the faults to play, and judges the answers of an agent with a faulty provider. Complete
 * answers are allowed, parts of answers are not.
 */

/**
 * Returns a problem for each answer of the agent that is not a complete answer of its model. A
 * partial text must never become an answer here: a partial answer is allowed only if time, tries or
 * calls run out, and no fault exhausts them after the first text.
 */
export function answerProblems(
  log: readonly WireEvent[],
  agent: string,
  isComplete: (content: string) => boolean,
): string[] {
  return log.flatMap((event) => {
    if (event.type !== "answer.submitted" || event.agent !== agent) return [];
    const { label, content, origin } = event;
    if (origin === "partial") return [`its partial text became its answer ${label}`];
    return isComplete(content)
      ? []
      : [
          `its answer ${label} is ${JSON.stringify(content.slice(0, 200))}, which is not a complete answer of its model`,
        ];
  });
}

type MutatedReply = {
  /** The text that the model sent before the mutation. */
  modelText: string;
  /** The mutated bytes of the reply; `undefined` if there was no mutated reply. */
  bytes: Buffer | undefined;
  marks: EndMarks;
};

/**
 * Returns a check of whether a text may be the answer in a mutated reply. The model's own text may,
 * and so may a changed text if the bytes contain an end. A prefix of the model's text may not:
 * mutations cannot shorten a text and keep valid JSON around it, so the adapter must have repaired
 * a reply that was cut off.
 */
export function mutatedAnswerCheck({
  modelText,
  bytes,
  marks,
}: MutatedReply): (content: string) => boolean {
  const { ended, objection } = readEnd(bytes ?? Buffer.alloc(0), marks);
  return (content) =>
    content === modelText || (ended && objection === null && !isPrefix(content, modelText));
}

/** Whether the content is a prefix of the text. Half a character at the end is ignored. */
function isPrefix(content: string, fullText: string): boolean {
  const trimmed = content.replace(/\uFFFD+$/, "");
  return trimmed.length < fullText.length && fullText.startsWith(trimmed);
}

/**
 * Whether a problem is a charge of this model above the logged one. For a reply with a mutated
 * usage, this is expected.
 */
export const isMutatedCharge = (problem: string, model: string): boolean =>
  problem.startsWith(`I11: ${model} charged `);

/**
 * Returns the faults whose names contain this text. If there are none, throws an error that lists
 * all names.
 */
export function faultsNamed<Row extends { fault: string }>(
  rows: readonly Row[],
  nameText: string,
): Row[] {
  const found = rows.filter(({ fault }) => fault.includes(nameText));
  if (found.length > 0) return found;
  throw new Error(
    `There is no fault ${JSON.stringify(nameText)}. There are:\n${[...new Set(rows.map(({ fault }) => fault))].join("\n")}`,
  );
}
