import { rulesByTurn } from "../../../checker";
import type { WireEvent } from "../../../src/protocol/events";
import type { ReachedTool } from "../../../checker/types";
import type { ReceivedRequest } from "../../../simulated/raw-server";
import type { RequestTimes } from "../../../simulated/providers/ledger";
import type { ReceivedCall } from "../../../simulated/providers/tool-server";
import { RELAY_HEADER } from "../build/orders";
import { callIdentityOf } from "./file-accesses";

/**
 * A request that reached the server of a tool. `relay`: the instance that sent it; `null` if the
 * session sent it itself. `leaving`: reports only that a call or the
 * connection has ended. `listening`: receives the server's messages and stays open as long as the
 * connection. `work`: any other request.
 */
export type ToolRequest = RequestTimes & {
  relay: string | null;
  purpose: "work" | "leaving" | "listening";
};

/** The relay that sent a request to the test build's providers or tool servers. */
export const relayOf = (headers: ReceivedRequest["headers"]): string | null => {
  const relay = headers[RELAY_HEADER];
  return typeof relay === "string" ? relay : null;
};

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

/**
 * The end of an idempotency key: turn, attempt, the agent's position in the team of the turn,
 * round, the model's call id.
 */
const KEY = /_tool_(\d+)_(\d+)_(\d+)_(\d+)_(.+)$/;

/**
 * Calls that reached the tools. The key of a call contains the call's place in the log. The checks
 * of I8 and I9 use the result.
 */
export function reachedTools(
  calls: readonly ReceivedCall[],
  events: readonly WireEvent[],
): ReachedTool[] {
  const teams = rulesByTurn(events);
  return calls.map(({ name, key, answered }) => {
    const [, turn, attempt, nth, round, call] = KEY.exec(key) ?? [];
    const place = {
      turn: Number(turn),
      attempt: Number(attempt),
      round: Number(round),
      tool_call: call ?? "none",
    };
    const agent = teams.get(place.turn)?.agents[Number(nth) - 1]?.id ?? "unknown";
    return { ...place, agent, name, key, answered };
  });
}

/** Part of the problem text for a call without a key. Such a call may belong to any run. */
export const KEYLESS = "reached its server without a key";

/**
 * Problems of the evidence for the checks of I8 and I9. Each answered call of the log must have
 * reached its tool, each call must carry a key, and there must be at least one call. `mayBeNone`:
 * no call is needed, because the run may have been cancelled before its first call.
 */
export function toolProblems(
  calls: readonly ReceivedCall[],
  events: readonly WireEvent[],
  mayBeNone = false,
): string[] {
  const reached = new Set(reachedTools(calls, events).map(callIdentityOf));
  const answered = events
    .filter((event) => event.type === "tool.completed" && event.outcome === "ok")
    .map(callIdentityOf);
  return [
    ...(calls.length > 0 || mayBeNone ? [] : ["I8: no tool was called"]),
    ...answered
      .filter((call) => !reached.has(call))
      .map((call) => `I8: ${call} was answered and never reached its tool`),
    ...calls.filter(({ key }) => key === "").map(({ name }) => `I8: a call of ${name} ${KEYLESS}`),
  ];
}
