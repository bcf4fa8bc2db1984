import type { WireEvent } from "../../src/protocol/events";
import { type EndMarks, readEnd } from "../../tests/contracts/faults/oracle";

/** Which faults are played, and what a run may make of an agent whose provider has one: whole answers of its model, no part of one. */

/**
 * Where an agent submitted what its model did not say as a whole, in sentences. A partial text never counts here: it would be an
 * answer only where time, tries or calls ran out, and no fault takes them all after the first words came.
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
          `its answer ${label} is ${JSON.stringify(content.slice(0, 200))}, which its model did not say as a whole`,
        ];
  });
}

/** What a model said, in bytes that were changed on their way; undefined: none came. */
type MutatedReply = { said: string; bytes: Buffer | undefined; marks: EndMarks };

/**
 * Whether a text may be the answer in a mutated reply: what the model said, or what the bytes made of it, if they themselves say
 * that the reply is complete. To end a text earlier and leave valid JSON around it takes more than mutations do, so a beginning
 * alone was cut, and then mended.
 */
export function mutatedAnswer({ said, bytes, marks }: MutatedReply): (content: string) => boolean {
  const { ended, objection } = readEnd(bytes ?? Buffer.alloc(0), marks);
  return (content) =>
    content === said || (ended && objection === null && !isBeginning(content, said));
}

/** Also of a text whose last character was cut in its middle. */
function isBeginning(content: string, whole: string): boolean {
  const kept = content.replace(/\uFFFD+$/, "");
  return kept.length < whole.length && whole.startsWith(kept);
}

/** Whether a problem is that this model charged more than the log says: of a reply whose usage may be mutated that is no one's fault. */
export const isMutatedCharge = (problem: string, model: string): boolean =>
  problem.startsWith(`I11: ${model} charged `);

/** Those faults whose names hold this text. Throws if none does, with the names that there are. */
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
