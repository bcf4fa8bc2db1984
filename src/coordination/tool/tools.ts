import type { ToolRule } from "../../protocol/team";
import { truncateTo } from "../byte-length";
import type { Draft } from "../draft";
import type { InputBody } from "../inputs";
import { workLeft } from "../budget/budget";
import { LIMITS } from "../limits";
import { owed, toolInFlight } from "../owed";
import type { ToolState } from "../state";
import { changesListing, listedTools } from "./tool-listings";
import { capElicitation, capProgress, shouldForward } from "./tool-notifications";
import type { FileAccess } from "../../protocol/events";

/**
 * The rules for the agent's own tools: which tools run, which are only planned, and what follows if
 * a restart interrupts a tool.
 */

/**
 * Handles the tools of a reply. Tools that will not run are settled at once: tools beyond a limit,
 * unknown tools, and tools that may only be planned while the team coordinates.
 */
export function requestTools(draft: Draft, index: number): void {
  for (const [position, tool] of draft.round(index).tools.entries()) {
    const outcome =
      position >= LIMITS.toolsPerReply ? "refused" : outcomeWithoutRunning(draft, index, tool.name);
    if (outcome) skipTool(draft, index, { tool, outcome });
  }
  // From the end: if the turn's effects run out, the last tools of the list are refused.
  for (const tool of draft
    .round(index)
    .tools.filter(({ status }) => status === "owed")
    .reverse()) {
    if (workLeft(draft.turn) < 0) skipTool(draft, index, { tool, outcome: "refused" });
  }
}

/** Refuses all tools of a reply. */
export function refuseTools(draft: Draft, index: number): void {
  for (const tool of draft.round(index).tools) skipTool(draft, index, { tool, outcome: "refused" });
}

type SkippedTool = { tool: ToolState; outcome: "error" | "planned" | "refused" };

