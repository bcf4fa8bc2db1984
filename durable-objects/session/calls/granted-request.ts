import {
  type RequestParts,
  toRequest,
  withResearchRequest,
} from "../../../src/agents/conversation";
import { isResearch } from "../../../src/coordination";
import type { EventOf } from "../../../src/protocol/events";
import type { ModelRequest } from "../../../src/providers/provider";

/**
 * The parts of a request before the rules have granted its call. `mayResearch`: whether the rules
 * may make the call a research call.
 */
export type UngrantedParts = Omit<
  RequestParts,
  "forced" | "maxOutputTokens" | "hostedTools" | "research" | "limit"
> & {
  mayResearch: boolean;
};

/**
 * The largest request that the rules may grant, for estimates of its tokens. It has all hosted
 * tools, and the research request if the call may become a research call.
 */
export const largestRequest = ({ mayResearch, ...parts }: UngrantedParts): ModelRequest =>
  toRequest({
    ...parts,
    records: mayResearch ? withResearchRequest(parts.records) : parts.records,
    forced: false,
    maxOutputTokens: null,
    hostedTools: parts.agent.backend.hostedTools,
  });

/**
 * The request that is sent: the same parts, with the tools and limits of the logged `call.started`.
 * Limits may change between the estimate and the start, and the reply is judged by the logged ones.
 * `capped`: whether the output limit is sent.
 */
export function grantedRequest(
  { mayResearch: _, ...parts }: UngrantedParts,
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
