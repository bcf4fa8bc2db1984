import * as z from "zod";

/** Any JSON object. */
export const JsonSchema = z.record(z.string(), z.unknown());

/** Text in most wire formats: a string, or a list of parts, some of which have text. */
export const ContentSchema = z
  .union([
    z.string(),
    z.array(z.looseObject({ type: z.string().optional(), text: z.string().optional() })),
  ])
  .nullish();
export type Content = z.infer<typeof ContentSchema>;

/** All text of a content; "" if it is missing. */
export function textOf(content: Content): string {
  if (!content) return "";
  return typeof content === "string" ? content : content.map((part) => part.text ?? "").join("");
}

/** The only field that is read from the vote tool's JSON Schema. */
export const VoteParametersSchema = z.looseObject({
  properties: z.looseObject({
    agent_id: z.looseObject({ enum: z.array(z.string()).optional() }).optional(),
  }),
});

/** The part of JSON Schema that is needed to generate matching arguments. */
export const ArgumentSchema = z.looseObject({
  type: z.string().optional(),
  enum: z.array(z.string()).optional(),
  get properties() {
    return z.record(z.string(), ArgumentSchema).optional();
  },
  get items() {
    return ArgumentSchema.optional();
  },
});
export type ArgumentSchema = z.infer<typeof ArgumentSchema>;
