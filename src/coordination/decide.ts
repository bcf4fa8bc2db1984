import type { SessionEvent } from "../protocol/events";
import { advanceCoordination } from "./attempt/attempt";
import { Draft } from "./draft";
import { callFailed, callInterrupted } from "./call/failure";
import type { Input } from "./inputs";
import { advancePresentation } from "./attempt/presentation";
import { afterTools, callReplied } from "./decision/reply";
import type { SessionState } from "./state";
import { holdCall, startCall } from "./call/calls";
import { interruptTool, listTools, settleTool, startTool, tellNews } from "./tool/tools";
import { startTurn } from "./turn/turn-start";
import { cancelTurn } from "./turn/turn-end";

/** More steps than this without an input is a rule that feeds itself. */
const MOST_STEPS = 1_000;

/**
 * The facts that follow from an input, in order; none if it comes too late or changes nothing. Synchronous and pure: time and
 * chance arrive inside the input, deadlines are tested on every one. Throws only on a broken rule.
 */
export function decide(state: SessionState, input: Input): SessionEvent[] {
  const draft = new Draft(state, input);
  advance(draft);
  if (draft.running || input.type === "turn_requested") judge(draft, input);
  advance(draft);
  return draft.events;
}

function judge(draft: Draft, input: Input): void {
  switch (input.type) {
    case "turn_requested":
      return startTurn(draft, input);
    case "cancel_requested":
      return cancelTurn(draft);
    case "call_held":
      return holdCall(draft, input);
    case "call_ready":
      return startCall(draft, input);
    case "call_replied":
      return callReplied(draft, input.effect, input.reply);
    case "call_failed":
      return callFailed(draft, input.effect, input.failure);
    case "tool_ready":
      return startTool(draft, input.effect);
    case "tool_told":
      return tellNews(draft, input);
    case "tool_settled":
      return goOn(draft, settleTool(draft, input));
    case "tools_listed":
      return listTools(draft, input);
    case "effect_interrupted":
      callInterrupted(draft, input.effect);
      return goOn(draft, draft.running ? interruptTool(draft, input.effect) : null);
    case "clock":
      return;
  }
}

/** `index`: the agent whose tools have all settled, if that happened. */
function goOn(draft: Draft, index: number | null): void {
  if (index !== null) afterTools(draft, index);
}

/** Everything that follows by itself, until nothing more does. */
function advance(draft: Draft): void {
  for (let step = 0; step < MOST_STEPS; step += 1) {
    if (!draft.running) return;
    const before = draft.events.length;
    const { settled } = draft.attempt;
    if (settled) advancePresentation(draft, settled);
    else advanceCoordination(draft);
    if (draft.events.length === before) return;
  }
  throw new Error("the rules do not come to rest");
}
