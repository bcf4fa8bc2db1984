import { createHash } from "node:crypto";
import type { Usage } from "../protocol/events";
import { measuresLength } from "../protocol/usage";
import type { Message, ModelRequest } from "../providers/provider";

/** A request whose tokens the provider has counted. */
export type CountedRequest = {
  /** Digest of the part before its messages: model, system prompt, tools, parameters. */
  head: string;
  /** Number of its messages, and their digest. */
  messages: number;
  digest: string;
  /** Input tokens as counted by the provider. */
  tokens: number;
};

/** The compared part of a request. */
type RequestDigest = Omit<CountedRequest, "tokens">;

export const digestOf = (request: ModelRequest): RequestDigest => ({
  head: headDigest(request),
  messages: request.messages.length,
  digest: messagesDigest(request.messages),
});

/** A provider's count for a request; `null` if the report does not give its length. */
export const countedBy = (digest: RequestDigest, usage: Usage | null): CountedRequest | null =>
  measuresLength(usage) ? { ...digest, tokens: usage.input_tokens } : null;

/**
 * Excludes whether a call is forced, which is decided after the bound, and the allowed uses of
 * hosted tools.
 */
export function headDigest({ model, system, tools, hostedTools, params }: ModelRequest): string {
  return sha256([
    JSON.stringify([model, system, tools, hostedTools.map(({ name }) => name), params]),
  ]);
}

export const messagesDigest = (messages: readonly Message[]): string =>
  sha256(messages.map((message) => JSON.stringify(message)));

function sha256(texts: readonly string[]): string {
  const hash = createHash("sha256");
  for (const text of texts) hash.update(`${text}\n`);
  return hash.digest("base64");
}
