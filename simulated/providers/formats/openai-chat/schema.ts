import * as z from "zod";
import { ContentSchema } from "../../schema";

/**
 * The schemas of this file contain the fields that simulated models read in requests and in
 * aimock's output. Other fields are allowed and stay.
 */

const RequestedCall = z.looseObject({
  id: z.string(),
  function: z.looseObject({ name: z.string(), arguments: z.string() }),
});

const MessageSchema = z.looseObject({
  role: z.string(),
  content: ContentSchema,
  tool_call_id: z.string().optional(),
  tool_calls: z.array(RequestedCall).optional(),
});
export type ChatMessage = z.infer<typeof MessageSchema>;

const ToolSchema = z.looseObject({
  function: z.looseObject({
    name: z.string(),
    description: z.string().optional(),
    parameters: z.unknown().optional(),
  }),
});

export const ChatRequestSchema = z.looseObject({
  model: z.string(),
  messages: z.array(MessageSchema),
  tools: z.array(ToolSchema).optional(),
  tool_choice: z.union([z.string(), z.looseObject({})]).optional(),
  max_tokens: z.number().nullish(),
  max_completion_tokens: z.number().nullish(),
});

/** The fields of a streamed chunk that show whether the chunk contains output. */
export const ChunkSchema = z.looseObject({
  choices: z.array(
    z.looseObject({
      delta: z.looseObject({
        content: z.string().nullish(),
        reasoning_content: z.string().nullish(),
        tool_calls: z
          .array(
            z.looseObject({
              function: z.looseObject({ arguments: z.string().optional() }).optional(),
            }),
          )
          .optional(),
      }),
    }),
  ),
  usage: z.looseObject({}).nullish(),
});

export const UsageSchema = z.looseObject({ usage: z.looseObject({}) });
