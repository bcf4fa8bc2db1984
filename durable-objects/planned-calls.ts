import type { RenderInput } from "../src/agents/records";
import type { CallStore, RoundPlace } from "./call-store";
import type { SessionLog } from "./session-log";

/** An agent in one attempt; `id` is its name in the log. */
export type AgentPlace = Omit<RoundPlace, "round"> & { id: string };

/** The calls an agent planned while its team coordinated, in order: the log says which, the private records with which arguments. */
export function plannedCalls(log: SessionLog, calls: CallStore, place: AgentPlace): RenderInput["planned"] {
  const turn = log.turn(place.turn);
  if (!turn) return [];
  const planned = [...log.readType(turn, "tool.completed")]
    .filter(({ agent, attempt }) => agent === place.id && attempt === place.attempt)
    .map(({ body }): { round: number; tool_call: string; name: string; outcome: string } => JSON.parse(body))
    .filter(({ outcome }) => outcome === "planned");
  return planned.map(({ round, tool_call, name }) => ({
    agent: place.agent,
    name,
    arguments: argumentsOf(calls, { ...place, round }, tool_call),
  }));
}

/** What a model wrote as the arguments of a tool call, as it wrote them. */
export function argumentsOf(calls: CallStore, place: RoundPlace, toolCall: string): string {
  const items = calls.read(place).flatMap((record) => (record.kind === "reply" ? record.items : []));
  const call = items.find((item) => item.type === "tool_call" && item.id === toolCall);
  return call?.type === "tool_call" ? call.arguments : "{}";
}
