/**
 * A mutant that no test can notice: its place, as the source line in which it begins, and the
 * reason.
 */
type Equivalent = {
  file: string;
  text: string;
  original: string;
  replacement: string;
  reason: string;
};

/**
 * Mutants that are not counted. An entry that matches no mutant is reported, so that the list stays
 * current.
 */
export const EQUIVALENTS: readonly Equivalent[] = [
  {
    file: "src/coordination/decision/answer.ts",
    text: 'case "new":',
    original: '"new"',
    replacement: '""',
    reason: "Falls out of the switch with undefined, which its only caller treats like null.",
  },
  {
    file: "src/coordination/budget/budget.ts",
    text: "const { price, hosted_tools = [] } = agent;",
    original: "[]",
    replacement: '["Stryker was here"]',
    reason: "A text has neither name nor price, so it counts as no use at no price.",
  },
  {
    file: "src/coordination/byte-length.ts",
    text: "if (jsonBytes(text) <= maxBytes) return text;",
    original: "jsonBytes(text) <= maxBytes",
    replacement: "jsonBytes(text) < maxBytes",
    reason: "The loop below keeps all of a text that just fits.",
  },
  {
    file: "src/coordination/byte-length.ts",
    text: "if (jsonBytes(text) <= maxBytes) return text;",
    original: "jsonBytes(text) <= maxBytes",
    replacement: "false",
    reason: "The loop below keeps all of a text that fits; this only spares it.",
  },
  {
    file: "src/coordination/call/calls.ts",
    text: "if (event) draft.add(event);",
    original: "event",
    replacement: "true",
    reason:
      "A tool in flight is always one of its agent's open round, so there is always an event.",
  },
  {
    file: "src/coordination/decide.ts",
    text: 'case "clock":',
    original: '"clock"',
    replacement: '""',
    reason: "The last case does nothing; without it the switch does nothing either.",
  },
  {
    file: "src/coordination/effects.ts",
    text: "return turn && attempt ? { turn: Number(turn), attempt: Number(attempt) } : null;",
    original: "turn && attempt",
    replacement: "turn || attempt",
    reason: "The pattern finds both or neither.",
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
    reason: "Read only for agents with an answer, and set by the round of that answer.",
  },
  {
    file: "src/coordination/decision/answer.ts",
    text: 'if (maxOverlap >= 1) return "new";',
    original: "maxOverlap >= 1",
    replacement: "maxOverlap > 1",
    reason: "No overlap is above 1, so the comparison below says the same.",
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
    reason: "No overlap is above 1, so the comparison below says the same.",
  },
  {
    file: "src/coordination/turn/timers.ts",
    text: "const times: number[] = [];",
    original: "[]",
    replacement: '["Stryker was here"]',
    reason: "A text is later than no time, so it is never the next one.",
  },
  {
    file: "src/coordination/decision/answer.ts",
    text: "return all === 0 ? 0 : a.intersection(b).size / all;",
    original: "all === 0",
    replacement: "false",
    reason: "0 / 0 is above no limit, just as 0 is.",
  },
  {
    file: "src/coordination/attempt/personas.ts",
    text: "return false;",
    original: "false",
    replacement: "true",
    reason: "After a new event the rules run again at once, and then nothing is pending.",
  },
  {
    file: "src/coordination/attempt/presentation.ts",
    text: "if (presenter === null || !isNormalStop(stopReason) || !verdict?.restart) return completeTurn(draft);",
    original: "presenter === null",
    replacement: "false",
    reason: "Only the presenter is asked for a verdict.",
  },
  {
    file: "src/coordination/attempt/presentation.ts",
    text: 'if (reasons === undefined) return "It wrote nothing.";',
    original: "reasons === undefined",
    replacement: "false",
    reason: "Without an answer only time or money ends an attempt while an agent is live.",
  },
  {
    file: "src/coordination/state.ts",
    text: "(answer) => attempt.agents[answer.agent]?.newest === answer.revision,",
    original: "attempt.agents[answer.agent]?.newest",
    replacement: "attempt.agents[answer.agent].newest",
    reason: "Every answer belongs to an agent of the team; the operator is for the compiler.",
  },
  {
    file: "src/coordination/decision/vote.ts",
    text: "if (revision === undefined || !eligible.some((answer) => answer.revision === revision))",
    original: "revision === undefined",
    replacement: "false",
    reason: "No answer has an undefined revision, so the second condition says the same.",
  },
  {
    file: "src/coordination/turn/turn.ts",
    text: "const winning = revision === null ? undefined : draft.attempt.answers[revision - 1];",
    original: "revision === null",
    replacement: "false",
    reason: "There is no answer at -1 either.",
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
