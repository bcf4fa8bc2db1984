import { afterAll, beforeAll, expect, it } from "vitest";
import { ServiceProcess } from "../../simulated/service/service-process";
import { answersThenVotes } from "../../simulated/providers/scripts";
import { type SimulatedProviders, startSimulatedProviders } from "../../simulated/providers/server";
import type { WireEvent } from "../../src/protocol/events";
import { sessionPath } from "../../src/protocol/paths";
import {
  type FaultServer,
  startFaultServer,
  type WireFault,
} from "../../tests/contracts/faults/fault-server";
import { backendOf, FORMATS, modelOf } from "../../tests/e2e/support/formats";
import { LOCAL } from "../../tests/e2e/support/local";
import { ServiceClient } from "../../tests/e2e/support/service-client";
import { toEvent } from "../../tests/e2e/support/verdict";
import { Watcher } from "../../tests/e2e/support/watcher";

/**
 * Plays whole runs with providers that stop sending. Every agent of a mixed team meets the fault
 * once, in its own format, and still takes part in the decision.
 *
 * The real limits of a call are 120 s until the first byte, 90 s without data, and 14 min in total.
 * `tests/contracts/faults/silence.ts` checks these limits. The service under test has limits of a
 * few seconds instead.
 */

/** The first half of a reply's events. */
function firstHalf(whole: Buffer): Buffer {
  const events = whole.toString().split(/(?<=\r?\n\r?\n)/);
  return Buffer.from(events.slice(0, Math.ceil(events.length / 2)).join(""));
}
const ROWS: readonly { name: string; fault: WireFault; message: RegExp }[] = [
  { name: "no headers", fault: { kind: "mute" }, message: /first byte took longer than 4500 ms/ },
  {
    name: "headers only",
    fault: { kind: "stream", change: () => [], ending: "silence" },
    message: /first byte took longer than 4500 ms/,
  },
  {
    name: "half a reply",
    fault: { kind: "stream", change: (whole) => [firstHalf(whole)], ending: "silence" },
    message: /No data arrived for 3000 ms/,
  },
  {
    name: "half a reply, then endless comments",
    fault: { kind: "stream", change: (whole) => [firstHalf(whole)], ending: "comments" },
    message: /in total/,
  },
];
/** The model of an agent in this format for the row with this index. */
const modelFor = (format: (typeof FORMATS)[number], nth: number): string =>
  modelOf(format, `silent-${nth}`);

const firstCallOf = (log: readonly WireEvent[], agent: string): string | undefined =>
  log.flatMap((event) =>
    event.type === "call.started" && event.agent === agent ? [event.call] : [],
  )[0];

let service: ServiceProcess;
let providers: SimulatedProviders;
let faults: FaultServer;
let client: ServiceClient;

beforeAll(async () => {
  const script = answersThenVotes({ answer: "At 100 °C.", presentation: "At 100 °C." });
  const names = ROWS.flatMap((_, nth) => FORMATS.map((format) => modelFor(format, nth)));
  providers = await startSimulatedProviders({
    models: Object.fromEntries(names.map((name) => [name, script])),
  });
  faults = await startFaultServer(providers.url, (model) => {
    const row = ROWS.find((_, nth) => model.endsWith(`silent-${nth}`));
    return row && { fault: row.fault, calls: 1 };
  });
  service = await ServiceProcess.prepare(LOCAL, [], {
    entry: "tests/e2e/support/short-limits-worker.ts",
  });
  await service.start();
  client = new ServiceClient(service.url);
});
afterAll(async () => {
  await service?.stop();
  await faults?.close();
  await providers?.close();
});

it.each(ROWS.map((row, nth) => ({ ...row, nth })))(
  "$name: the call ends at its limit, and the agent continues",
  async (row) => {
    const agents = FORMATS.map((format) => {
      const path = new URL(providers.baseUrls[format]).pathname.replace(/\/$/, "");
      const backend = { ...backendOf(format, providers), base_url: `${faults.origin}${path}` };
      return { id: format, model: modelFor(format, row.nth), backend };
    });
    const { session_id: id } = await client.start({ baseUrl: providers.baseUrl, agents });
    expect(await client.ended(id, 60_000)).toMatchObject({
      status: "completed",
      finish_reason: "consensus",
    });
    const watcher = new Watcher(`${service.url}${sessionPath(id)}/events`);
    await watcher.ended;
    const log = watcher.frames.map(toEvent);
    const failed = log.flatMap((event) => (event.type === "call.failed" ? [event] : []));
    // If the machine stalls for longer than these short limits, healthy calls also fail. The
    // messages of such failures are not checked: only the first call of each agent has the fault.
    const firstCallFailures = failed.filter(({ call }) =>
      FORMATS.some((format) => firstCallOf(log, format) === call),
    );
    expect(firstCallFailures.map(({ agent }) => agent).sort()).toEqual([...FORMATS].sort());
    for (const { message } of firstCallFailures) expect(message).toMatch(row.message);
    for (const { code } of failed) expect(code).toBe("timeout");
    for (const { model } of agents) expect(faults.strikesOf(model)).toBe(1);
  },
  90_000,
);
