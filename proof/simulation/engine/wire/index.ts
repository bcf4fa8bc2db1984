import type { Dialect } from "../../../../simulated/providers/dialect";
import { ANTHROPIC } from "../../../../simulated/providers/formats/anthropic";
import { GEMINI } from "../../../../simulated/providers/formats/gemini";
import { OPENAI_CHAT } from "../../../../simulated/providers/formats/openai-chat";
import { OPENAI_RESPONSES } from "../../../../simulated/providers/formats/openai-responses";
import { writeAnthropic } from "./anthropic";
import { writeChat } from "./chat";
import type { Writer } from "./frame";
import { writeGemini } from "./gemini";
import { writeResponses } from "./responses";

/**
 * The wire formats without a network. Requests are parsed and checked by the simulated providers'
 * own code. Replies are written here, because theirs are rendered over a socket and with random
 * ids.
 */
export type WireFormat = Dialect["format"];

export const FORMATS: readonly WireFormat[] = [
  "openai-chat",
  "openai-responses",
  "anthropic",
  "gemini",
];

export const DIALECTS: Readonly<
  Record<WireFormat, { dialect: Dialect; write: Writer; baseUrl: string; host: string }>
> = {
  "openai-chat": {
    dialect: OPENAI_CHAT,
    write: writeChat,
    baseUrl: "https://chat.example/v1",
    host: "custom",
  },
  "openai-responses": {
    dialect: OPENAI_RESPONSES,
    write: writeResponses,
    baseUrl: "https://responses.example/v1",
    host: "openai",
  },
  anthropic: {
    dialect: ANTHROPIC,
    write: writeAnthropic,
    baseUrl: "https://messages.example",
    host: "anthropic",
  },
  gemini: {
    dialect: GEMINI,
    write: writeGemini,
    baseUrl: "https://generate.example",
    host: "google",
  },
};
