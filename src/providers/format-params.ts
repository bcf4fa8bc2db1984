import { PARAMS as ANTHROPIC } from "./anthropic/params";
import { PARAMS as GEMINI } from "./gemini/params";
import { PARAMS as OPENAI_CHAT } from "./openai-chat/params";
import { PARAMS as OPENAI_RESPONSES } from "./openai-responses/params";
import type { FormatParams } from "./param-types";
import type { Format } from "./registry";

/** The parameters of each wire format that a config may set. */
export const FORMAT_PARAMS: Readonly<Record<Format, FormatParams>> = {
  "openai-chat": OPENAI_CHAT,
  "openai-responses": OPENAI_RESPONSES,
  anthropic: ANTHROPIC,
  gemini: GEMINI,
};

/**
 * Names of the formats in messages for users. Shown when a backend uses another format than the
 * default of its type.
 */
export const FORMAT_NAMES: Readonly<Record<Format, string>> = {
  "openai-chat": "Chat Completions",
  "openai-responses": "the Responses API",
  anthropic: "the Messages API",
  gemini: "the Gemini API",
};

/**
 * All parameter names that at least one format knows, also names that it only refuses with a hint.
 */
export const ALL_PARAMS: readonly string[] = [
  ...new Set(
    Object.values(FORMAT_PARAMS).flatMap(({ kinds, outputCaps, foreign }) => [
      ...Object.keys(kinds),
      ...outputCaps,
      ...Object.keys(foreign),
    ]),
  ),
];
