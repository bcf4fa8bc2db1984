import { z } from "zod";

/** One place in what the client sent, and what is to be said about it. Line and column count from 1, where there is text. */
export const FaultSchema = z
  .object({
    pointer: z.string(),
    line: z.int().nullish(),
    column: z.int().nullish(),
    detail: z.string(),
    code: z.string().optional(),
    /** The feature that a refusal is about. */
    need: z.string().optional(),
  })
  .meta({ id: "Fault" });
export type Fault = z.infer<typeof FaultSchema>;

/** RFC 9457. `code` is what programs may match on; further members are allowed (`turn`: the one that runs). */
export const ProblemSchema = z
  .looseObject({
    type: z.string().default("about:blank"),
    title: z.string(),
    status: z.int(),
    detail: z.string().optional(),
    code: z.string(),
    request_id: z.string().optional(),
    errors: z.array(FaultSchema).optional(),
  })
  .meta({ id: "Problem" });
export type Problem = z.infer<typeof ProblemSchema>;
