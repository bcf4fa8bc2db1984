import { z } from "zod";

/** Fields that many events share. An event carries `turn` 0 if it belongs to the session as a whole. */

/** An agent's id, as in the config. */
export const agent = z.string();
/** Of an answer or a final: `agent2.1`, `agent2.final`. */
export const label = z.string();

/** Fields of every event before the log numbers it. */
export const base = { at: z.number(), turn: z.number().int() };
export const inAttempt = { ...base, attempt: z.number().int() };
export const ofAgent = { ...inAttempt, agent };
export const ofRound = { ...ofAgent, round: z.number().int() };
export const ofCall = { ...ofRound, call: z.string() };
export const ofTool = { ...ofRound, tool_call: z.string(), name: z.string() };
