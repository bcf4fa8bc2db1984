import type { Overrides } from "../../src/protocol/turn-team";

/** The changes of a team for one turn, in words: `only b, c; a with gpt-5-mini; quick`. */
export function overrideWords(overrides: Overrides): string {
  const { agents, models = {}, max_new_answers_per_agent: most } = overrides;
  const { quick, personas, skip_coordination: skips } = overrides;
  const words = [
    ...(agents ? [`only ${agents.join(", ")}`] : []),
    ...Object.entries(models).map(([agent, model]) => `${agent} with ${model}`),
    ...(quick ? ["quick"] : []),
    ...(most === undefined ? [] : [`at most ${most} ${most === 1 ? "answer" : "answers"} each`]),
    ...(personas === undefined ? [] : [personas ? "with personas" : "without personas"]),
    ...(skips === undefined ? [] : [skips ? "without coordination" : "with coordination"]),
  ];
  return words.join("; ");
}
