import { expect, inject, it } from "vitest";
import { follow, start } from "../session-client";

/**
 * D20 with real connections in workerd: a provider that sends hostile response headers. It rejects
 * requests that send its cookie back. `paddings`: the number of 4 kB headers.
 */
const agentsAt = (paddings: number, models: readonly string[]) =>
  models.map((model, index) => ({
    id: `a${index}`,
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
])("D20 replies with $name are read normally in every call", async ({ paddings }) => {
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
  // A call that the service cancelled at the turn's deadline did not fail because of the headers.
  const failedByHeaders = failed.filter((event) => event.class !== "cancelled");
  expect(failedByHeaders.length).toBeGreaterThan(0);
  for (const event of failedByHeaders) expect(event).toMatchObject({ class: "transient" });
});
