import { byteLength } from "../coordination/byte-length";
import { RESULTS_DIRECTORY } from "../workspace/workspace-facts";

/**
 * Decides what happens to a result that would fill the conversation. It is stored in a file of the
 * agent's workspace, and the conversation gets a reference with a preview. The caller writes the
 * file.
 */

/** In estimated tokens. */
export type ResultLimits = {
  /** Larger results are stored in a file. */
  inlineTokens: number;
  /** Size of the preview in the conversation; at most `inlineTokens`. */
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
  /** The tool that reads pages of the stored result; default `read_file`. */
  reader?: ResultReader;
  /** Ratio of a provider's own token counts to our estimate; 1 if unknown. */
  calibration: number;
};

/** Tools that read stored results. An agent has at most one of them. */
export const RESULT_READERS = ["read_file", "read_tool_result", "run_command"] as const;
export type ResultReader = (typeof RESULT_READERS)[number];

type KeptResult =
  | { kind: "inline"; text: string }
  /** `reference` is the text for the conversation. */
  | { kind: "evicted"; files: ResultPart[]; reference: string; tokens: number; characters: number };

/** A file with a result or a part of one. `path` is relative to the workspace. */
type ResultPart = { path: string; bytes: Uint8Array };

/**
 * Decides whether a result stays in the conversation or is stored, in several files if it exceeds
 * `fileBytes`. The same result always gets the same paths.
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

/** Bytes in parts of at most `most` (at least four) without splitting a character. */
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

/** Whether a byte continues a UTF-8 character. */
const isInside = (byte: number | undefined): boolean =>
  byte !== undefined && (byte & 0xc0) === 0x80;

/** `.tool_results/{tool}_{time}_{id}.txt`. Tool names and call ids may contain any characters. */
export function resultPath({ tool, id, at }: Pick<FoundResult, "tool" | "id" | "at">): string {
  const time = new Date(at).toISOString().replaceAll(/[-:]|\.\d+/g, "");
  return `${RESULTS_DIRECTORY}/${asName(tool, 60)}_${time}_${idAsName(id)}.txt`;
}

/**
 * Adds a hash to an id that had to be changed, because different ids could become the same name.
 */
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

/** The longest prefix of a text estimated at no more than `tokens`. Splits no surrogate pair. */
export function previewOf(text: string, tokens: number, calibration = 1): string {
  if (tokens <= 0) return "";
  // A character takes at least one byte, so the prefix is in this part. Avoids measuring megabytes.
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

/** The position, or the one before it if it would split a surrogate pair. */
export function beforePair(text: string, position: number): number {
  const halves =
    isHighSurrogate(text.charCodeAt(position - 1)) && isLowSurrogate(text.charCodeAt(position));
  return halves ? position - 1 : position;
}

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;
const isLowSurrogate = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;

/**
 * Paths of files that belong to a result, and their lines in the conversation. The caller writes
 * the files.
 */

/** A file of a result, without its bytes. */
type NamedFile = { mediaType: string; extension: string; size: number };

/** A stored file with its path, or the reason why it was not stored. */
export type FiledFile = NamedFile & ({ path: string } | { why: string });

/** The reason for an agent without a workspace, with the remedy. */
export const NO_WORKSPACE =
  "the agent has no files to keep it in; `cwd` in the agent's backend gives it some";

/** `.tool_results/{tool}_{time}_{id}_{nth}.{extension}`; `nth` counts from 1. */
export const resultFilePath = (
  result: Pick<FoundResult, "tool" | "id" | "at">,
  nth: number,
  extension: string,
): string => resultPath(result).replace(/\.txt$/, `_${nth}.${extension}`);

/**
 * The text for the conversation with one line per file at its end. At the end, because long texts
 * are cut before.
 */
export function withFiles(text: string, files: readonly FiledFile[]): string {
  const lines = files.map((file, index) => {
    const facts = `${file.mediaType}, ${file.size} bytes`;
    return "path" in file
      ? `[file ${index + 1}: ${file.path}, ${facts}]`
      : `[file ${index + 1}: ${facts}; not kept: ${file.why}]`;
  });
  return lines.length === 0 ? text : `${text}\n\n${lines.join("\n")}`;
}

/** UTF-8 bytes per token, without better data. */
const BYTES_PER_TOKEN = 4;

/**
 * Estimated tokens of a text. `calibration` is the ratio of a provider's own counts to this
 * estimate so far (1 if equal). Monotonic in the length of the text: the preview search depends on
 * it.
 */
export const estimateTokens = (text: string, calibration = 1): number =>
  Math.ceil((byteLength(text) / BYTES_PER_TOKEN) * calibration);

/** The most UTF-8 bytes that are certainly estimated at no more than `tokens`. */
export const bytesWithin = (tokens: number, calibration = 1): number =>
  Math.floor((tokens * BYTES_PER_TOKEN) / calibration);

/**
 * Characters that a terminal or reader would interpret or hide: control characters other than tab
 * and line feed, marks that change the direction of text, invisible spaces, lone surrogates. U+200D
 * and U+FE0F are allowed because emoji use them.
 */
const HIDDEN =
  /[^\P{Cc}\n\t]|\p{Bidi_Control}|\p{Zl}|\p{Zp}|\p{Surrogate}|[\u00ad\u200b\u2060-\u2064\u206a-\u206f\ufeff]/gu;

/** The text with invisible characters escaped: U+001B becomes `\x1b`. `\r\n` becomes `\n`. */
export function showControls(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(HIDDEN, written);
}

function written(character: string): string {
  const code = character.charCodeAt(0);
  return code <= 0xff ? `\\x${hex(code, 2)}` : `\\u${hex(code, 4)}`;
}

const hex = (code: number, digits: number): string => code.toString(16).padStart(digits, "0");

/**
 * A session receives one reply larger than this at a time: the next one is received after this one
 * has been stored.
 */
export const LARGE_BYTES = 1024 * 1024;
/**
 * Maximum wait until a large result is stored; then the next one is received anyway. Storing may
 * wait for other work on the agent's files.
 */
export const MAX_STORING_MS = 120_000;
