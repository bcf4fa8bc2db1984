import type { Usage } from "../../protocol/events";
import type { Host } from "../hosts";
import type { Message, ModelRequest } from "../provider";
import type { Decoder } from "./decode";

/** Most requests after the first that one reply may take: each sends, and pays for, all that came before it. */
export const MOST_CONTINUATIONS = 2;

/**
 * The request that lets a paused reply go on, within what the first one allowed: output and searches that are used up are not
 * granted again. Null if too little is left; the reply then ends as one that was cut, and the next call goes on from it with
 * means of its own.
 */
export function continuation(
  request: ModelRequest,
  host: Host,
  decoder: Decoder,
): ModelRequest | null {
  if (!decoder.isPaused()) return null;
  const { items, usage } = decoder.soFar();
  if (request.maxOutputTokens !== null && !canPay(request, host, usage)) return null;
  const maxOutputTokens =
    request.maxOutputTokens === null ? null : request.maxOutputTokens - (usage?.output_tokens ?? 0);
  const searches = usage?.hosted_uses?.web_search ?? 0;
  const hostedTools = request.hostedTools.map((tool) =>
    tool.name === "web_search" ? { ...tool, maxUses: tool.maxUses - searches } : tool,
  );
  if ((maxOutputTokens ?? 1) < 1 || hostedTools.some(({ maxUses }) => maxUses < 1)) return null;
  return {
    ...request,
    maxOutputTokens,
    hostedTools,
    messages: [...request.messages, { role: "assistant", items }],
  };
}

/**
 * Whether all that is written and read so far may be read once more. What was reserved for the call's input is at least the bytes
 * of its texts, and for each use of a hosted tool what the host's row says; most of it is left, since a token takes several bytes.
 */
function canPay(
  { system, messages, hostedTools }: ModelRequest,
  host: Host,
  usage: Usage | null,
): boolean {
  if (!usage) return false;
  const forTools = hostedTools.reduce(
    (sum, { name, maxUses }) => sum + maxUses * (host.hostedTools[name]?.tokensPerUse ?? 0),
    0,
  );
  const reserved =
    byteLength(system) +
    messages.reduce((sum, message) => sum + byteLength(textIn(message)), forTools);
  return 2 * usage.input_tokens + usage.output_tokens <= reserved;
}

function textIn(message: Message): string {
  if (message.role !== "assistant") return message.text;
  return message.items
    .map((item) =>
      item.type === "tool_call" ? item.arguments : item.type === "hosted" ? "" : item.text,
    )
    .join("");
}

const byteLength = (text: string): number => new TextEncoder().encode(text).length;
