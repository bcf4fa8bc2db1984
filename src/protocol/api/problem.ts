import * as z from "zod";

/** A finding (an error or a warning) about one place in the request. */
export const FaultSchema = z
  .object({
    pointer: z.string().describe("JSON pointer to the place in the request; empty for the whole"),
    line: z
      .int()
      .nullish()
      .describe("Line in the YAML text, from 1. `null` or omitted if the config is not text"),
    column: z
      .int()
      .nullish()
      .describe("Column in the YAML text, from 1. `null` or omitted if the config is not text"),
    detail: z.string().describe("What is wrong, and a remedy, for people"),
    code: z.string().optional().describe("Stable code of the finding. Omitted if it has none"),
    need: z
      .string()
      .optional()
      .describe("Feature that is not supported. Omitted if the finding is not about a feature"),
  })
  .meta({ id: "Fault" });
export type Fault = z.infer<typeof FaultSchema>;

/** Warnings about the team of an accepted request. */
export const warningsField = z
  .array(FaultSchema)
  .optional()
  .describe(
    "Settings of the config or of `overrides` that have no effect, or another effect than expected. Omitted if none",
  );

/** An error response as RFC 9457 defines it. Some codes add members, such as `turn`. */
export const ProblemSchema = z
  .looseObject({
    type: z.string().default("about:blank").describe("Always `about:blank`: `code` has the type"),
    title: z.string().describe("Short title of the error, for people"),
    status: z.int().describe("HTTP status"),
    detail: z
      .string()
      .optional()
      .describe("What happened and what to do, for people. Omitted if there is nothing to add"),
    code: z.string().describe("Stable code of the error, for programs"),
    request_id: z
      .string()
      .optional()
      .describe("Id of the request, for reports. Omitted if it has none"),
    errors: z
      .array(FaultSchema)
      .optional()
      .describe("The findings, one per place in the request. Omitted if the code has none"),
  })
  .meta({ id: "Problem" });
export type Problem = z.infer<typeof ProblemSchema>;
