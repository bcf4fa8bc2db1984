import { byteLength } from "../coordination/byte-length";
import { RESULTS_DIRECTORY } from "../workspace/workspace-facts";

/**
 * A tool result that is too large for the conversation is stored in a file of the agent's
 * workspace. The conversation gets a reference to the file, with a preview. This module makes the
 * decision and the texts; the caller writes the file.
 */

/** Limits in estimated tokens. */
export type ResultLimits = {
  /** Larger results are stored in a file. */
  inlineTokens: number;
  /** Size of the preview in the conversation; at most `inlineTokens`. */
  previewTokens: number;
};

export const RESULT_LIMITS: ResultLimits = { inlineTokens: 20_000, previewTokens: 2_000 };

/** A result of a tool, as it arrived. */
export type FoundResult = {
  /** The tool's name, as the model called it. */
  tool: string;
  /** Id of the call. */
  id: string;
  /** Time of the result in Unix ms; part of the file's name. */
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

/**
 * Where a result is stored. An inline result stays in the conversation. An evicted result is in
 * files; `tokens` and `characters` are its size.
 */
type KeptResult =
  | { kind: "inline"; text: string }
  /** `reference` is the text that the conversation gets instead. */
  | { kind: "evicted"; files: ResultPart[]; reference: string; tokens: number; characters: number };

/** A file with a result or a part of one. `path` is relative to the workspace. */
type ResultPart = { path: string; bytes: Uint8Array };

/**
 * Decides whether a result stays in the conversation or is stored. A result above `fileBytes` is
 * stored in several files. The same result always gets the same paths.
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
  const parts = splitBytes(new TextEncoder().encode(text), fileBytes);
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

/**
 * Splits UTF-8 bytes into parts of at most `maxBytes`, but never within a character. `maxBytes`
 * must be at least 4, the length of the longest character.
 */
function splitBytes(bytes: Uint8Array, maxBytes: number): Uint8Array[] {
  const parts: Uint8Array[] = [];
  for (let from = 0; from < bytes.length; ) {
    let to = Math.min(bytes.length, from + maxBytes);
    while (to < bytes.length && isContinuation(bytes[to])) to -= 1;
    parts.push(bytes.subarray(from, to));
    from = to;
  }
  return parts;
}

/** Whether a byte continues a UTF-8 character. */
const isContinuation = (byte: number | undefined): boolean =>
  byte !== undefined && (byte & 0xc0) === 0x80;

/**
 * The path of a stored result: `.tool_results/{tool}_{time}_{id}.txt`. Tool names and call ids may
 * contain any characters, so other characters than letters, digits, `-` and `_` are replaced.
 */
export function resultPath({ tool, id, at }: Pick<FoundResult, "tool" | "id" | "at">): string {
  const time = new Date(at).toISOString().replaceAll(/[-:]|\.\d+/g, "");
  return `${RESULTS_DIRECTORY}/${toFileName(tool, 60)}_${time}_${idToFileName(id)}.txt`;
}

/**
 * A call id as part of a file name. A changed id gets a hash, because different ids could otherwise
 * become the same name.
 */
function idToFileName(id: string): string {
  const name = toFileName(id, 80);
  return name === id ? name : `${name}-${hashOf(id)}`;
}

/** The FNV-1a hash of a text, as eight hexadecimal digits. */
function hashOf(text: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1)
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, "0");
}

const toFileName = (text: string, maxChars: number): string =>
  text.replaceAll(/[^A-Za-z0-9_-]+/g, "-").slice(0, maxChars) || "unnamed";

type Reference = {
  paths: readonly string[];
  text: string;
  tokens: number;
  preview: string;
  reader: ResultReader | undefined;
};

/**
 * The text for the conversation: the size of the result, its files, a preview, and how to continue.
 */
function referenceTo({ paths, text, tokens, preview, reader = "read_file" }: Reference): string {
  const [path = ""] = paths;
  const where =
    paths.length === 1 ? `the file ${path}` : `these files, one after another: ${paths.join(", ")}`;
  return [
    `The result is too large for this conversation: about ${tokens} tokens, ${text.length} characters, ${byteLength(text)} bytes.`,
    `All of it lies in ${where}.`,
    `Its first ${preview.length} characters are below. ${HOW_TO_CONTINUE[reader](path, preview)}`,
    "",
    preview,
  ].join("\n");
}

