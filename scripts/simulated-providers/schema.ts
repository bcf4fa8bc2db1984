import { z } from "zod";

/** The fields of a Chat Completions request that the simulated models look at. Loose: whatever else was sent is kept. */
const Part = z.looseObject({ text: z.string().optional() });
const Content = z.union([z.string(), z.array(Part)]).nullish();
const RequestedCall = z.looseObject({ id: z.string(), function: z.looseObject({ name: z.string(), arguments: z.string() }) });

const MessageSchema = z.looseObject({
  role: z.string(),
  content: Content,
  tool_call_id: z.string().optional(),
  tool_calls: z.array(RequestedCall).optional(),
});
export type ChatMessage = z.infer<typeof MessageSchema>;

const ToolSchema = z.looseObject({
  function: z.looseObject({ name: z.string(), description: z.string().optional(), parameters: z.unknown().optional() }),
});

export const ChatRequestSchema = z.looseObject({
  model: z.string(),
  messages: z.array(MessageSchema),
  tools: z.array(ToolSchema).optional(),
  tool_choice: z.union([z.string(), z.looseObject({})]).optional(),
  stream: z.boolean().nullish(),
  max_tokens: z.number().nullish(),
  max_completion_tokens: z.number().nullish(),
});
export type ChatRequest = z.infer<typeof ChatRequestSchema>;

/** The one thing the vote tool's JSON Schema is read for. */
export const VoteParametersSchema = z.looseObject({
  properties: z.looseObject({ agent_id: z.looseObject({ enum: z.array(z.string()).optional() }).optional() }),
});

/** A frame of a streamed reply, as far as pacing cares: whether it carries a piece of output. */
export const FrameSchema = z.looseObject({
  choices: z.array(
    z.looseObject({
      delta: z.looseObject({
        content: z.string().nullish(),
        reasoning_content: z.string().nullish(),
        tool_calls: z
          .array(z.looseObject({ function: z.looseObject({ arguments: z.string().optional() }).optional() }))
          .optional(),
      }),
    }),
  ),
  usage: z.looseObject({}).nullish(),
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
