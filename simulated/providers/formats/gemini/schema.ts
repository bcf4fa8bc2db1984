import * as z from "zod";
import { JsonSchema } from "../../schema";

/**
 * The schemas of this file contain the fields that simulated models read in requests and in
 * aimock's output. Other fields are allowed and stay.
 */

export const PartSchema = z.looseObject({
  text: z.string().optional(),
  thought: z.boolean().optional(),
  thoughtSignature: z.string().optional(),
  /** `args` may be any value, because a model may generate invalid arguments. */
  functionCall: z
    .looseObject({ id: z.string().optional(), name: z.string(), args: z.unknown() })
    .optional(),
  functionResponse: z
    .looseObject({ id: z.string().optional(), name: z.string(), response: JsonSchema.optional() })
    .optional(),
  toolCall: z.looseObject({ id: z.string().optional(), args: JsonSchema.optional() }).optional(),
  toolResponse: z
    .looseObject({ id: z.string().optional(), response: JsonSchema.optional() })
    .optional(),
  executableCode: z.looseObject({ id: z.string().optional(), code: z.string() }).optional(),
  codeExecutionResult: z
    .looseObject({ id: z.string().optional(), output: z.string().optional() })
    .optional(),
});
export type Part = z.infer<typeof PartSchema>;

const ContentSchema = z.looseObject({
  role: z.string().optional(),
  parts: z.array(PartSchema).optional(),
});
export type Turn = z.infer<typeof ContentSchema>;

const DeclarationSchema = z.looseObject({
  name: z.string(),
  parameters: z.unknown().optional(),
  parametersJsonSchema: z.unknown().optional(),
});
const ToolSchema = z.looseObject({
  functionDeclarations: z.array(DeclarationSchema).optional(),
  googleSearch: z.looseObject({}).optional(),
  codeExecution: z.looseObject({}).optional(),
});
export type Tool = z.infer<typeof ToolSchema>;

export const GenerateRequestSchema = z.looseObject({
  contents: z.array(ContentSchema),
  systemInstruction: ContentSchema.optional(),
  tools: z.array(ToolSchema).optional(),
  toolConfig: z
    .looseObject({
      functionCallingConfig: z.looseObject({ mode: z.string().optional() }).optional(),
      includeServerSideToolInvocations: z.boolean().optional(),
    })
    .optional(),
  generationConfig: z
    .looseObject({
      maxOutputTokens: z.number().optional(),
      thinkingConfig: z.looseObject({ includeThoughts: z.boolean().optional() }).optional(),
    })
    .optional(),
});
export type GenerateRequest = z.infer<typeof GenerateRequestSchema>;

export const ChunkSchema = z.looseObject({
  candidates: z.array(
    z.looseObject({ content: ContentSchema, finishReason: z.string().optional() }),
  ),
});
