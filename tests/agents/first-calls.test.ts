import { describe, expect, it } from "vitest";
import { inputTokenBound } from "../../src/agents/conversation";
import { firstCalls } from "../../src/agents/first-calls";
import { capTooSmall } from "../../src/coordination";
import { byteLength } from "../../src/coordination/byte-length";
import type { EarlierTurn } from "../../src/prompts/history";
import { answers, says, teamOf, TeamRun, votes } from "./team-run";

const NONCE = "0".repeat(16);
const QUESTION = "And eight times seven?";
const TOOL = { name: "lookup", description: "A tool.", parameters: { type: "object" } };
const long = (text: string): string => text.repeat(500);
const earlier: EarlierTurn[] = [
  { question: long("Why? "), answer: long("Because. ") },
  { question: "And now?", answer: "" },
];
const drawing = {
  kind: "image",
  name: "drawing.png",
  media_type: "image/png",
  size: 1,
  sha256: "0".repeat(64),
} as const;

type Row = { name: string; history: EarlierTurn[]; tools?: string[]; system?: string };
const rows: Row[] = [
  { name: "a session's first turn", history: [] },
  { name: "a turn with earlier turns", history: earlier },
  {
    name: "a turn after an earlier turn with an image, whose name is in the prompt",
    history: [{ question: "What is it?", attachments: [drawing], answer: "A cat." }],
  },
  { name: "an agent with its own tools", history: earlier, tools: ["lookup"] },
  { name: "an agent with a long system message", history: earlier, system: long("Be brief. ") },
];

/** The requests of a team that answers, votes and presents. */
function play({ history, tools = [], system }: Row) {
  const team = teamOf(["a", "b"], {
    tools,
    ...(system !== undefined && { agent: { systemMessage: system } }),
  });
  const run = new TeamRun({
    team,
    history,
    nonce: () => NONCE,
    script: (agent, { tools: offered }) => {
      if (offered.some(({ name }) => name === "vote")) return votes("agent1");
      return offered.some(({ name }) => name === "new_answer")
        ? answers(`answer ${agent}`)
        : says("the final text");
    },
  }).ask(QUESTION);
  const toolsOf = () => tools.map((name) => ({ ...TOOL, name }));
  const calls = firstCalls({ team, question: QUESTION, attached: null, toolsOf, history });
  return { team, run, calls };
}

describe("the bound of each agent's first call, computed before the turn (A2),", () => {
  it.each(rows)("equals the bound of the call that the turn then makes: $name", (row) => {
    const { run, calls } = play(row);
    const actualCalls = [0, 1].map((index) => {
      const sent = run.sent.find(({ agent }) => agent === index);
      return { agent: index, inputTokens: sent ? inputTokenBound(sent.request) : 0 };
    });
    expect(calls).toEqual(actualCalls);
  });

  it.each(rows)("makes a refusal name a cap that also pays for the presentation: $name", (row) => {
    const { team, run, calls } = play(row);
    const refusal = capTooSmall({
      rules: team.rules,
      budget: { max_tokens: 0 },
      calls,
      questionTokens: byteLength(QUESTION),
    });
    const presentation = run.sent.at(-1)?.request;
    const inputs = calls.reduce(
      (sum, { inputTokens }) => sum + inputTokens,
      presentation ? inputTokenBound(presentation) : 0,
    );
    expect(run.sent.at(-1)?.purpose).toBe("presentation");
    expect(refusal?.enough).toBeGreaterThanOrEqual(inputs + 2 * 1_024 + 2_048);
  });
});
