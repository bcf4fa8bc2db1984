import { afterAll, beforeAll, expect, it } from "vitest";
import { TOOL_SERVERS } from "../../durable-objects/shared/object-limits";
import { freePort } from "../../simulated/service/loopback";
import { MemoryProbe } from "./clients/memory";
import { countSessionObjects, remainingObjects } from "./clients/session-objects";
import { FaultyService } from "./faulty-service";
import type { KindName, RunServers } from "./runs/kinds";
import { RunGroup } from "./runs/run-group";
import { startRunServers } from "./runs/run-servers";

/**
 * Runs whose agents call tools of MCP servers. The calls of `recalled`, also of HTTP tools, are
 * without a reply when it is cancelled. The server of `served` sends events.
 */
const KINDS: readonly KindName[] = ["recalled", "recalled", "served", "served"];
const SEED = 1;
/** Longest time after a turn until its connections to tool servers are closed. */
const REST_MS = 2 * TOOL_SERVERS.restMs;

let service: FaultyService;
let servers: RunServers;
let probe: MemoryProbe;

beforeAll(async () => {
  servers = await startRunServers();
  const inspectorPort = await freePort();
  service = await FaultyService.prepare({}, { inspectorPort });
  await service.start();
  probe = await MemoryProbe.connect(inspectorPort, service.pid ?? 0);
});
afterAll(async () => {
  probe?.close();
  await service?.stop();
  await servers?.close();
});

it("after their turns, sessions with calls of MCP tools stay in no memory", async () => {
  const group = new RunGroup(KINDS, { service, providers: servers, seed: SEED });
  expect(await group.verdict()).toEqual([]);
  expect((await countSessionObjects(probe))[0]).toBe(KINDS.length);
  expect(await remainingObjects(probe, service.url, REST_MS)).toEqual([0, 0]);
});
