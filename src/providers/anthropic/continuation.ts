import { byteLength } from "../../coordination/byte-length";
import type { Usage } from "../../protocol/events";
import type { Host } from "../hosts";
import type { Message, ModelRequest } from "../provider";
import type { Decoder } from "./decode";

/**
 * Maximum number of continuation requests per reply. Each request sends all earlier content again,
 * and the provider charges for it again.
 */
export const MOST_CONTINUATIONS = 2;

/**
 * The request that continues a paused reply. Output and searches that are already used are
 * subtracted from the limits of the first request. `null` if the reply is not paused or too little
 * is left. In that case the reply ends as incomplete, and the next call continues with its own
 * limits.
 */
export function continuation(
  request: ModelRequest,
  host: Host,
  decoder: Decoder,
): ModelRequest | null {
  if (!decoder.isPaused()) return null;
  const { items, usage } = decoder.soFar();
  if (request.maxOutputTokens !== null && !fitsReservation(request, host, usage)) return null;
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
 * Whether the reserved tokens suffice to send all content once more. The reservation for input has
 * at least one token per byte of text, plus the host's estimate per use of a hosted tool. Usually
 * most of the reservation is unused, because a token has several bytes.
 */
function fitsReservation(
  { system, messages, hostedTools }: ModelRequest,
  host: Host,
  usage: Usage | null,
): boolean {
  if (!usage) return false;
  const toolTokens = hostedTools.reduce(
    (sum, { name, maxUses }) => sum + maxUses * (host.hostedTools[name]?.tokensPerUse ?? 0),
    0,
  );
  const reserved =
    byteLength(system) +
    messages.reduce((sum, message) => sum + byteLength(textIn(message)), toolTokens);
  return 2 * usage.input_tokens + usage.output_tokens <= reserved;
}

function textIn(message: Message): string {
  if (message.role === "user") return [...(message.history ?? []), message.text].join("");
  if (message.role === "tool") return message.text;
  return message.items
    .map((item) =>
      item.type === "tool_call" ? item.arguments : item.type === "hosted" ? "" : item.text,
    )
    .join("");
}
