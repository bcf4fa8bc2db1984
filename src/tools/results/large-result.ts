import { byteLength } from "../../coordination/byte-length";
import { RESULTS_DIRECTORY } from "../../workspace/handed-over";
import { estimateTokens } from "./estimate-tokens";
import { previewOf } from "./preview";

/**
 * What becomes of a result that would fill a conversation: it lies in a file of the agent's workspace, and the conversation gets a
 * reference with its beginning. Only decides; whoever runs tools writes the file.
 */

/** In tokens, as estimated. */
export type ResultLimits = {
  /** Larger results are put into a file. */
  inlineTokens: number;
  /** How much of them the conversation still gets; never more than `inlineTokens`. */
  previewTokens: number;
};

export const RESULT_LIMITS: ResultLimits = { inlineTokens: 20_000, previewTokens: 2_000 };

export type FoundResult = {
  /** The tool's name, as the model called it. */
  tool: string;
  /** Id of the call. */
  id: string;
  /** Unix ms. */
  at: number;
  text: string;
  /** What a provider's own counts were of the estimate so far; 1 where nothing is known. */
  calibration: number;
};

export type KeptResult =
  | { kind: "inline"; text: string }
  /** `path` is relative to the workspace, `contents` what belongs there, `reference` what the conversation gets. */
  | { kind: "evicted"; path: string; contents: string; reference: string; tokens: number; characters: number };

/** Whether a result goes into the conversation as it is or into a file. The same result always gets the same path. */
export function keepResult(result: FoundResult, limits: ResultLimits = RESULT_LIMITS): KeptResult {
  const { text, calibration } = result;
  const tokens = estimateTokens(text, calibration);
  if (tokens <= limits.inlineTokens) return { kind: "inline", text };
  const preview = previewOf(text, Math.min(limits.previewTokens, limits.inlineTokens), calibration);
  const path = resultPath(result);
  const reference = referenceTo({ path, text, tokens, preview });
  return { kind: "evicted", path, contents: text, reference, tokens, characters: text.length };
}

/** `.tool_results/{tool}_{time}_{id}.txt`, whatever a server calls its tools. */
export function resultPath({ tool, id, at }: Pick<FoundResult, "tool" | "id" | "at">): string {
  const time = new Date(at).toISOString().replaceAll(/[-:]|\.\d+/g, "");
  return `${RESULTS_DIRECTORY}/${asName(tool, 60)}_${time}_${asName(id, 80)}.txt`;
}

const asName = (text: string, most: number): string => text.replaceAll(/[^A-Za-z0-9_-]+/g, "-").slice(0, most) || "unnamed";

type Reference = { path: string; text: string; tokens: number; preview: string };

function referenceTo({ path, text, tokens, preview }: Reference): string {
  return [
    `The result is too large for this conversation: about ${tokens} tokens, ${text.length} characters, ${byteLength(text)} bytes.`,
    `All of it lies in the file ${path}.`,
    `Its first ${preview.length} characters are below. Read on with read_file (path: "${path}", start_char: ${preview.length}), or search it with grep.`,
    "",
    preview,
  ].join("\n");
}
