import type { ModelRequest } from "../../src/providers/provider";
import { outline, readBlocks } from "./blocks";
import { answers, nonceOf, says, type Script } from "./team-run";

/** Readers of the requests that a `TeamRun` of three agents sent, and its usual script. */

export const IDS = ["canary_alpha", "canary_beta", "canary_gamma"];

export const lastText = (request: ModelRequest): string => {
  const last = request.messages.at(-1);
  return last?.role === "assistant" ? "" : (last?.text ?? "");
};
export const firstText = (request: ModelRequest): string => {
  const first = request.messages[0];
  return first?.role === "user" ? first.text : "";
};
export const offers = (request: ModelRequest): string[] => request.tools.map(({ name }) => name);
export const isFirst = (request: ModelRequest) =>
  offers(request).includes("new_answer") && !offers(request).includes("vote");
export const isPresentation = (request: ModelRequest) =>
  !offers(request).includes("vote") && !isFirst(request);

/** An agent that answers, then follows `then`, and presents when it is asked to. */
export const afterFirst =
  (then: Script): Script =>
  (agent, request, nth) => {
    if (isFirst(request)) return answers(`answer ${agent} of ${nth}`);
    if (isPresentation(request)) return says("the final text");
    return then(agent, request, nth);
  };

export const outlineOf = (text: string, agent: number, attempt = 1) =>
  outline(readBlocks(text, nonceOf(agent, attempt)));
