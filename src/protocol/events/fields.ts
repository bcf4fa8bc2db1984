import * as z from "zod";

/** Fields that many events share. */

/** An agent's id. If a field's meaning is narrower, describe it again: `agent.describe("…")`. */
export const agent = z.string().describe("Id of the agent in the config");
/** Label of an answer or of a final text. */
export const label = z.string().describe("Label of the answer, such as `agent2.1`");
/** A number that counts from 0 or 1. */
export const count = z.number().int();

/** Why something failed or was refused. */
export const reasonFields = {
  code: z.string().describe("Stable code of the reason"),
  message: z.string().describe("The reason, for people. Its wording may change"),
};

/** Fields that every event has before the log gives it a number. */
export const base = {
  at: z.number().describe("Unix time in milliseconds"),
  turn: count.describe("Number of the turn, from 1; 0 for the session as a whole"),
};
export const inAttempt = {
  ...base,
  attempt: count.describe("Number of the attempt in the turn, from 1"),
};
export const ofAgent = { ...inAttempt, agent };
export const ofRound = {
  ...ofAgent,
  round: count.describe("Number of the agent's round in the attempt, from 1"),
};
export const ofCall = { ...ofRound, call: z.string().describe("Id of the model call") };
export const ofTool = {
  ...ofRound,
  tool_call: z.string().describe("Id of the tool call"),
  name: z.string().describe("Name of the tool, as the agent calls it"),
};
