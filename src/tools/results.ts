import { byteLength } from "../coordination/byte-length";
import { RESULTS_DIRECTORY } from "../workspace/workspace-facts";

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

/** The longest beginning of a text that is estimated at no more than so many tokens. No character is halved. */
export function previewOf(text: string, tokens: number, calibration = 1): string {
  if (tokens <= 0) return "";
  // A character takes a byte or more, so nothing beyond this can be part of it, and a text of megabytes is not measured in full.
  const candidate = text.slice(0, bytesWithin(tokens, calibration) + 1);
  let fits = 0;
  let tooLong = candidate.length + 1;
  while (tooLong - fits > 1) {
    const middle = Math.floor((fits + tooLong) / 2);
    if (estimateTokens(candidate.slice(0, middle), calibration) <= tokens) fits = middle;
    else tooLong = middle;
  }
  return candidate.slice(0, beforePair(text, fits));
}

/** The same position, or the one before it where it would halve a surrogate pair. */
export function beforePair(text: string, position: number): number {
  const halves =
    isHighSurrogate(text.charCodeAt(position - 1)) && isLowSurrogate(text.charCodeAt(position));
  return halves ? position - 1 : position;
}

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;
const isLowSurrogate = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;

/** Files that come with a result: where they lie, and how the conversation is told. Only decides; whoever runs tools writes them. */

/** A file of a result, without its bytes. */
export type NamedFile = { mediaType: string; extension: string; size: number };

/** What became of it: where it lies, or why it does not. */
export type FiledFile = NamedFile & ({ path: string } | { why: string });

/** Why none is kept for an agent without a workspace, and what to do about it. */
export const NO_WORKSPACE =
  "the agent has no files to keep it in; `cwd` in the agent's backend gives it some";

/** `.tool_results/{tool}_{time}_{id}_{nth}.{extension}`; `nth` from 1. */
export const resultFilePath = (
  result: Pick<FoundResult, "tool" | "id" | "at">,
  nth: number,
  extension: string,
): string => resultPath(result).replace(/\.txt$/, `_${nth}.${extension}`);

/** What the conversation gets with files named below it, a line each, in their order. Below, since what is long is cut. */
export function withFiles(told: string, files: readonly FiledFile[]): string {
  const lines = files.map((file, index) => {
    const facts = `${file.mediaType}, ${file.size} bytes`;
    return "path" in file
      ? `[file ${index + 1}: ${file.path}, ${facts}]`
      : `[file ${index + 1}: ${facts}; not kept: ${file.why}]`;
  });
  return lines.length === 0 ? told : `${told}\n\n${lines.join("\n")}`;
}

/** UTF-8 bytes that make a token where nothing better is known. */
const BYTES_PER_TOKEN = 4;

/**
 * About how many tokens a text is. `calibration` is what a provider's own counts were of this estimate so far (1: exactly as
 * estimated). Longer texts never count for less: a preview is found by that.
 */
export const estimateTokens = (text: string, calibration = 1): number =>
  Math.ceil((byteLength(text) / BYTES_PER_TOKEN) * calibration);

/** The most UTF-8 bytes that are surely estimated at no more than so many tokens. */
export const bytesWithin = (tokens: number, calibration = 1): number =>
  Math.floor((tokens * BYTES_PER_TOKEN) / calibration);

/**
 * What a terminal or a reader would act on instead of showing it: control characters other than tab and line feed, marks that turn
 * the direction of text, invisible spaces, halves of characters. U+200D and U+FE0F stay: emoji are made with them.
 */
const HIDDEN =
  /[^\P{Cc}\n\t]|\p{Bidi_Control}|\p{Zl}|\p{Zp}|\p{Surrogate}|[\u00ad\u200b\u2060-\u2064\u206a-\u206f\ufeff]/gu;

/** The text with everything that would not be seen written out: U+001B becomes `\x1b`. `\r\n` becomes `\n`. */
export function showControls(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(HIDDEN, written);
}

function written(character: string): string {
  const code = character.charCodeAt(0);
  return code <= 0xff ? `\\x${hex(code, 2)}` : `\\u${hex(code, 4)}`;
}

const hex = (code: number, digits: number): string => code.toString(16).padStart(digits, "0");

/** Replies of more bytes are received one at a time for all servers of a session; the next one when this one is stored. */
export const LARGE_BYTES = 1024 * 1024;
/** The most time for a large result to be stored before the next is admitted: it may wait for other work on the agent's files. */
export const FILING_MS = 120_000;
