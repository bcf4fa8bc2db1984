import * as z from "zod";
import { ContentSchema } from "../../schema";

/**
 * The schemas of this file contain the fields that simulated models read in requests and in
 * aimock's output. Other fields are allowed and stay.
 */

export const InputItemSchema = z.looseObject({
  type: z.string().optional(),
  role: z.string().optional(),
  id: z.string().nullish(),
  content: ContentSchema,
  call_id: z.string().optional(),
  name: z.string().optional(),
  arguments: z.string().optional(),
  output: ContentSchema,
  encrypted_content: z.string().nullish(),
  action: z.unknown().optional(),
  code: z.string().nullish(),
});
export type InputItem = z.infer<typeof InputItemSchema>;

const ToolSchema = z.looseObject({
  type: z.string(),
  name: z.string().optional(),
  parameters: z.unknown().optional(),
});

export const ResponsesRequestSchema = z.looseObject({
  model: z.string(),
  input: z.union([z.string(), z.array(InputItemSchema)]),
  instructions: z.string().nullish(),
  tools: z.array(ToolSchema).optional(),
  tool_choice: z
    .union([z.string(), z.looseObject({ type: z.string(), mode: z.string().optional() })])
    .optional(),
  max_output_tokens: z.number().nullish(),
  stream: z.boolean().nullish(),
  store: z.boolean().nullish(),
  reasoning: z.looseObject({ summary: z.string().nullish() }).nullish(),
});
export type ResponsesRequest = z.infer<typeof ResponsesRequestSchema>;

const OutputItemSchema = z.looseObject({
  type: z.string(),
  id: z.string().optional(),
  content: z.array(z.looseObject({})).optional(),
});

export const EventSchema = z.looseObject({
  type: z.string(),
  output_index: z.number().optional(),
  item_id: z.string().optional(),
  item: OutputItemSchema.optional(),
  part: z.looseObject({}).optional(),
  response: z.looseObject({ output: z.array(OutputItemSchema) }).optional(),
});
export type Event = z.infer<typeof EventSchema>;
