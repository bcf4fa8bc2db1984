import type { Json, ReadRequest } from "../../dialect";
import { contentBlocks, toolsBlock } from "../../prompt-blocks";
import { markCache, type PromptBlock, type PromptCache } from "../../prompt-cache";

/** The prompt cache of the Messages API: explicit marks, at most four in a request. */

export const MOST_MARKS = 4;

const markOf = (block: Json): PromptBlock["mark"] => (block["cache_control"] ? "explicit" : null);

/** The prompt in the order in which it is cached: tools, system, messages. */
export function promptBlocks({ asked, body }: ReadRequest): PromptBlock[] {
  const { tools, system, messages, tool_choice: choice, thinking } = body;
  const isToolMarked = Array.isArray(tools) && tools.some((tool: Json) => tool["cache_control"]);
  const turns = Array.isArray(messages) ? messages : [];
  const [first, ...rest] = turns.flatMap(({ content }: Json) => contentBlocks(content, markOf));
  // With another tool choice or other thinking, only tools and system are read from the cache.
  const key = JSON.stringify([choice, thinking]);
  return [
    toolsBlock(asked, isToolMarked ? "explicit" : null),
    ...contentBlocks(system, markOf),
    ...(first ? [{ ...first, key }, ...rest] : []),
  ];
}

/** The number of marks in a request. */
export const marksIn = (body: Json): number =>
  JSON.stringify(body).split('"cache_control":').length - 1;

const MINUTE_MS = 60_000;
/** Models that cache only longer beginnings. */
const LONG_MINIMUM = /opus-4-[5-7]|haiku-4-5/;

export const newPromptCache = (model: string): PromptCache =>
  markCache({
    minTokens: LONG_MINIMUM.test(model) ? 4_096 : 1_024,
    lookback: 20,
    mostWritten: MOST_MARKS,
    mostRead: MOST_MARKS,
    idleMs: 5 * MINUTE_MS,
  });
