/** The names of answers, for people, files and the API. Models see aliases only. */
type AnswerLabel = `agent${number}.${number}`;
type FinalLabel = `agent${number}.final`;

/** `agentIndex` counts from 0, `nth` (the agent's answers in this attempt) from 1. */
export const answerLabel = (agentIndex: number, nth: number): AnswerLabel =>
  `agent${agentIndex + 1}.${nth}`;

export const finalLabel = (agentIndex: number): FinalLabel => `agent${agentIndex + 1}.final`;

/** In place of a label: the files that the turn began with. */
export const BASE = "base";
