import { z } from "zod";

/** Any JSON object. */
export const JsonSchema = z.record(z.string(), z.unknown());

/** Text as most formats hold it: one string, or parts of which some have text. */
export const ContentSchema = z
  .union([
    z.string(),
    z.array(z.looseObject({ type: z.string().optional(), text: z.string().optional() })),
  ])
  .nullish();
export type Content = z.infer<typeof ContentSchema>;

/** The text of a content. */
export function textOf(content: Content): string {
  if (!content) return "";
  return typeof content === "string" ? content : content.map((part) => part.text ?? "").join("");
}

/** The one thing the vote tool's JSON Schema is read for. */
export const VoteParametersSchema = z.looseObject({
  properties: z.looseObject({
    agent_id: z.looseObject({ enum: z.array(z.string()).optional() }).optional(),
  }),
});

/** As much of JSON Schema as it takes to make up arguments that fit. */
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
