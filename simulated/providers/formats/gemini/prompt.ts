import type { ReadRequest } from "../../dialect";
import { contentBlocks, toolsBlock } from "../../prompt-blocks";
import { prefixCache, type PromptBlock, type PromptCache } from "../../prompt-cache";
import { GenerateRequestSchema } from "./schema";

/** The implicit prompt cache of the Gemini API: it reads the longest known beginning. */

export function promptBlocks({ asked, body }: ReadRequest): PromptBlock[] {
  const { systemInstruction, contents } = GenerateRequestSchema.parse(body);
  const noMark = () => null;
  return [
    toolsBlock(asked),
    ...contentBlocks(systemInstruction?.parts, noMark),
    ...contents.flatMap(({ parts }) => [
      { text: "\u0002", mark: null },
      ...contentBlocks(parts, noMark),
    ]),
  ];
}

const MINUTE_MS = 60_000;
/** Only the earlier models have the lower minimum. */
const LOW_MINIMUM = /^gemini-2\.5/;

/** The provider documents no step; this one is small compared with a turn of a conversation. */
const STEP_TOKENS = 64;

export const newPromptCache = (model: string): PromptCache =>
  prefixCache({
    minTokens: LOW_MINIMUM.test(model) ? 2_048 : 4_096,
    stepTokens: STEP_TOKENS,
    idleMs: 5 * MINUTE_MS,
  });
