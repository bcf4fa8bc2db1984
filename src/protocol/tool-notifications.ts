import { z } from "zod";

/**
 * What a tool server sends to people while one of its tools runs. The texts are untrusted and
 * already sanitized for display.
 */

/** Origin of the tool server: scheme, host and port. */
const origin = z.string();

/** One request of a tool server to a person. */
const RequestToPersonSchema = z.object({
  /** To fill in a form, to open an address, or something else that `message` names. */
  kind: z.enum(["form", "url", "other"]),
  /** The server's text. */
  message: z.string(),
  /** https address for the person to open; `null` if there is none or it is not shown. */
  url: z.string().nullable(),
  /** Why the address is not shown, as a clause; `null` if there is none or it is shown. */
  refused: z.string().nullable(),
});
export type RequestToPerson = z.infer<typeof RequestToPersonSchema>;

export const InputRequiredSchema = z.object({
  origin,
  requests: z.array(RequestToPersonSchema),
  /** Number of further requests that are not listed. */
  more: z.number().int().optional(),
});
export type InputRequired = z.infer<typeof InputRequiredSchema>;

export const ToolProgressSchema = z.object({
  origin,
  progress: z.number(),
  /** Final value of `progress`; `null` if unknown. */
  total: z.number().nullable(),
  message: z.string().nullable(),
});
export type ToolProgress = z.infer<typeof ToolProgressSchema>;

/** `elicitation`: the server requested input from a person; the service does not answer it. */
export type ToolNotification =
  | ({ type: "progress" } & ToolProgress)
  | ({ type: "elicitation" } & InputRequired);
