import {
  type RequestParts,
  toRequest,
  withResearchRequest,
} from "../../../src/agents/conversation";
import { isResearch } from "../../../src/coordination";
import type { EventOf } from "../../../src/protocol/events";
import type { ModelRequest } from "../../../src/providers/provider";

/**
 * What a call is made of before the rules have granted it. `mayResearch`: whether they may make it
 * a research call.
 */
export type AskedParts = Omit<
  RequestParts,
  "forced" | "maxOutputTokens" | "hostedTools" | "research" | "limit"
> & {
  mayResearch: boolean;
};

/**
 * The request as it would be sent, for measuring: with all that the rules may grant, be it one or
 * the other.
 */
export const askedRequest = ({ mayResearch, ...parts }: AskedParts): ModelRequest =>
  toRequest({
    ...parts,
    records: mayResearch ? withResearchRequest(parts.records) : parts.records,
    forced: false,
    maxOutputTokens: null,
    hostedTools: parts.agent.backend.hostedTools,
  });

/**
 * The request that is sent: what was measured, with the tools and limits the log says. Time may
 * pass a limit between the two, and the log is what the reply is judged by. `capped`: whether the
 * output limit is sent.
 */
export function grantedRequest(
  { mayResearch: _, ...parts }: AskedParts,
  started: EventOf<"call.started">,
  capped: boolean,
): ModelRequest {
  const { offers, forced, max_output_tokens, hosted_tools = [], limit } = started;
  const hostedTools = hosted_tools.map(({ name, max_uses }) => ({ name, maxUses: max_uses }));
  const granted = {
    offers,
    forced,
    maxOutputTokens: capped ? max_output_tokens : null,
    hostedTools,
    limit,
  };
  return toRequest({ ...parts, ...granted, research: isResearch(started) });
}
