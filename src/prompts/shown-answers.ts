import { block, quotedBlock } from "./quote";

/** An answer as agents see it: an alias and a text. */
export type ShownAnswer = { alias: string; content: string };

/** Answers in the order given, inside one outer block. */
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
