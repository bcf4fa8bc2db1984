import { expect, inject, it } from "vitest";
import { follow, start } from "../session-client";

/** D20 over real sockets in workerd. The provider rejects requests that send its cookie back. */
const agentsAt = (paddings: number, models: readonly string[]) =>
  models.map((model, nth) => ({
    id: `a${nth}`,
    backend: {
      type: "chatcompletion",
      model,
      base_url: `${inject("hostileHeadersUrl")}/${paddings}/v1`,
      api_key: "caller-key",
    },
  }));

it.each([
  { name: "cookies, refreshes and links", paddings: 0 },
  { name: "eighty kilobytes of headers", paddings: 20 },
])("D20 replies with $name are read like any others, call after call", async ({ paddings }) => {
  const { text, events } = await follow(
    await start({ agents: agentsAt(paddings, ["quick", "plain"]) }),
  );
  expect(events.filter(({ type }) => type === "call.failed")).toEqual([]);
  expect(events.filter(({ type }) => type === "call.completed").length).toBeGreaterThanOrEqual(5);
  expect(events.at(-1)).toMatchObject({ type: "turn.completed", answer: "Forty-two, presented." });
  expect(text).not.toMatch(/=hostile|169\.254|x-padding/);
});

it("D20 replies with more headers than the runtime accepts fail as transient errors", async () => {
  const run = await start({
    agents: agentsAt(250, ["quick"]),
    timeout_settings: { orchestrator_timeout_seconds: 5 },
  });
  const { events } = await follow(run);
  const failed = events.filter((event) => event.type === "call.failed");
  expect(failed.length).toBeGreaterThan(0);
  // The service itself ends a try at the turn's deadline, so that try proves nothing about the
  // reply.
  const ofTheReply = failed.filter((event) => event.class !== "cancelled");
  expect(ofTheReply.length).toBeGreaterThan(0);
  for (const event of ofTheReply) expect(event).toMatchObject({ class: "transient" });
});
