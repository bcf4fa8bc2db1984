import type { WireEvent } from "../../../src/protocol/events";
import { fileTools } from "../../../src/tools/files";

const FILE_TOOLS = new Set(fileTools().map(({ spec }) => spec.name));
const CALL_FIELDS = ["turn", "attempt", "agent", "round", "tool_call"];

/** A text that identifies the tool call of an event within the log. */
export const callIdentityOf = (event: object): string =>
  JSON.stringify(CALL_FIELDS.map((field) => Reflect.get(event, field)));

/** Problems of the recorded file accesses: each successful call of a file tool is recorded once. */
export function fileAccessProblems(events: readonly WireEvent[]): string[] {
  const calls = events.filter(({ type }) => type === "files.accessed").map(callIdentityOf);
  const recorded = new Set(calls);
  const successfulCalls = events.filter(
    (event) =>
      event.type === "tool.completed" && event.outcome === "ok" && FILE_TOOLS.has(event.name),
  );
  return [
    ...(recorded.size === calls.length ? [] : ["a call has two records of file accesses"]),
    ...successfulCalls
      .filter((event) => !recorded.has(callIdentityOf(event)))
      .map((event) => `${callIdentityOf(event)} has no record of file accesses`),
  ];
}