function skipTool(draft: Draft, index: number, { tool, outcome }: SkippedTool): void {
  draft.add({
    type: "tool.completed",
    ...draft.roundFields(index),
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

type ToolListingInput = Extract<InputBody, { type: "tools_listed" }>;

/**
 * Records the listings of tool servers. Adds an event for each listing that changes the agent's
 * tools.
 */
export function recordListings(draft: Draft, { agent, servers }: ToolListingInput): void {
  for (const listing of servers) {
    if (changesListing(draft.turn, agent, listing))
      draft.add({ type: "tools.listed", ...draft.agentFields(agent), ...listing });
  }
}

/** Records that a tool starts. Does nothing if the tool is no longer owed. */
export function startTool(draft: Draft, effectId: string): void {
  const effect = owed(draft.state).find(({ id }) => id === effectId);
  if (effect?.type !== "tool_call") return;
  draft.add({
    type: "tool.started",
    ...draft.roundFields(effect.agent),
    tool_call: effect.toolCall,
    name: effect.name,
  });
}

type ToolNotificationInput = Extract<InputBody, { type: "tool_notified" }>;

/** Forwards a notification of a running tool to people, if the limits allow it. */
export function recordNotification(
  draft: Draft,
  { effect, notification }: ToolNotificationInput,
): void {
  const found = toolInFlight(draft.turn, effect);
  if (!found || !shouldForward(draft.turn, effect, notification, draft.at)) return;
  const base = {
    ...draft.roundFields(found.index),
    tool_call: found.tool.id,
    name: found.tool.name,
  };
  if (notification.type === "progress")
    draft.add({ type: "tool.progressed", ...base, ...capProgress(notification) });
  else draft.add({ type: "tool.input_required", ...base, ...capElicitation(notification) });
}

type ToolSettlementInput = Extract<InputBody, { type: "tool_settled" }>;
type ToolOutcome = Pick<ToolSettlementInput, "effect" | "outcome" | "message" | "accesses">;

/**
 * Records the outcome of a tool. Returns the index of the agent if all tools of its reply now have
 * results; `null` if results are missing.
 */
export function settleTool(
  draft: Draft,
  { effect, outcome, message = "", accesses = [] }: ToolOutcome,
): number | null {
  const found = toolInFlight(draft.turn, effect);
  if (!found) return null;
  const { index, tool } = found;
  const base = { ...draft.roundFields(index), tool_call: tool.id, name: tool.name };
  if (accesses.length > 0)
    draft.add({ type: "files.accessed", ...base, accesses: summarizeAccesses(accesses) });
  const detail = message === "" ? {} : { message: truncateTo(LIMITS.toolMessageBytes, message) };
  draft.add(
    outcome === "unknown"
      ? { type: "tool.unknown", ...base, ...detail }
      : { type: "tool.completed", ...base, outcome },
  );
  return draft.round(index).status === "calling" ? index : null;
}

/**
 * Handles a tool that a restart interrupted. A tool that is safe to repeat runs again; otherwise
 * its outcome is unknown. Returns the same as `settleTool`.
 */
export function interruptTool(draft: Draft, effectId: string): number | null {
  const found = toolInFlight(draft.turn, effectId);
  if (!found) return null;
  const { index, tool } = found;
  const mayRepeat =
    tool.interruptions + 1 < LIMITS.interruptionsPerCall && workLeft(draft.turn) > 0;
  if (ruleOf(draft, index, tool.name)?.idempotent && mayRepeat) {
    draft.add({
      type: "tool.interrupted",
      ...draft.roundFields(index),
      tool_call: tool.id,
      name: tool.name,
    });
    return null;
  }
  return settleTool(draft, { effect: effectId, outcome: "unknown" });
}

/**
 * Shortens the file accesses of a tool call to `maxLines` lines, because a command may access any
 * number of files. Accesses are then grouped by directory, and `files` counts the accesses of a
 * line. No access is dropped: the sum of the counts stays the same.
 *
 * Reads are grouped first, then changes, then refusals. Each kind is grouped by the deepest
 * directories with which the lines fit, at most `MAX_DEPTH` deep. In a shortened list, refusals are
 * before allowed accesses.
 */
export function summarizeAccesses(
  accesses: readonly FileAccess[],
  maxLines: number = LIMITS.accessesPerEvent,
): FileAccess[] {
  if (accesses.length <= maxLines) return [...accesses];
  let lines = accesses.toSorted((a, b) => rankOf(b) - rankOf(a));
  for (const rank of RANKS) {
    const ungrouped = lines;
    for (
      let depth = Math.min(maxDepth(ungrouped, rank), MAX_DEPTH);
      lines.length > maxLines && depth >= 0;
      depth -= 1
    ) {
      lines = groupByDirectory(ungrouped, rank, depth);
    }
  }
  return lines;
}

/** Grouping starts at most at this depth, so that long paths do not cause many passes. */
const MAX_DEPTH = 16;

/** Ranks of lines in the order of grouping: reads, changes, refusals. */
const RANKS = [0, 1, 2] as const;

function rankOf({ operation, refused }: FileAccess): number {
  if (refused !== null) return 2;
  return operation === "write" || operation === "delete" ? 1 : 0;
}

const maxDepth = (lines: readonly FileAccess[], rank: number): number =>
  lines.reduce(
    (max, line) => (rankOf(line) === rank ? Math.max(max, line.path.split("/").length - 2) : max),
    0,
  );

/**
 * Groups the lines of this rank by their directory at this depth and by their operation. Depth 0 is
 * the root, which contains all paths.
 */
function groupByDirectory(lines: readonly FileAccess[], rank: number, depth: number): FileAccess[] {
  const grouped = new Map<string | FileAccess, FileAccess>();
  for (const line of lines) {
    const { operation, refused, files = 1 } = line;
    const path = rankOf(line) === rank ? directoryOf(line.path, depth) : null;
    const key = path === null ? line : `${operation} ${refused ?? ""} ${path}`;
    const before = grouped.get(key)?.files ?? 0;
    grouped.set(key, path === null ? line : { operation, path, refused, files: before + files });
  }
  return [...grouped.values()];
}

/**
 * The directory at this depth that contains the path, with a trailing slash. `null` if the path is
 * not so deep. Relative paths belong to the root.
 */
function directoryOf(path: string, depth: number): string | null {
  if (depth === 0 || !path.startsWith("/")) return "/";
  const names = path.split("/");
  return names.length > depth + 1 ? `${names.slice(0, depth + 1).join("/")}/` : null;
}
