import { advanceCoordination } from "./attempt/attempt";
import { Draft, type Step } from "./draft";
import { callFailed, callInterrupted } from "./call/failure";
import type { Input } from "./inputs";
import { advancePresentation } from "./attempt/presentation";
import { afterTools, callReplied } from "./decision/reply";
import type { SessionState } from "./state";
import { recordCallWait, startCall } from "./call/calls";
import {
  interruptTool,
  recordListings,
  settleTool,
  startTool,
  recordNotification,
} from "./tool/tools";
import { moveHead } from "./turn/head";
import { startTurn, cancelTurn } from "./turn/turn";
import type { World } from "./world";

/** After this many passes of `advance`, the rules are assumed to trigger themselves without end. */
const MAX_PASSES = 1_000;

/**
 * The events that follow from an input, in order, each with the states before and after it. Empty
 * if the input arrives too late or changes nothing.
 *
 * Synchronous and pure: time and seed are part of the input, and `world` reads facts that are not
 * part of the state. Deadlines are tested on every input. Throws only if a rule is broken.
 */
export function decide(state: SessionState, input: Input, world: World): Step[] {
  const draft = new Draft(state, input, world);
  advance(draft);
  if (draft.running || BETWEEN_TURNS.has(input.type)) applyInput(draft, input);
  advance(draft);
  return draft.steps;
}

/** Inputs that have an effect while no turn runs. */
const BETWEEN_TURNS: ReadonlySet<Input["type"]> = new Set(["turn_requested", "head_requested"]);

function applyInput(draft: Draft, input: Input): void {
  switch (input.type) {
    case "turn_requested":
      return startTurn(draft, input);
    case "head_requested":
      return moveHead(draft, input.turn);
    case "cancel_requested":
      return cancelTurn(draft);
    case "call_held":
      return recordCallWait(draft, input);
    case "call_ready":
      return startCall(draft, input);
    case "call_replied":
      return callReplied(draft, input.effect, input.reply);
    case "call_failed":
      return callFailed(draft, input.effect, input.failure);
    case "tool_ready":
      return startTool(draft, input.effect);
    case "tool_notified":
      return recordNotification(draft, input);
    case "tool_settled":
      return resumeAfterTools(draft, settleTool(draft, input));
    case "tools_listed":
      return recordListings(draft, input);
    case "effect_interrupted":
      callInterrupted(draft, input.effect);
      return resumeAfterTools(draft, draft.running ? interruptTool(draft, input.effect) : null);
    case "clock":
      return;
  }
}

/** `index` is the agent whose tools have all settled; `null` if tools are still running. */
function resumeAfterTools(draft: Draft, index: number | null): void {
  if (index !== null) afterTools(draft, index);
}

/** Applies the rules that need no input, until they add no more events. */
function advance(draft: Draft): void {
  for (let pass = 0; pass < MAX_PASSES; pass += 1) {
    if (!draft.running) return;
    const before = draft.steps.length;
    const { settled } = draft.attempt;
    if (settled) advancePresentation(draft, settled);
    else advanceCoordination(draft);
    if (draft.steps.length === before) return;
  }
  throw new Error("the rules do not come to rest");
}
