import type { Tool, ToolResult } from "./tool";

const BROKE = "The tool broke: a fault of the service, not of your arguments.";

/**
 * What a call comes to whose tool threw something it should not have. What that was is for the service's log, not for a model. A tool
 * that may have asked a server for what must not be asked for twice may have done its work before it broke.
 */
export function brokenCall({
  rule,
  staysInside = false,
}: Pick<Tool, "rule" | "staysInside">): ToolResult {
  if (staysInside || rule.idempotent)
    return {
      outcome: "error",
      text: `${BROKE} Nothing it did to files was kept. The same call may break again: try another way.`,
    };
  return {
    outcome: "unknown",
    text: `${BROKE} Whether it did its work is unknown: verify before repeating it.`,
  };
}
