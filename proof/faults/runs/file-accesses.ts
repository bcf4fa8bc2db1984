import type { WireEvent } from "../../../src/protocol/events";
import { fileTools } from "../../../src/tools/files";

const FILE_TOOLS = new Set(fileTools().map(({ spec }) => spec.name));
const PLACE = ["turn", "attempt", "agent", "round", "tool_call"];

/** Identifies the tool call of an event. */
export const callOf = (event: object): string =>
  JSON.stringify(PLACE.map((field) => Reflect.get(event, field)));

/** Problems of the recorded file accesses: each successful call of a file tool is recorded once. */
export function fileAccessProblems(events: readonly WireEvent[]): string[] {
  const calls = events.filter(({ type }) => type === "files.accessed").map(callOf);
  const recorded = new Set(calls);
  const worked = events.filter(
    (event) =>
      event.type === "tool.completed" && event.outcome === "ok" && FILE_TOOLS.has(event.name),
  );
  return [
    ...(recorded.size === calls.length ? [] : ["a call has two records of file accesses"]),
    ...worked
      .filter((event) => !recorded.has(callOf(event)))
      .map((event) => `${callOf(event)} has no record of file accesses`),
  ];
}
