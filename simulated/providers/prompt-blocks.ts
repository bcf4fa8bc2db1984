import { sha256 } from "../../local/sha256";
import type { ModelInput } from "./model-input";
import type { Json } from "./dialect";
import type { PromptBlock } from "./prompt-cache";

/** Reads the prompt of a request as blocks, for the caches of simulated providers. */

/** The tools, which begin the prompt in every format. Hosted tools are part of them. */
export const toolsBlock = (
  { tools, hostedTools }: ModelInput,
  mark: PromptBlock["mark"] = null,
): PromptBlock => ({
  text: `${JSON.stringify(tools)}${hostedTools.join()}`,
  mark,
});

/**
 * The blocks of a message's content: a text, or a list of parts. `markOf` returns the mark of a
 * part. An image or a file is represented by its hash.
 */
export function contentBlocks(
  content: unknown,
  markOf: (part: Json) => PromptBlock["mark"],
): PromptBlock[] {
  if (typeof content === "string") return [{ text: content, mark: null }];
  if (!Array.isArray(content)) return [];
  return content.map((part: Json) => ({ text: textOfPart(part), mark: markOf(part) }));
}

function textOfPart(part: Json): string {
  if (typeof part["text"] === "string") return part["text"];
  const json = JSON.stringify(withoutMarks(part));
  return MEDIA.test(json) ? sha256(json).slice(0, 16) : json;
}

/** Fields of images and files. */
const MEDIA = /"(source|image_url|file|input_audio|file_data|inlineData)":/;

const MARK_FIELDS: ReadonlySet<string> = new Set(["cache_control", "prompt_cache_breakpoint"]);

const withoutMarks = (part: Json): Json =>
  Object.fromEntries(Object.entries(part).filter(([name]) => !MARK_FIELDS.has(name)));