const HOW_TO_CONTINUE: Readonly<Record<ResultReader, (path: string, preview: string) => string>> = {
  read_file: (path, { length }) =>
    `Read on with read_file (path: "${path}", start_char: ${length}), or search it with grep.`,
  read_tool_result: (path, { length }) =>
    `Read on with read_tool_result (path: "${path}", start_char: ${length}).`,
  run_command: (path, preview) =>
    `Read on with run_command (\`tail -c +${byteLength(preview) + 1} ${path} | head -c 40000\`), or search it with grep.`,
};

/**
 * The longest prefix of a text with at most `tokens` estimated tokens. It does not split a
 * surrogate pair.
 */
export function previewOf(text: string, tokens: number, calibration = 1): string {
  if (tokens <= 0) return "";
  // A character has at least one byte, so the prefix is within this part. The rest is not measured.
  const candidate = text.slice(0, bytesWithin(tokens, calibration) + 1);
  let fittingLength = 0;
  let tooLong = candidate.length + 1;
  while (tooLong - fittingLength > 1) {
    const middle = Math.floor((fittingLength + tooLong) / 2);
    if (estimateTokens(candidate.slice(0, middle), calibration) <= tokens) fittingLength = middle;
    else tooLong = middle;
  }
  return candidate.slice(0, beforePair(text, fittingLength));
}

/** Returns `position`, or `position` - 1 if a cut there would split a surrogate pair. */
export function beforePair(text: string, position: number): number {
  const splitsPair =
    isHighSurrogate(text.charCodeAt(position - 1)) && isLowSurrogate(text.charCodeAt(position));
  return splitsPair ? position - 1 : position;
}

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;
const isLowSurrogate = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;

/**
 * A result can also have files, such as images. The following functions return the paths of these
 * files and their lines in the conversation. The caller writes the files.
 */

/** A file of a result, without its bytes. `size` is in bytes. */
type NamedFile = { mediaType: string; extension: string; size: number };

/** A stored file with its path, or the reason why it was not stored. */
export type FiledFile = NamedFile & ({ path: string } | { why: string });

/** Why a file is not stored if the agent has no workspace, and how the operator can change that. */
export const NO_WORKSPACE =
  "the agent has no files to keep it in; `cwd` in the agent's backend gives it some";

/** `.tool_results/{tool}_{time}_{id}_{nth}.{extension}`; `nth` counts from 1. */
export const resultFilePath = (
  result: Pick<FoundResult, "tool" | "id" | "at">,
  nth: number,
  extension: string,
): string => resultPath(result).replace(/\.txt$/, `_${nth}.${extension}`);

/**
 * The text for the conversation, with one line for each file at its end. Call this function after
 * the text is cut, so that these lines stay.
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

/** Estimated UTF-8 bytes per token. */
const BYTES_PER_TOKEN = 4;

/**
 * Estimated tokens of a text. `calibration` is the ratio of a provider's own token counts to this
 * estimate; 1 if unknown. A longer text never has fewer tokens: `previewOf` depends on this.
 */
export const estimateTokens = (text: string, calibration = 1): number =>
  Math.ceil((byteLength(text) / BYTES_PER_TOKEN) * calibration);

/** The largest number of UTF-8 bytes with at most `tokens` estimated tokens. */
export const bytesWithin = (tokens: number, calibration = 1): number =>
  Math.floor((tokens * BYTES_PER_TOKEN) / calibration);

/**
 * Characters that a terminal would interpret or that a person cannot see: control characters other
 * than tab and line feed, marks that change the direction of text, invisible spaces, lone
 * surrogates. U+200D and U+FE0F are not included, because emoji use them.
 */
const HIDDEN =
  /[^\P{Cc}\n\t]|\p{Bidi_Control}|\p{Zl}|\p{Zp}|\p{Surrogate}|[\u00ad\u200b\u2060-\u2064\u206a-\u206f\ufeff]/gu;

/** The text with `HIDDEN` characters escaped: U+001B becomes `\x1b`. CRLF becomes LF. */
export function showControls(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(HIDDEN, escapeSequence);
}

function escapeSequence(character: string): string {
  const code = character.charCodeAt(0);
  return code <= 0xff ? `\\x${hex(code, 2)}` : `\\u${hex(code, 4)}`;
}

const hex = (code: number, digits: number): string => code.toString(16).padStart(digits, "0");

/**
 * A reply above this size is large. A session receives one large reply at a time: the next large
 * reply is received only after this one is stored.
 */
export const LARGE_BYTES = 1024 * 1024;
/**
 * Maximum wait until a large result is stored. After this time, the next large reply is received
 * anyway: storing may have to wait for other work on the agent's files.
 */
export const MAX_STORING_MS = 120_000;
