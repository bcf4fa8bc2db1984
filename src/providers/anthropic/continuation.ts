import type { ModelRequest } from "../provider";
import type { Decoder } from "./decode";

/** Most requests after the first that one reply may take: each sends, and pays for, all that came before it. */
export const MOST_CONTINUATIONS = 2;

/**
 * The request that lets a paused reply go on, within what the first one allowed: output and searches that are used up are not
 * granted again. Null if nothing is left; the reply then ends as one that was cut, and the next call goes on from it.
 */
export function continuation(request: ModelRequest, decoder: Decoder): ModelRequest | null {
  if (!decoder.isPaused()) return null;
  const { items, outputTokens, searches } = decoder.soFar();
  const maxOutputTokens = request.maxOutputTokens === null ? null : request.maxOutputTokens - outputTokens;
  const hostedTools = request.hostedTools.map((tool) =>
    tool.name === "web_search" ? { ...tool, maxUses: tool.maxUses - searches } : tool,
  );
  if ((maxOutputTokens ?? 1) < 1 || hostedTools.some(({ maxUses }) => maxUses < 1)) return null;
  return { ...request, maxOutputTokens, hostedTools, messages: [...request.messages, { role: "assistant", items }] };
}
