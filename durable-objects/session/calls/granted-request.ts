import {
  type RequestParts,
  toRequest,
  withResearchRequest,
} from "../../../src/agents/conversation";
import { isResearch } from "../../../src/coordination";
import type { EventOf } from "../../../src/protocol/events";
import type { ModelRequest } from "../../../src/providers/provider";

/**
 * The parts of a call before the rules have granted it. `mayResearch`: whether the rules may make
 * it a research call.
 */
export type AskedParts = Omit<
  RequestParts,
  "forced" | "maxOutputTokens" | "hostedTools" | "research" | "limit"
> & {
  mayResearch: boolean;
};

/**
 * The largest request that the rules may grant, for estimates of its tokens: it has all hosted
 * tools, and the research request if there may be one.
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
 * The request that is sent: the same parts, with the tools and limits of the logged `call.started`.
 * A limit may change between the estimate and the start, and the reply is judged by the log.
 * `capped`: whether the output limit is sent.
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
