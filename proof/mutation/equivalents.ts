/**
 * A mutant that no test can notice. `text`: the source line in which the mutant begins. `original`
 * and `replacement`: the changed code. `reason`: why the behaviour stays the same.
 */
type Equivalent = {
  file: string;
  text: string;
  original: string;
  replacement: string;
  reason: string;
};

/**
 * Mutants that the score does not count. The command reports an entry that matches no mutant, so
 * that outdated entries are removed.
 */
export const EQUIVALENTS: readonly Equivalent[] = [
  {
    file: "src/coordination/decision/answer.ts",
    text: 'case "new":',
    original: '"new"',
    replacement: '""',
    reason: "The switch then returns undefined, which its only caller treats like null.",
  },
  {
    file: "src/coordination/budget/budget.ts",
    text: "const { price, hosted_tools = [] } = agent;",
    original: "[]",
    replacement: '["Stryker was here"]',
    reason: "A string has no name and no price, so it adds no use and no cost.",
  },
  {
    file: "src/coordination/byte-length.ts",
    text: "if (jsonBytes(text) <= maxBytes) return text;",
    original: "jsonBytes(text) <= maxBytes",
    replacement: "jsonBytes(text) < maxBytes",
    reason: "The loop below also keeps the whole text if the text has exactly the limit.",
  },
  {
    file: "src/coordination/byte-length.ts",
    text: "if (jsonBytes(text) <= maxBytes) return text;",
    original: "jsonBytes(text) <= maxBytes",
    replacement: "false",
    reason: "The loop below also keeps the whole text; this line only avoids the loop.",
  },
  {
    file: "src/coordination/call/calls.ts",
    text: "if (event) draft.add(event);",
    original: "event",
    replacement: "true",
    reason:
      "A running tool always belongs to the open round of its agent, so there is always an event.",
  },
  {
    file: "src/coordination/decide.ts",
    text: 'case "clock":',
    original: '"clock"',
    replacement: '""',
    reason: "This case does nothing, and the switch does nothing without it.",
  },
  {
    file: "src/coordination/effects.ts",
    text: "return turn && attempt ? { turn: Number(turn), attempt: Number(attempt) } : null;",
    original: "turn && attempt",
    replacement: "turn || attempt",
    reason: "The pattern always finds both values or none.",
  },
  {
    file: "src/coordination/attempt/evolve-attempt.ts",
    text: 'endedBy: turn.attempt.settled?.endedBy ?? "skipped",',
    original: "turn.attempt.settled?.endedBy",
    replacement: "turn.attempt.settled.endedBy",
    reason: "A presentation is completed only in an attempt that is settled.",
  },
  {
    file: "src/coordination/attempt/evolve-attempt.ts",
    text: "released: false,",
    original: "false",
    replacement: "true",
    reason: "It is read only for agents with an answer, and the round of the answer sets it.",
  },
  {
    file: "src/coordination/decision/answer.ts",
    text: 'if (maxOverlap >= 1) return "new";',
    original: "maxOverlap >= 1",
    replacement: "maxOverlap > 1",
    reason: "No overlap is above 1, so the comparison below has the same result.",
  },
  {
    file: "src/coordination/decision/injection.ts",
    text: 'if (round?.status === "voted" && vote === null) injectAnswers(draft, index, "reopened");',
    original: "vote === null",
    replacement: "true",
    reason: "A voter whose vote is valid has seen every answer, so nothing is injected.",
  },
  {
    file: "src/coordination/decision/answer.ts",
    text: 'if (maxOverlap >= 1) return "new";',
    original: "maxOverlap >= 1",
    replacement: "false",
    reason: "No overlap is above 1, so the comparison below has the same result.",
  },
  {
    file: "src/coordination/turn/timers.ts",
    text: "const times: number[] = [];",
    original: "[]",
    replacement: '["Stryker was here"]',
    reason: "A string compares as neither earlier nor later, so it is never the next time.",
  },
  {
    file: "src/coordination/decision/answer.ts",
    text: "return all === 0 ? 0 : a.intersection(b).size / all;",
    original: "all === 0",
    replacement: "false",
    reason: "0 / 0 is NaN, which is above no limit, like 0.",
  },
  {
    file: "src/coordination/attempt/personas.ts",
    text: "return false;",
    original: "false",
    replacement: "true",
    reason: "After a new event the rules run again immediately, and then nothing is pending.",
  },
  {
    file: "src/coordination/attempt/presentation.ts",
    text: "if (presenter === null || !isNormalStop(stopReason) || !verdict?.restart)",
    original: "presenter === null",
    replacement: "false",
    reason: "Only the presenter is asked for a verdict.",
  },
  {
    file: "src/coordination/attempt/presentation.ts",
    text: 'if (reasons === undefined) return "It wrote nothing.";',
    original: "reasons === undefined",
    replacement: "false",
    reason: "Without an answer, only a limit of time or cost ends an attempt with a live agent.",
  },
  {
    file: "src/coordination/state.ts",
    text: "(answer) => attempt.agents[answer.agent]?.newest === answer.revision,",
    original: "attempt.agents[answer.agent]?.newest",
    replacement: "attempt.agents[answer.agent].newest",
    reason: "Every answer belongs to an agent of the team; only the compiler needs the operator.",
  },
  {
    file: "src/coordination/decision/vote.ts",
    text: "if (revision === undefined || !eligible.some((answer) => answer.revision === revision))",
    original: "revision === undefined",
    replacement: "false",
    reason: "No answer has an undefined revision, so the second condition has the same result.",
  },
  {
    file: "src/coordination/turn/turn.ts",
    text: "const winning = revision === null ? undefined : draft.attempt.answers[revision - 1];",
    original: "revision === null",
    replacement: "false",
    reason: "null - 1 is -1, and there is no answer at index -1.",
  },
  {
    file: "checker/answers.ts",
    text: 'const plain = (text: string): string => text.split(/\\s+/).filter(Boolean).join(" ");',
    original: "/\\s+/",
    replacement: "/\\s/",
    reason: "The text between two blanks is empty and is filtered out.",
  },
  {
    file: "checker/answers.ts",
    text: ".split(/[^\\p{L}\\p{N}]+/u)",
    original: "/[^\\p{L}\\p{N}]+/u",
    replacement: "/[^\\p{L}\\p{N}]/u",
    reason: "The text between two separators is empty and is filtered out.",
  },
];
