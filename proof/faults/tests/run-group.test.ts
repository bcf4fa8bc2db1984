import { afterAll, beforeAll, expect, it } from "vitest";
import type { RunServers } from "../runs/kinds";
import { type Host, RunGroup } from "../runs/run-group";
import { startRunServers } from "../runs/run-servers";
import { startToolServer, type ToolServer } from "../../../simulated/providers/tool-server";
import { freePort } from "../../../simulated/service/loopback";

let providers: RunServers;
let tools: ToolServer;
let url: string;
beforeAll(async () => {
  [providers, tools, url] = [
    await startRunServers(),
    await startToolServer(),
    `http://127.0.0.1:${await freePort()}`,
  ];
});
afterAll(() => Promise.all([providers.close(), tools.close()]));

/** A service that is not running. */
const host = (): Host => ({ url, tools, killedAt: [], output: "", clearOutput: () => undefined });

it.each([
  {
    name: "exceeds the total limit",
    timeLimits: { totalMs: 300, quietMs: 60_000 },
    wrong: "300 ms",
  },
  {
    name: "exceeds the limit without an event",
    timeLimits: { totalMs: 60_000, quietMs: 300 },
    wrong: "300 ms without an event",
  },
])("reports a run that $name", async ({ timeLimits, wrong }) => {
  const group = new RunGroup(["story"], {
    service: host(),
    providers,
    seed: 1,
    timeLimits: () => timeLimits,
  });
  expect(await group.verdict()).toEqual([`story : I13: not finished after ${wrong}`]);
});

it("the limits of a run count from the end of the last fault", async () => {
  const calmFrom = performance.now() + 700;
  const timeLimits = () =>
    performance.now() < calmFrom
      ? { totalMs: 60_000, quietMs: 60_000 }
      : { totalMs: 60_000, quietMs: 300, since: calmFrom };
  const group = new RunGroup(["story"], { service: host(), providers, seed: 1, timeLimits });
  expect(await group.verdict()).toEqual([
    "story : I13: not finished after 300 ms without an event",
  ]);
  expect(performance.now()).toBeGreaterThan(calmFrom + 300);
  expect(group.unfinished).toEqual(group.runs);
});
