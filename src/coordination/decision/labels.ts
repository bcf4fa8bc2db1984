/** Names of answers for people, files and the API. Models see only aliases. */
type AnswerLabel = `agent${number}.${number}`;
type FinalLabel = `agent${number}.final`;

/** `agentIndex` starts at 0. `nth` counts the agent's answers in this attempt, from 1. */
export const answerLabel = (agentIndex: number, nth: number): AnswerLabel =>
  `agent${agentIndex + 1}.${nth}`;

export const finalLabel = (agentIndex: number): FinalLabel => `agent${agentIndex + 1}.final`;

/** Used in place of a label: the files from the start of the turn. */
export const BASE = "base";
