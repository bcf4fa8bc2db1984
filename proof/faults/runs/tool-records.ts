import type { WireEvent } from "../../../src/protocol/events";
import type { ReachedTool } from "../../../checker/types";
import type { ReceivedRequest } from "../../../simulated/raw-server";
import type { RequestTimes } from "../../../simulated/providers/ledger";
import type { ReceivedCall } from "../../../simulated/providers/tool-server";
import { callOf } from "./file-accesses";

/**
 * A request that reached a tool's server. `leaving`: only reports that a call or the connection has
 * ended. `listening`: receives the server's messages and stays open as long as the connection.
 */
export type ToolRequest = RequestTimes & { purpose: "work" | "leaving" | "listening" };

/** The purpose of a message to a tool server. */
export function purposeOf({
  method,
  body,
}: Pick<ReceivedRequest, "method" | "body">): ToolRequest["purpose"] {
  const message =
    typeof body === "object" && body !== null && "method" in body ? body.method : null;
  if (method === "DELETE" || message === "notifications/cancelled") return "leaving";
  return method === "GET" || message === "subscriptions/listen" ? "listening" : "work";
}

/** The end of a key: turn, attempt, the agent's position, round, and the model's own call id. */
const KEY = /_tool_(\d+)_(\d+)_(\d+)_(\d+)_(.+)$/;

/**
 * Calls that reached the tools, with their place in the log as encoded in the key. Input of the
 * checks of I8 and I9.
 */
export function reachedTools(
  calls: readonly ReceivedCall[],
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
    return { ...place, agent: agents[Number(nth) - 1]?.id ?? "unknown", name, key, answered };
  });
}

/** Problem of a call that may belong to any run. */
export const KEYLESS = "reached its server without a key";

/**
 * Why the checks of I8 and I9 would have too little evidence. Each answered call of the log must
 * have reached its tool, each call must carry a key, and there must be calls. `mayBeNone`: the run
 * may have been cancelled before its first call.
 */
export function toolProblems(
  calls: readonly ReceivedCall[],
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
