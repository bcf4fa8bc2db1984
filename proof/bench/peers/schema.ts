import * as z from "zod";

/** The answer of a program to one message. */
export const AnswerSchema = z.union([
  z.strictObject({ value: z.unknown() }),
  z.strictObject({ error: z.string() }),
]);

const PaceSchema = z.strictObject({ ttftMs: z.number(), tokensPerSecond: z.number() });

/** Messages to the process of the simulated providers. */
export const ProviderOrderSchema = z.discriminatedUnion("type", [
  /**
   * Starts the models of a team, without delay. `client`: whose requests the models understand.
   * Answers with the base URL.
   */
  z.strictObject({
    type: z.literal("start"),
    agents: z.int(),
    tokens: z.int(),
    client: z.enum(["service", "massgen"]),
  }),
  /** Sets the pace of all later replies. `null`: without delay. */
  z.strictObject({ type: z.literal("pace"), pace: PaceSchema.nullable() }),
  /** Answers with the calls since the previous order of this type. */
  z.strictObject({ type: z.literal("take") }),
  /** Answers with the job of a bare loop that sends the requests of the latest `take` again. */
  z.strictObject({ type: z.literal("job") }),
]);
export type ProviderOrder = z.infer<typeof ProviderOrderSchema>;

/** Calls that have ended, as their provider served them. */
export const EndedCallsSchema = z.array(
  z.strictObject({ stage: z.string(), startedAt: z.number(), endedAt: z.number() }),
);
export type EndedCall = z.infer<typeof EndedCallsSchema>[number];

export const LoopJobSchema = z.strictObject({
  baseUrl: z.string(),
  stages: z.array(z.array(z.record(z.string(), z.unknown()))),
});
