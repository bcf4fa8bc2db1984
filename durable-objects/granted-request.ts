import { type RequestParts, toRequest } from "../src/agents/conversation";
import type { EventOf } from "../src/protocol/events";
import type { ModelRequest } from "../src/providers/provider";

/** What a call is made of before the rules have granted it. */
export type AskedParts = Omit<RequestParts, "forced" | "maxOutputTokens" | "hostedTools">;

/** The request as it would be sent, for measuring. */
export const askedRequest = (parts: AskedParts): ModelRequest =>
  toRequest({ ...parts, forced: false, maxOutputTokens: null, hostedTools: parts.agent.backend.hostedTools });

/**
 * The request that is sent: what was measured, with the tools and limits the log says. Time may pass a limit between the two,
 * and the log is what the reply is judged by. `capped`: whether the output limit is sent.
 */
export function grantedRequest(parts: AskedParts, started: EventOf<"call.started">, capped: boolean): ModelRequest {
  const { offers, forced, max_output_tokens, hosted_tools = [] } = started;
  const hostedTools = hosted_tools.map(({ name, max_uses }) => ({ name, maxUses: max_uses }));
  return toRequest({ ...parts, offers, forced, maxOutputTokens: capped ? max_output_tokens : null, hostedTools });
}
