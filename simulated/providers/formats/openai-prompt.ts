import type { Json, ReadRequest } from "../dialect";
import { contentBlocks, toolsBlock } from "../prompt-blocks";
import { markCache, prefixCache, type PromptBlock, type PromptCache } from "../prompt-cache";

/**
 * The prompt cache of OpenAI, for both of its formats. Earlier models read the longest known
 * beginning. Since GPT-5.6, beginnings end at breakpoints: one after the newest message of the
 * client, and those that the request sets.
 */

const WITH_BREAKPOINTS = /^gpt-(5\.([6-9]|[1-9]\d)|[6-9]|1\d)(?!\d)/;

export const takesBreakpoints = (model: string): boolean => WITH_BREAKPOINTS.test(model);

const markOf = (part: Json): PromptBlock["mark"] =>
  part["prompt_cache_breakpoint"] ? "explicit" : null;

/** Whether a request sets breakpoints. */
export const setsBreakpoints = (body: Json): boolean =>
  JSON.stringify(body).includes('"prompt_cache_breakpoint":');

/** A message in either format; in Responses also a call or a result of a tool. */
const CONTENT_FIELDS = [
  "content",
  "tool_calls",
  "arguments",
  "output",
  "encrypted_content",
] as const;

/**
 * The blocks of a prompt. `before`: the texts before the messages, such as instructions. Each
 * message begins with a character that no text contains.
 */
export function promptBlocks(
  { asked }: ReadRequest,
  before: readonly string[],
  messages: readonly Json[],
): PromptBlock[] {
  const blocks = messages.flatMap((message) => {
    const [first, ...rest] = CONTENT_FIELDS.flatMap((field) =>
      contentBlocks(message[field], markOf),
    );
    return first ? [{ ...first, text: `\u0002${first.text}` }, ...rest] : [];
  });
  const newest = blocks.length - 1;
  return [
    toolsBlock(asked),
    ...before.map((text): PromptBlock => ({ text, mark: null })),
    ...blocks.map((block, index) =>
      index === newest && block.mark === null ? { ...block, mark: "implicit" as const } : block,
    ),
  ];
}

const MINUTE_MS = 60_000;
const MIN_TOKENS = 1_024;

export const newPromptCache = (model: string): PromptCache =>
  takesBreakpoints(model)
    ? markCache({
        minTokens: MIN_TOKENS,
        lookback: 1,
        mostWritten: 3,
        mostRead: 80,
        idleMs: 30 * MINUTE_MS,
      })
    : prefixCache({ minTokens: MIN_TOKENS, stepTokens: 128, idleMs: 5 * MINUTE_MS });
