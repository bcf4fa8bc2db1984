import type { WireEvent } from "../../../src/protocol/events";
import type { ReachedTool } from "../../../tests/simulation/checker/types";
import type { ReachedCall } from "../../simulated-providers/tool-server";
import { callOf } from "./trail";

/** How a key ends: turn, attempt, the agent's place, round, and the model's own id of the call. */
const KEY = /_tool_(\d+)_(\d+)_(\d+)_(\d+)_(.+)$/;

/** What reached the tools, by the places in the log that its keys tell: what the checks of I8 and I9 look at. */
export function reachedTools(calls: readonly ReachedCall[], events: readonly WireEvent[]): ReachedTool[] {
  const agents = events.flatMap((event) => (event.type === "session.created" ? event.rules.agents : []));
  return calls.map(({ name, key, answered }) => {
    const [, turn, attempt, nth, round, call] = KEY.exec(key) ?? [];
    const place = { turn: Number(turn), attempt: Number(attempt), round: Number(round), tool_call: call ?? "none" };
    return { ...place, agent: agents[Number(nth) - 1]?.id ?? "nobody", name, key, answered };
  });
}

/**
 * Why the checks of I8 and I9 would look at nothing: a call that the log says was answered did reach its tool, every call that
 * reached one says which it is, and there were calls at all.
 */
export function toolProblems(calls: readonly ReachedCall[], events: readonly WireEvent[]): string[] {
  const reached = new Set(reachedTools(calls, events).map(callOf));
  const answered = events.filter((event) => event.type === "tool.completed" && event.outcome === "ok").map(callOf);
  return [
    ...(calls.length > 0 ? [] : ["I8: no tool was called"]),
    ...answered.filter((call) => !reached.has(call)).map((call) => `I8: ${call} was answered and never reached its tool`),
    ...calls.filter(({ key }) => key === "").map(({ name }) => `I8: a call of ${name} reached its server without a key`),
  ];
}
