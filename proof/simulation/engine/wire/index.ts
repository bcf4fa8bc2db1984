import type { Dialect } from "../../../../simulated/providers/dialect";
import { ANTHROPIC } from "../../../../simulated/providers/formats/anthropic";
import { GEMINI } from "../../../../simulated/providers/formats/gemini";
import { OPENAI_CHAT } from "../../../../simulated/providers/formats/openai-chat";
import { OPENAI_RESPONSES } from "../../../../simulated/providers/formats/openai-responses";
import { encodeAnthropic } from "./anthropic";
import { encodeChat } from "./chat";
import type { Encoder } from "./frame";
import { encodeGemini } from "./gemini";
import { encodeResponses } from "./responses";

/**
 * The wire formats, without a network. The code of the simulated providers (`simulated/providers`)
 * parses and checks requests. It is not used for replies, because it writes them to a socket and
 * with random ids.
 */
export type WireFormat = Dialect["format"];

export const FORMATS: readonly WireFormat[] = [
  "openai-chat",
  "openai-responses",
  "anthropic",
  "gemini",
];

export const DIALECTS: Readonly<
  Record<WireFormat, { dialect: Dialect; encode: Encoder; baseUrl: string; host: string }>
> = {
  "openai-chat": {
    dialect: OPENAI_CHAT,
    encode: encodeChat,
    baseUrl: "https://chat.example/v1",
    host: "custom",
  },
  "openai-responses": {
    dialect: OPENAI_RESPONSES,
    encode: encodeResponses,
    baseUrl: "https://responses.example/v1",
    host: "openai",
  },
  anthropic: {
    dialect: ANTHROPIC,
    encode: encodeAnthropic,
    baseUrl: "https://messages.example",
    host: "anthropic",
  },
  gemini: {
    dialect: GEMINI,
    encode: encodeGemini,
    baseUrl: "https://generate.example",
    host: "google",
  },
};
