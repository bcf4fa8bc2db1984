import * as z from "zod";
import { agent, count, ofAgent, ofRound, reasonFields } from "./fields";

const turns = z
  .array(count)
  .describe(
    "Numbers of the turns that the summary covers, oldest first. They are a turn and all turns that it continues, without failed ones",
  );

/** What a turn shows of the turns that it continues. */
export const HistoryPlanSchema = z.object({
  bytes: count.describe(
    "Maximum size in UTF-8 bytes that earlier turns have in a prompt. Longer texts are cut in their middle, the oldest first",
  ),
  summary: count
    .optional()
    .describe("Number of the turn whose stored summary is used. Omitted if none is"),
  summarises: z
    .object({
      turns,
      agent: agent.describe("Id of the agent that writes the summary"),
    })
    .optional()
    .describe("The summary that is written before the attempt. Omitted if none is needed"),
  windows: z
    .array(
      z.object({
        provider: z.string().describe("Type of the backend"),
        model: z.string().describe("Name of the model"),
        halvings: count.describe("How often the space for earlier turns is halved for this model"),
      }),
    )
    .optional()
    .describe(
      "Models whose windows are smaller than assumed: their providers refused requests of earlier turns as too long. Omitted: none",
    ),
});

/** Events of the conversation before a turn. */
export const HISTORY_EVENTS = [
  z.object({
    type: z.literal("history.summarised"),
    ...ofRound,
    turns,
    after: count
      .optional()
      .describe("Number of the turn whose stored summary this one continues. Omitted if none"),
    text: z.string().describe("The summary"),
  }),
  z.object({
    type: z.literal("history.cut"),
    ...ofAgent,
    ...reasonFields,
  }),
] as const;
