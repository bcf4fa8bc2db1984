import type { WireEvent } from "../../src/protocol/events";
import { type EndMarks, readEnd } from "../../tests/contracts/faults/oracle";

/**
 * Selects the faults to play, and judges the answers of an agent with a faulty provider: complete
 * answers are allowed, parts are not.
 */

/**
 * Problems of an agent's answers that are not complete answers of its model. A partial text must
 * never become an answer: that would need the end of time, tries or calls, and no fault exhausts
 * them after the first text.
 */
export function answerProblems(
  log: readonly WireEvent[],
  agent: string,
  isWhole: (content: string) => boolean,
): string[] {
  return log.flatMap((event) => {
    if (event.type !== "answer.submitted" || event.agent !== agent) return [];
    const { label, content, origin } = event;
    if (origin === "partial") return [`its partial text became its answer ${label}`];
    return isWhole(content)
      ? []
      : [
          `its answer ${label} is ${JSON.stringify(content.slice(0, 200))}, which is not a complete answer of its model`,
        ];
  });
}

/** A model's text, and the mutated bytes of its reply; `undefined` if none were sent. */
type MutatedReply = { said: string; bytes: Buffer | undefined; marks: EndMarks };

/**
 * Whether a text may be the answer in a mutated reply: the model's own text, or a changed text if
 * the bytes contain an end. Mutations cannot shorten a text and keep valid JSON around it, so a
 * prefix must come from a repaired cut.
 */
export function mutatedAnswer({ said, bytes, marks }: MutatedReply): (content: string) => boolean {
  const { ended, objection } = readEnd(bytes ?? Buffer.alloc(0), marks);
  return (content) =>
    content === said || (ended && objection === null && !isBeginning(content, said));
}

/** Whether the text is a prefix, ignoring half a character at its end. */
function isBeginning(content: string, whole: string): boolean {
  const kept = content.replace(/\uFFFD+$/, "");
  return kept.length < whole.length && whole.startsWith(kept);
}

/**
 * Whether a problem is a charge of this model above the logged one. For a reply with a mutated
 * usage, this is expected.
 */
export const isMutatedCharge = (problem: string, model: string): boolean =>
  problem.startsWith(`I11: ${model} charged `);

/**
 * The faults whose names contain this text. Throws if there are none, with the names that exist.
 */
export function faultsNamed<Row extends { fault: string }>(
  rows: readonly Row[],
  part: string,
): Row[] {
  const found = rows.filter(({ fault }) => fault.includes(part));
  if (found.length > 0) return found;
  throw new Error(
    `There is no fault ${JSON.stringify(part)}. There are:\n${[...new Set(rows.map(({ fault }) => fault))].join("\n")}`,
  );
}
