import type { WireEvent } from "../../../src/protocol/events";
import type { ReachedTool } from "../../../checker/types";
import type { ReceivedRequest } from "../../../simulated/raw-server";
import type { RequestTimes } from "../../../simulated/providers/ledger";
import type { ReachedCall } from "../../../simulated/providers/tool-server";
import { callOf } from "./trail";

/**
 * A request that reached a tool's server, a call or not. `leaving`: it says that a call or the connection is over, and nothing
 * more. `listening`: it is for whatever the server has to tell, and is open for as long as the connection, whatever runs.
 */
export type ToolRequest = RequestTimes & { purpose: "work" | "leaving" | "listening" };

/** What a message to a tool server is for. */
export function purposeOf({
  method,
  body,
}: Pick<ReceivedRequest, "method" | "body">): ToolRequest["purpose"] {
  const message =
    typeof body === "object" && body !== null && "method" in body ? body.method : null;
  if (method === "DELETE" || message === "notifications/cancelled") return "leaving";
  return method === "GET" || message === "subscriptions/listen" ? "listening" : "work";
}

/** How a key ends: turn, attempt, the agent's place, round, and the model's own id of the call. */
const KEY = /_tool_(\d+)_(\d+)_(\d+)_(\d+)_(.+)$/;

/** What reached the tools, by the places in the log that its keys tell: what the checks of I8 and I9 look at. */
export function reachedTools(
  calls: readonly ReachedCall[],
  events: readonly WireEvent[],
): ReachedTool[] {
  const agents = events.flatMap((event) =>
    event.type === "session.created" ? event.rules.agents : [],
  );
  return calls.map(({ name, key, answered }) => {
    const [, turn, attempt, nth, round, call] = KEY.exec(key) ?? [];
    const place = {
      turn: Number(turn),
      attempt: Number(attempt),
      round: Number(round),
      tool_call: call ?? "none",
    };
    return { ...place, agent: agents[Number(nth) - 1]?.id ?? "nobody", name, key, answered };
  });
}

/** What is said of a call that may be anybody's. */
export const KEYLESS = "reached its server without a key";

/**
 * Why the checks of I8 and I9 would look at nothing: a call that the log says was answered did reach its tool, every call that
 * reached one says which it is, and there were calls at all, unless somebody may have cancelled before there were (`mayBeNone`).
 */
export function toolProblems(
  calls: readonly ReachedCall[],
  events: readonly WireEvent[],
  mayBeNone = false,
): string[] {
  const reached = new Set(reachedTools(calls, events).map(callOf));
  const answered = events
    .filter((event) => event.type === "tool.completed" && event.outcome === "ok")
    .map(callOf);
  return [
    ...(calls.length > 0 || mayBeNone ? [] : ["I8: no tool was called"]),
    ...answered
      .filter((call) => !reached.has(call))
      .map((call) => `I8: ${call} was answered and never reached its tool`),
    ...calls.filter(({ key }) => key === "").map(({ name }) => `I8: a call of ${name} ${KEYLESS}`),
  ];
}
