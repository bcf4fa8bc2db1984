import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FaultyService } from "../faulty-service";
import { playCase } from "../kills/case";
import type { RunServers } from "../runs/kinds";
import { RunGroup } from "../runs/run-group";
import { startRunServers } from "../runs/run-servers";
import { isHealthy } from "../../../simulated/service/loopback";

/** A halted service answers no request, so the harness must know whether the service has halted. */
let providers: RunServers;
let service: FaultyService;

beforeAll(async () => {
  providers = await startRunServers();
  service = await FaultyService.prepare();
  await service.start();
});
afterAll(async () => {
  await service?.stop();
  await providers?.close();
});

const D1 = "d1.before";
const listSessions = () => fetch(`${service.url}/api/sessions`).catch(() => null);

describe("a service with an ordered crash point", () => {
  it("halts there until it is killed", async () => {
    await service.order({ crash: { point: D1, nth: 2 } });
    await listSessions();
    const pendingRequest = listSessions();
    expect(await service.halted()).toBe(`${D1}:2`);
    expect(await service.cancelCrash()).toBe(`${D1}:2`);
    await service.restart();
    expect(await pendingRequest).toBeNull();
    expect(await isHealthy(service.url)).toBe(true);
  });

  it("does not halt once the crash is cancelled", async () => {
    await service.order({ crash: { point: D1, nth: 1 } });
    expect(await service.cancelCrash()).toBeNull();
    expect((await listSessions())?.status).toBe(200);
  });

  it("does not halt during the checks of runs that ended before", async () => {
    await service.order({});
    const group = new RunGroup(["again"], { service, providers, seed: 1 });
    await group.over;
    const visitsOfRuns = (await service.order({})).reached[D1] ?? 0;
    expect(await group.verdict()).toEqual([]);
    const visitsOfVerdict = (await service.order({})).reached[D1] ?? 0;
    expect(visitsOfVerdict).toBeGreaterThan(0);
    // The last visit of the checks: on a slow machine the runs visit the place a few times more.
    const nth = visitsOfRuns + visitsOfVerdict;

    const { missed, problems } = await playCase(
      { seed: 1, kinds: ["again"], kills: [{ point: D1, nth }], isWanted: false },
      service,
      providers,
    );
    expect(problems).toEqual([]);
    expect(missed).toEqual([`${D1}:${nth}`]);
  });
});
