import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { roundMessage } from "../../src/prompts/coordination-user";
import type { HistoryEntry } from "../../src/prompts/history";
import { personasMessage } from "../../src/prompts/personas";
import { judgementMessage, presentationMessage } from "../../src/prompts/presentation";

/** The beginning of a prompt is the same in the next turn, so that prompt caches match. */

const NONCE = "k7f3";

const text = fc.string({ unit: fc.constantFrom("a", "\n", NONCE, "<<<", ">>>", " ", "ß") });
const name = fc.constantFrom("a.png", "b.txt");
const attachment = fc.record({
  kind: fc.constant("image" as const),
  name,
  media_type: fc.constant("image/png"),
  size: fc.nat(),
  sha256: fc.constant("0".repeat(64)),
});
const earlierTurn = fc
  .record({
    question: text,
    answer: text,
    attachments: fc.array(attachment, { maxLength: 2 }),
    tools: fc.option(fc.array(text, { maxLength: 2 })),
  })
  .map(
    ({ tools, ...turn }): HistoryEntry => ({
      ...turn,
      ...(tools && { cancelled: { executedTools: tools } }),
    }),
  );
const summary = fc.record({
  summary: text,
  turns: fc.array(fc.nat(), { minLength: 1, maxLength: 4 }),
});
/** The turns of a conversation, whose oldest ones may be summarised. */
const conversation = fc
  .tuple(fc.option(summary), fc.array(earlierTurn, { minLength: 1, maxLength: 6 }))
  .map(([oldest, turns]) => (oldest ? [oldest, ...turns] : turns));

/** What differs between turns: question, personas, uploads, files, feedback, answers. */
const changing = fc.record({
  question: text,
  persona: fc.option(fc.record({ text, strength: fc.constant("full" as const) })),
  contexts: fc.array(
    fc.record({
      name,
      access: fc.constantFrom("read" as const, "later" as const),
      protectedPaths: fc.array(name, { maxLength: 1 }),
    }),
    { maxLength: 2 },
  ),
  earlierFiles: fc.option(fc.record({ contexts: fc.boolean(), container: fc.boolean() })),
  feedback: fc.constant(null),
});
type Changing = typeof changing extends fc.Arbitrary<infer T> ? T : never;

const PROMPTS = [
  {
    name: "a round",
    prompt: (history: readonly HistoryEntry[], turn: Changing) =>
      roundMessage({ nonce: NONCE, history, ...turn, answers: [] }),
  },
  {
    name: "a presentation",
    prompt: (history: readonly HistoryEntry[], turn: Changing) =>
      presentationMessage({
        ...{ nonce: NONCE, history, ...turn, own: null, others: [], votes: [] },
        planned: { calls: [], leftOut: 0 },
      }),
  },
  {
    name: "a verdict",
    prompt: (history: readonly HistoryEntry[], turn: Changing) =>
      judgementMessage({ nonce: NONCE, history, ...turn, finalText: "x", executedTools: [] }),
  },
  {
    name: "the personas call",
    prompt: (history: readonly HistoryEntry[], { question }: Changing) =>
      personasMessage({ nonce: NONCE, history, question, team: [] }),
  },
];

describe("the history of a turn is, block by block, the beginning of that of the next turn", () => {
  it.each(PROMPTS)("in the prompt of $name", ({ prompt }) => {
    fc.assert(
      fc.property(conversation, changing, changing, (history, earlier, later) => {
        const before = prompt(history.slice(0, -1), earlier);
        const after = prompt(history, later);
        expect(after.history).toHaveLength(history.length);
        expect(after.history.slice(0, before.history.length)).toEqual(before.history);
      }),
    );
  });
});
