import type { WireEvent } from "../../../src/protocol/events";
import { fileTools } from "../../../src/tools/files";

const FILE_TOOLS = new Set(fileTools().map(({ spec }) => spec.name));
const PLACE = ["turn", "attempt", "agent", "round", "tool_call"];

/** Identifies the tool call of an event. */
export const callOf = (event: object): string =>
  JSON.stringify(PLACE.map((field) => Reflect.get(event, field)));

/** Problems of the recorded file accesses: each successful call of a file tool is recorded once. */
export function trailProblems(events: readonly WireEvent[]): string[] {
  const calls = events.filter(({ type }) => type === "files.accessed").map(callOf);
  const told = new Set(calls);
  const worked = events.filter(
    (event) =>
      event.type === "tool.completed" && event.outcome === "ok" && FILE_TOOLS.has(event.name),
  );
  return [
    ...(told.size === calls.length ? [] : ["a call is twice in the trail of files"]),
    ...worked
      .filter((event) => !told.has(callOf(event)))
      .map((event) => `${callOf(event)} is not in the trail of files`),
  ];
}
