import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FaultyService } from "../faulty-service";
import { play } from "../kills/case";
import type { Surroundings } from "../runs/kinds";
import { Party } from "../runs/party";
import { startSurroundings } from "../runs/surroundings";
import { isHealthy } from "../../../simulated/service/loopback";

/** A service that is left standing still answers nobody any more: the harness must always know of it. */
let providers: Surroundings;
let service: FaultyService;

beforeAll(async () => {
  providers = await startSurroundings();
  service = await FaultyService.prepare();
  await service.start();
});
afterAll(async () => {
  await service?.stop();
  await providers?.close();
});

const D1 = "d1.before";
const list = () => fetch(`${service.url}/api/sessions`).catch(() => null);

describe("a service that shall stand still at a place", () => {
  it("is known to stand there, until it is killed", async () => {
    await service.order({ crash: { point: D1, nth: 2 } });
    await list();
    const asking = list();
    expect(await service.standstill()).toBe(`${D1}:2`);
    expect(await service.standDown()).toBe(`${D1}:2`);
    await service.beginAgain();
    expect(await asking).toBeNull();
    expect(await isHealthy(service.url)).toBe(true);
  });

  it("does not any more once its orders are taken back", async () => {
    await service.order({ crash: { point: D1, nth: 1 } });
    expect(await service.standDown()).toBeNull();
    expect((await list())?.status).toBe(200);
  });

  it("does not while it is asked about runs that were over before they came there", async () => {
    await service.order({});
    const party = new Party(["again"], { service, providers, seed: 1 });
    await party.over;
    const visitsOfRuns = (await service.order({})).reached[D1] ?? 0;
    expect(await party.verdict()).toEqual([]);
    const visitsOfVerdict = (await service.order({})).reached[D1] ?? 0;
    expect(visitsOfVerdict).toBeGreaterThan(0);
    // The last visit of the verdict: on a slow machine the runs come there a few times more.
    const nth = visitsOfRuns + visitsOfVerdict;

    const { missed, problems } = await play(
      { seed: 1, kinds: ["again"], kills: [{ point: D1, nth }], isWanted: false },
      service,
      providers,
    );
    expect(problems).toEqual([]);
    expect(missed).toEqual([`${D1}:${nth}`]);
  });
});
