import { afterAll, beforeAll, expect, it } from "vitest";
import type { Surroundings } from "../runs/kinds";
import { type Host, Party } from "../runs/party";
import { startSurroundings } from "../runs/surroundings";
import { startToolServer, type ToolServer } from "../../../simulated/providers/tool-server";
import { freePort } from "../../../simulated/service/loopback";

let providers: Surroundings;
let tools: ToolServer;
let url: string;
beforeAll(async () => {
  [providers, tools, url] = [
    await startSurroundings(),
    await startToolServer(),
    `http://127.0.0.1:${await freePort()}`,
  ];
});
afterAll(() => Promise.all([providers.close(), tools.close()]));

/** One that nobody has started. */
const host = (): Host => ({ url, tools, killedAt: [], output: "", forgetOutput: () => undefined });

it.each([
  {
    name: "takes longer than it may",
    patience: { inAllMs: 300, quietMs: 60_000 },
    wrong: "300 ms",
  },
  {
    name: "stands still for longer than it may",
    patience: { inAllMs: 60_000, quietMs: 300 },
    wrong: "300 ms in which nothing came of it",
  },
])("a run is late that $name", async ({ patience, wrong }) => {
  const party = new Party(["story"], {
    service: host(),
    providers,
    seed: 1,
    patience: () => patience,
  });
  expect(await party.verdict()).toEqual([`story : I13: it is not over after ${wrong}`]);
});

it("a run has its time from when nothing goes wrong any more", async () => {
  const calmFrom = performance.now() + 700;
  const patience = () =>
    performance.now() < calmFrom
      ? { inAllMs: 60_000, quietMs: 60_000 }
      : { inAllMs: 60_000, quietMs: 300, since: calmFrom };
  const party = new Party(["story"], { service: host(), providers, seed: 1, patience });
  expect(await party.verdict()).toEqual([
    "story : I13: it is not over after 300 ms in which nothing came of it",
  ]);
  expect(performance.now()).toBeGreaterThan(calmFrom + 300);
  expect(party.unfinished).toEqual(party.runs);
});
