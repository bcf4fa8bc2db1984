import type { Format } from "../../../simulated/providers/dialect";
import { anthropicClient } from "./anthropic-client";
import type { Client, Options } from "./client";
import { geminiClient } from "./gemini-client";
import { responsesClient } from "./responses-client";

/** Creates the client of each format. Chat Completions has its own test without such a client. */
export const CLIENTS: Readonly<
  Record<Exclude<Format, "openai-chat">, (options: Options) => Client>
> = {
  "openai-responses": responsesClient,
  anthropic: anthropicClient,
  gemini: geminiClient,
};
