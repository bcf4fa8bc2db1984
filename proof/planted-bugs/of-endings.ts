import type { PlantedBug } from "./bug";

/** Bugs in the rules that settle, present and end a turn. */
export const BUGS_OF_ENDINGS: readonly PlantedBug[] = [
  {
    name: "a completed turn has another text than the presented one",
    file: "src/coordination/turn/turn.ts",
    find: "answer: final.content,",
    replace: "answer: draft.attempt.answers.at(-1)?.content ?? final.content,",
    invariant: "I3",
  },
  {
    name: "a long final text is not truncated",
    file: "src/coordination/attempt/long-final.ts",
    find: "return truncateTo(LIMITS.finalBytes - byteLength(lastLine), text) + lastLine;",
    replace: "return text + lastLine;",
    invariant: "presentation",
  },
  {
    name: "a cancelled turn does not end",
    file: "src/coordination/turn/turn.ts",
    find: 'if (!draft.attempt.settled) settleAttempt(draft, "cancelled");',
    replace: 'if (!draft.attempt.settled) return settleAttempt(draft, "cancelled");',
    invariant: "I15",
  },
  {
    name: "a turn without answers cancels itself",
    file: "src/coordination/turn/turn.ts",
    find: 'const message = "No agent produced an answer.";',
    replace:
      'const message = "No agent produced an answer.";\n  if (agents.length > 1) return cancelTurn(draft);',
    invariant: "I15",
  },
  {
    name: "a turn that ends by budget fails although there is an answer",
    file: "src/coordination/attempt/presentation.ts",
    find: "if (settled.winner === null) return endWithoutAnswer(draft, settled);",
    replace:
      'if (settled.winner === null || settled.endedBy === "budget") return endWithoutAnswer(draft, settled);',
    invariant: "failed",
  },
  {
    name: "partial texts are discarded at the deadline",
    file: "src/coordination/attempt/attempt.ts",
    find: "const unanswered = couldWin ? []",
    replace: 'const unanswered = couldWin || endedBy === "deadline" ? []',
    invariant: "failed",
  },
  {
    name: "partial texts are discarded at the deadline if other agents have answered",
    file: "src/coordination/attempt/attempt.ts",
    find: "const unanswered = couldWin ? []",
    replace: "const unanswered = couldWin || draft.attempt.answers.length > 0 ? []",
    invariant: "kept",
  },
  {
    name: "the files of an interrupted presenter are lost",
    file: "src/coordination/attempt/presentation.ts",
    find: 'isReused: presented.source === "answer" && presented.fallback === null })',
    replace: 'isReused: presented.source === "answer" })',
    invariant: "I10",
  },
  {
    name: "a partial answer clears the votes as coordination ends",
    file: "src/coordination/decision/vote.ts",
    find: "const validVotes = votesFor(eligible, attempt.agents, (agent) => agent.vote?.revision);",
    replace: `const isCut = eligible.at(-1)?.origin === "partial";
  const validVotes = votesFor(eligible, attempt.agents, (agent) => (isCut ? undefined : agent.vote?.revision));`,
    invariant: "I5-winner",
  },
  {
    name: "a partial answer wins over a complete one without votes",
    file: "src/coordination/decision/vote.ts",
    find: "return newestComplete ?? bestPartial",
    replace: "return eligible.at(-1) ?? newestComplete ?? bestPartial",
    invariant: "I5-winner",
  },
  {
    name: "a tie goes to the latest answer",
    file: "src/coordination/decision/vote.ts",
    find: "winner: leaders[0] ?? null, votes,",
    replace: "winner: leaders.at(-1) ?? null, votes,",
    invariant: "I5-winner",
  },
  {
    name: "consensus although one live agent has not voted",
    file: "src/coordination/attempt/attempt.ts",
    find: "if (live.every(({ vote }) => vote !== null)) return",
    replace:
      "if (live.filter(({ vote }) => vote === null).length <= (live.length > 2 ? 1 : 0)) return",
    invariant: "I6",
  },
  {
    name: "an unchanged workspace replaces a snapshot",
    file: "src/coordination/decision/handover.ts",
    find: "if (facts?.changed === false) return",
    replace: "if (facts?.changed === false && facts.files === 0) return",
    invariant: "I10",
  },
  {
    name: "the log does not state that a round emptied its workspace",
    file: "src/coordination/decision/handover.ts",
    find: 'facts?.files === 0 ? "workspace_cleared"',
    replace: 'facts?.files === -1 ? "workspace_cleared"',
    invariant: "I10",
  },
  {
    name: "an answer does not list the files that it omits",
    file: "src/coordination/decision/handover.ts",
    find: "return leftOut ? { left_out: leftOut }",
    replace: "return leftOut && leftOut.count < 0 ? { left_out: leftOut }",
    invariant: "I10",
  },
  {
    name: "a final text that may be rejected is not judged",
    file: "src/coordination/attempt/presentation.ts",
    find: "draft.attempt.number <= draft.turn.rules.max_orchestration_restarts",
    replace: "draft.attempt.number < draft.turn.rules.max_orchestration_restarts",
    invariant: "presentation",
  },
  {
    name: "the winning answer is presented before the winner is called",
    file: "src/coordination/attempt/presentation.ts",
    find: "if (agent.failed) fallBack(",
    replace: "if (agent.failed || answer) fallBack(",
    invariant: "fallbacks",
  },
];
