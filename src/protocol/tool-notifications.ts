import { z } from "zod";

/** What a tool server tells people while a call of one of its tools runs. All of it is text of strangers, made safe to be shown. */

/** Where something came from: scheme, host and port of the tool server. */
const origin = z.string();

/** One thing that a tool server wants of a person. */
const RequestToPersonSchema = z.object({
  /** To fill in a form, to open an address, or whatever else `message` names. */
  kind: z.enum(["form", "url", "other"]),
  /** The server's words. */
  message: z.string(),
  /** Where a person is to go, always https; null: nowhere, or the address is not shown. */
  url: z.string().nullable(),
  /** Why an address is not shown, as a clause; null: there is none, or it is shown. */
  refused: z.string().nullable(),
});
export type RequestToPerson = z.infer<typeof RequestToPersonSchema>;

export const InputRequiredSchema = z.object({
  origin,
  requests: z.array(RequestToPersonSchema),
  /** Requests beyond those listed. */
  more: z.number().int().optional(),
});
export type InputRequired = z.infer<typeof InputRequiredSchema>;

export const ToolProgressSchema = z.object({
  origin,
  progress: z.number(),
  /** What `progress` ends at; null: nobody knows. */
  total: z.number().nullable(),
  message: z.string().nullable(),
});
export type ToolProgress = z.infer<typeof ToolProgressSchema>;

/** `input_asked`: it wanted something of a person, which nobody answered. */
export type ToolNotification =
  | ({ type: "progress" } & ToolProgress)
  | ({ type: "elicitation" } & InputRequired);
