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
  /** The tool that pages through a file of the result; absent: `read_file`. */
  reader?: ResultReader;
  /** What a provider's own counts were of the estimate so far; 1 where nothing is known. */
  calibration: number;
};

/** Tools that read kept results: an agent has one of them, or none. */
export const RESULT_READERS = ["read_file", "read_tool_result", "run_command"] as const;
export type ResultReader = (typeof RESULT_READERS)[number];

export type KeptResult =
  | { kind: "inline"; text: string }
  /** `reference` is what the conversation gets. */
  | { kind: "evicted"; files: ResultPart[]; reference: string; tokens: number; characters: number };

/** A file that a result lies in: its path, relative to the workspace, and what belongs there. */
export type ResultPart = { path: string; bytes: Uint8Array };

/**
 * Whether a result goes into the conversation as it is or into a file, or into several where it is larger than a file may be
 * (`fileBytes`). The same result always gets the same paths.
 */
export function keepResult(
  result: FoundResult,
  limits: ResultLimits = RESULT_LIMITS,
  fileBytes = Number.POSITIVE_INFINITY,
): KeptResult {
  const { text, calibration } = result;
  const tokens = estimateTokens(text, calibration);
  if (tokens <= limits.inlineTokens) return { kind: "inline", text };
  const preview = previewOf(text, Math.min(limits.previewTokens, limits.inlineTokens), calibration);
  const path = resultPath(result);
  const parts = inParts(new TextEncoder().encode(text), fileBytes);
  const files = parts.map((bytes, index) => ({
    path: index === 0 ? path : path.replace(/\.txt$/, `_part${index + 1}.txt`),
    bytes,
  }));
  const reference = referenceTo({
    paths: files.map((file) => file.path),
    text,
    tokens,
    preview,
    reader: result.reader,
  });
  return { kind: "evicted", files, reference, tokens, characters: text.length };
}

/** A text in pieces of so many bytes at most, at least four; no character is halved. */
function inParts(bytes: Uint8Array, most: number): Uint8Array[] {
  const parts: Uint8Array[] = [];
  for (let from = 0; from < bytes.length; ) {
    let to = Math.min(bytes.length, from + most);
    while (to < bytes.length && isInside(bytes[to])) to -= 1;
    parts.push(bytes.subarray(from, to));
    from = to;
  }
  return parts;
}

/** Whether a byte of UTF-8 goes on with a character. */
const isInside = (byte: number | undefined): boolean =>
  byte !== undefined && (byte & 0xc0) === 0x80;

/** `.tool_results/{tool}_{time}_{id}.txt`, whatever a server calls its tools and a provider its calls. */
export function resultPath({ tool, id, at }: Pick<FoundResult, "tool" | "id" | "at">): string {
  const time = new Date(at).toISOString().replaceAll(/[-:]|\.\d+/g, "");
  return `${RESULTS_DIRECTORY}/${asName(tool, 60)}_${time}_${idAsName(id)}.txt`;
}

/** One that is no name as it stands is told from others that would look like it by its hash. */
function idAsName(id: string): string {
  const name = asName(id, 80);
  return name === id ? name : `${name}-${hashOf(id)}`;
}

/** FNV-1a, as eight hexadecimal digits. */
function hashOf(text: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1)
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, "0");
}

const asName = (text: string, most: number): string =>
  text.replaceAll(/[^A-Za-z0-9_-]+/g, "-").slice(0, most) || "unnamed";

type Reference = {
  paths: readonly string[];
  text: string;
  tokens: number;
  preview: string;
  reader: ResultReader | undefined;
};

function referenceTo({ paths, text, tokens, preview, reader = "read_file" }: Reference): string {
  const [path = ""] = paths;
  const where =
    paths.length === 1 ? `the file ${path}` : `these files, one after another: ${paths.join(", ")}`;
  return [
    `The result is too large for this conversation: about ${tokens} tokens, ${text.length} characters, ${byteLength(text)} bytes.`,
    `All of it lies in ${where}.`,
    `Its first ${preview.length} characters are below. ${HOW_ON[reader](path, preview)}`,
    "",
    preview,
  ].join("\n");
}

const HOW_ON: Readonly<Record<ResultReader, (path: string, preview: string) => string>> = {
  read_file: (path, { length }) =>
    `Read on with read_file (path: "${path}", start_char: ${length}), or search it with grep.`,
  read_tool_result: (path, { length }) =>
    `Read on with read_tool_result (path: "${path}", start_char: ${length}).`,
  run_command: (path, preview) =>
    `Read on with run_command (\`tail -c +${byteLength(preview) + 1} ${path} | head -c 40000\`), or search it with grep.`,
};
