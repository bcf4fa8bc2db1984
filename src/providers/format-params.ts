import { PARAMS as ANTHROPIC } from "./anthropic/params";
import { PARAMS as GEMINI } from "./gemini/params";
import { PARAMS as OPENAI_CHAT } from "./openai-chat/params";
import { PARAMS as OPENAI_RESPONSES } from "./openai-responses/params";
import type { FormatParams } from "./params";
import type { Format } from "./registry";

/** What each wire format says of the parameters a config may set for it. */
export const FORMAT_PARAMS: Readonly<Record<Format, FormatParams>> = {
  "openai-chat": OPENAI_CHAT,
  "openai-responses": OPENAI_RESPONSES,
  anthropic: ANTHROPIC,
  gemini: GEMINI,
};

/** What each is called for people, where a backend type speaks another than its own. */
export const FORMAT_NAMES: Readonly<Record<Format, string>> = {
  "openai-chat": "Chat Completions",
  "openai-responses": "the Responses API",
  anthropic: "the Messages API",
  gemini: "the Gemini API",
};

/** Every parameter that some format knows, by its name in a config. */
export const ALL_PARAMS: readonly string[] = [
  ...new Set(
    Object.values(FORMAT_PARAMS).flatMap(({ kinds, outputCaps, foreign }) => [
      ...Object.keys(kinds),
      ...outputCaps,
      ...Object.keys(foreign),
    ]),
  ),
];
