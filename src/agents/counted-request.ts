import { createHash } from "node:crypto";
import type { Usage } from "../protocol/events";
import { tellsLength } from "../protocol/usage";
import type { Message, ModelRequest } from "../providers/provider";

/** A request that a provider has counted. */
export type CountedRequest = {
  /** Digest of what stands before its messages: model, system prompt, tools, parameters. */
  head: string;
  /** How many messages it had, and their digest. */
  messages: number;
  digest: string;
  /** Input tokens, by its provider. */
  tokens: number;
};

/** What is compared of a request. */
export type RequestDigest = Omit<CountedRequest, "tokens">;

export const digestOf = (request: ModelRequest): RequestDigest => ({
  head: headDigest(request),
  messages: request.messages.length,
  digest: messagesDigest(request.messages),
});

/** What a provider's report says about a request; null if it does not tell its length. */
export const countedBy = (digest: RequestDigest, usage: Usage | null): CountedRequest | null =>
  tellsLength(usage) ? { ...digest, tokens: usage.input_tokens } : null;

/** Whether a call is forced is not compared, since that is decided after the bound; nor how often hosted tools may be used. */
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
