import type { ToolRule } from "../../protocol/team";
import { truncateTo } from "../byte-length";
import type { Draft } from "../draft";
import type { InputBody } from "../inputs";
import { workLeft } from "./effect-cap";
import { LIMITS } from "../limits";
import { owed, toolInFlight } from "../owed";
import type { ToolState } from "../state";
import { isNews, listedTools } from "./tool-listings";
import { boundedTrail } from "./audit-summary";
import { boundedInput, boundedProgress, isWorthTelling } from "./tool-notifications";

/** The agent's own tools: what is run, what is only planned, and what becomes of one that was cut off. */

/** Settles at once what will not run: too many, unknown, or planned while the team still coordinates. */
export function requestTools(draft: Draft, index: number): void {
  for (const [nth, tool] of draft.round(index).tools.entries()) {
    const outcome =
      nth >= LIMITS.toolsPerReply ? "refused" : outcomeWithoutRunning(draft, index, tool.name);
    if (outcome) settleUnrun(draft, index, { tool, outcome });
  }
  // Last first: what is left over when the turn's effects run out is the end of the list.
  for (const tool of draft
    .round(index)
    .tools.filter(({ status }) => status === "owed")
    .reverse()) {
    if (workLeft(draft.turn) < 0) settleUnrun(draft, index, { tool, outcome: "refused" });
  }
}

/** None of a reply's tools runs. */
export function refuseTools(draft: Draft, index: number): void {
  for (const tool of draft.round(index).tools)
    settleUnrun(draft, index, { tool, outcome: "refused" });
}

type Unrun = { tool: ToolState; outcome: "error" | "planned" | "refused" };

function settleUnrun(draft: Draft, index: number, { tool, outcome }: Unrun): void {
  draft.add({
    type: "tool.completed",
    ...draft.inRound(index),
    tool_call: tool.id,
    name: tool.name,
    outcome,
  });
}

function outcomeWithoutRunning(
  draft: Draft,
  index: number,
  name: string,
): "error" | "planned" | null {
  const rule = ruleOf(draft, index, name);
  if (!rule) return "error";
  const isPlanning =
    draft.turn.rules.planning_mode && draft.round(index).purpose === "coordination";
  return isPlanning && rule.acts_outside && !rule.runs_in_planning ? "planned" : null;
}

const ruleOf = (draft: Draft, index: number, name: string): ToolRule | undefined =>
  [...draft.rulesOf(index).tools, ...listedTools(draft.turn, index)].find(
    (tool) => tool.name === name,
  );

type ToolsListed = Extract<InputBody, { type: "tools_listed" }>;

/** Tool servers have said what they have: what is news of it becomes a fact. */
export function listTools(draft: Draft, { agent, servers }: ToolsListed): void {
  for (const listing of servers) {
    if (isNews(draft.turn, agent, listing))
      draft.add({ type: "tools.listed", ...draft.of(agent), ...listing });
  }
}

/** A tool is about to run: it must still be owed. */
export function startTool(draft: Draft, effectId: string): void {
  const effect = owed(draft.state).find(({ id }) => id === effectId);
  if (effect?.type !== "tool_call") return;
  draft.add({
    type: "tool.started",
    ...draft.inRound(effect.agent),
    tool_call: effect.toolCall,
    name: effect.name,
  });
}

type ToolTold = Extract<InputBody, { type: "tool_told" }>;

/** A tool that runs tells people something. */
export function tellNews(draft: Draft, { effect, news }: ToolTold): void {
  const found = toolInFlight(draft.turn, effect);
  if (!found || !isWorthTelling(draft.turn, effect, news, draft.at)) return;
  const base = { ...draft.inRound(found.index), tool_call: found.tool.id, name: found.tool.name };
  if (news.type === "progress")
    draft.add({ type: "tool.progressed", ...base, ...boundedProgress(news) });
  else draft.add({ type: "tool.input_required", ...base, ...boundedInput(news) });
}

type ToolSettled = Extract<InputBody, { type: "tool_settled" }>;
type Settled = Pick<ToolSettled, "effect" | "outcome" | "message" | "accesses">;

/** Gives the agent whose reply has now all its results; null while some are missing. */
export function settleTool(
  draft: Draft,
  { effect, outcome, message = "", accesses = [] }: Settled,
): number | null {
  const found = toolInFlight(draft.turn, effect);
  if (!found) return null;
  const { index, tool } = found;
  const base = { ...draft.inRound(index), tool_call: tool.id, name: tool.name };
  if (accesses.length > 0)
    draft.add({ type: "files.accessed", ...base, accesses: boundedTrail(accesses) });
  const told = message === "" ? {} : { message: truncateTo(LIMITS.toolMessageBytes, message) };
  draft.add(
    outcome === "unknown"
      ? { type: "tool.unknown", ...base, ...told }
      : { type: "tool.completed", ...base, outcome },
  );
  return draft.round(index).status === "calling" ? index : null;
}

/** A restart cut the tool off: run it again if that is safe, else the model is told that nobody knows. */
export function interruptTool(draft: Draft, effectId: string): number | null {
  const found = toolInFlight(draft.turn, effectId);
  if (!found) return null;
  const { index, tool } = found;
  const mayRepeat =
    tool.interruptions + 1 < LIMITS.interruptionsPerCall && workLeft(draft.turn) > 0;
  if (ruleOf(draft, index, tool.name)?.idempotent && mayRepeat) {
    draft.add({
      type: "tool.interrupted",
      ...draft.inRound(index),
      tool_call: tool.id,
      name: tool.name,
    });
    return null;
  }
  return settleTool(draft, { effect: effectId, outcome: "unknown" });
}
