import * as z from "zod";
import { OverridesSchema } from "../turn-team";

const { shape } = OverridesSchema;
/** As many as a team may have (`config/config-limits.ts`). */
const MAX_AGENTS = 64;
const MAX_NAME_CHARS = 200;
/** As in a config (`config/team-settings.ts`). */
const MAX_ANSWERS = 1_000;

/** Changes of a team in a request. Whether they fit the team is checked when the turn starts. */
export const OverridesRequestSchema = z
  .strictObject({
    agents: z
      .array(z.string().min(1).max(MAX_NAME_CHARS))
      .min(1, "names no agent; leave it out to ask all")
      .max(MAX_AGENTS)
      .optional()
      .describe(
        "Ids of the agents that take part. Their labels keep the numbers of the whole team. Omitted: all agents",
      ),
    models: z
      .record(z.string().max(MAX_NAME_CHARS), z.string().min(1).max(MAX_NAME_CHARS))
      .refine((models) => Object.keys(models).length <= MAX_AGENTS, {
        message: `names more than ${MAX_AGENTS} agents`,
      })
      .optional()
      .describe(
        "Another model by agent id. The agent keeps its backend, address and key. Omitted: none",
      ),
    max_new_answers_per_agent: z
      .int()
      .min(1)
      .max(MAX_ANSWERS)
      .optional()
      .describe("Maximum number of answers per agent and attempt. Omitted: that of the team"),
    quick: shape.quick,
    personas: shape.personas,
    skip_coordination: shape.skip_coordination,
  })
  .refine(({ quick, max_new_answers_per_agent: most }) => !quick || most === undefined, {
    path: ["max_new_answers_per_agent"],
    message: "cannot be given together with quick, with which each agent answers once",
  })
  .meta({ id: "Overrides" });
