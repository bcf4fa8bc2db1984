import * as z from "zod";
import { ContentSchema } from "../../schema";

/**
 * The schemas of this file contain the fields that simulated models read in requests and in
 * aimock's output. Other fields are allowed and stay.
 */

export const BlockSchema = z.looseObject({
  type: z.string(),
  id: z.string().optional(),
  name: z.string().optional(),
  input: z.unknown().optional(),
  text: z.string().optional(),
  thinking: z.string().optional(),
  signature: z.string().optional(),
  data: z.string().optional(),
  tool_use_id: z.string().optional(),
  content: z.unknown().optional(),
});
export type Block = z.infer<typeof BlockSchema>;

const MessageSchema = z.looseObject({
  role: z.string(),
  content: z.union([z.string(), z.array(BlockSchema)]),
});
export type Message = z.infer<typeof MessageSchema>;

const ToolSchema = z.looseObject({
  type: z.string().optional(),
  name: z.string(),
  input_schema: z.unknown().optional(),
});

export const MessagesRequestSchema = z.looseObject({
  model: z.string(),
  max_tokens: z.number(),
  messages: z.array(MessageSchema),
  system: ContentSchema,
  tools: z.array(ToolSchema).optional(),
  tool_choice: z.looseObject({ type: z.string() }).optional(),
  thinking: z.looseObject({ type: z.string(), budget_tokens: z.number().optional() }).optional(),
  stream: z.boolean().optional(),
});
export type MessagesRequest = z.infer<typeof MessagesRequestSchema>;

/** The content of a tool result. */
export { ContentSchema as ResultContentSchema } from "../../schema";

export const EventSchema = z.looseObject({
  type: z.string(),
  index: z.number().optional(),
  message: z.looseObject({}).optional(),
  content_block: BlockSchema.optional(),
  delta: z
    .looseObject({
      type: z.string().optional(),
      text: z.string().optional(),
      thinking: z.string().optional(),
      partial_json: z.string().optional(),
      signature: z.string().optional(),
    })
    .optional(),
});
export type Event = z.infer<typeof EventSchema>;
