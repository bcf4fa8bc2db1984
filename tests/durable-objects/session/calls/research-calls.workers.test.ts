import { expect, inject, it } from "vitest";
import type { WireEvent } from "../../../../src/protocol/events";
import { follow, start } from "../session-client";

const base_url = new URL(inject("providersUrl")).origin;
const backend = { type: "gemini", model: "gemini-2.5-flash", base_url, api_key: "caller-key" };
const search = { ...backend, enable_web_search: true };

/** Each call of an agent as text: its purpose, its decision tools, and whether it could search. */
const callsOf = (events: readonly WireEvent[], agent: string): string[] =>
  events.flatMap((event) =>
    event.type === "call.started" && event.agent === agent
      ? [
          `${event.purpose} ${event.offers.join("+") || "nothing"}${event.hosted_tools ? " and a search" : ""}`,
        ]
      : [],
  );

it("a model that cannot have hosted tools and functions in one call searches in a call before it decides", async () => {
  const agents = [
    { id: "searching", backend: search },
    { id: "plain", backend },
  ];
  const { events } = await follow(await start({ agents }));
  expect(callsOf(events, "searching").slice(0, 4)).toEqual([
    "coordination nothing and a search",
    "coordination new_answer",
    "coordination nothing and a search",
    "coordination new_answer+vote",
  ]);
  expect(callsOf(events, "plain").slice(0, 2)).toEqual([
    "coordination new_answer",
    "coordination new_answer+vote",
  ]);
  expect(events.filter(({ type }) => type === "round.nudged" || type === "call.failed")).toEqual(
    [],
  );
  expect(events.at(-1)).toMatchObject({
    type: "turn.completed",
    finish_reason: "consensus",
    answer: "Forty-two, looked up.",
  });
});
