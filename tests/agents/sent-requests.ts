import type { ModelRequest } from "../../src/providers/provider";
import { outline, readBlocks } from "./blocks";
import { answers, nonceOf, says, type Script } from "./team-run";

/** Functions that read the requests of a `TeamRun` with three agents, and its usual script. */

export const IDS = ["canary_alpha", "canary_beta", "canary_gamma"];

export const lastText = (request: ModelRequest): string => {
  const last = request.messages.at(-1);
  return last?.role === "assistant" ? "" : (last?.text ?? "");
};
/** The text of the first message, with its history. */
export const firstText = (request: ModelRequest): string => {
  const first = request.messages[0];
  return first?.role === "user" ? [...(first.history ?? []), first.text].join("") : "";
};
export const offers = (request: ModelRequest): string[] => request.tools.map(({ name }) => name);
/** Whether the request is of an agent without an answer. */
export const isFirst = (request: ModelRequest) =>
  offers(request).includes("new_answer") && !offers(request).includes("vote");
export const isPresentation = (request: ModelRequest) =>
  !offers(request).includes("vote") && !isFirst(request);

/** A script: each agent gives a first answer, then follows `then`, and the winner presents. */
export const afterFirst =
  (then: Script): Script =>
  (agent, request, callNumber) => {
    if (isFirst(request)) return answers(`answer ${agent} of ${callNumber}`);
    if (isPresentation(request)) return says("the final text");
    return then(agent, request, callNumber);
  };

export const outlineOf = (text: string, agent: number) => outline(readBlocks(text, nonceOf(agent)));
