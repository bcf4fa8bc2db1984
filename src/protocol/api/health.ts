import * as z from "zod";

export const HealthSchema = z
  .object({
    status: z.literal("ok").describe("Always `ok`"),
    version: z.string().describe("Version of the service's code"),
    deployment: z
      .string()
      .nullable()
      .describe("Id of the deployment on the platform; `null` if the platform gives none"),
  })
  .meta({ id: "Health" });
