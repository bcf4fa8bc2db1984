import { createHash } from "node:crypto";
import type { Usage } from "../protocol/events";
import { measuresLength } from "../protocol/usage";
import type { Message, ModelRequest } from "../providers/provider";

/** A request whose tokens the provider has counted. */
export type CountedRequest = {
  /** Digest of the part before the messages: model, system prompt, tools, parameters. */
  head: string;
  /** Number of the request's messages. */
  messages: number;
  /** Digest of the request's messages. */
  digest: string;
  /** Input tokens that the provider counted. */
  tokens: number;
};

/** The fields by which two requests are compared. */
type RequestDigest = Omit<CountedRequest, "tokens">;

export const digestOf = (request: ModelRequest): RequestDigest => ({
  head: headDigest(request),
  messages: request.messages.length,
  digest: messagesDigest(request.messages),
});

/** The request with the provider's count; `null` if `usage` does not give the request's length. */
export const countedBy = (digest: RequestDigest, usage: Usage | null): CountedRequest | null =>
  measuresLength(usage) ? { ...digest, tokens: usage.input_tokens } : null;

/**
 * Digest of the part before the messages. It excludes the tool choice, because that is decided
 * after the bound, and the allowed number of uses of hosted tools.
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
