import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { MemoryProbe } from "./clients/memory";
import { FaultyService } from "./faulty-service";
import { freePort } from "../../simulated/service/loopback";
import { answersThenVotes, paced } from "../../simulated/providers/scripts";
import { type SimulatedProviders, startSimulatedProviders } from "../../simulated/providers/server";
import { ServiceClient } from "../../tests/e2e/support/service-client";
import { sessionPath } from "../../src/protocol/paths";

const SESSIONS = 4;
const OVER_WITHIN_MS = 60_000;
/**
 * Time limit for the release of all objects. The runtime evicts an idle object after ten seconds,
 * and frees its references to the object only while it works.
 */
const RELEASED_WITHIN_MS = 90_000;
const CHECK_EVERY_MS = 2_000;
/**
 * Objects of which none may remain: a class with one instance per session object, and the
 * runtime's part of a stream of JavaScript.
 */
const KEPT = [
  { name: "Engine", type: "object" },
  { name: "workerd / ReadableStreamDefaultController", type: "native" },
] as const;

let service: FaultyService;
let providers: SimulatedProviders;
let client: ServiceClient;
let probe: MemoryProbe;

beforeAll(async () => {
  const slow = paced(
    { ttftMs: 300, tokensPerSecond: 3 },
    answersThenVotes({ answer: "At 100 °C, where the air is as heavy as by the sea." }),
  );
  providers = await startSimulatedProviders({ models: { slow } });
  const inspectorPort = await freePort();
  service = await FaultyService.prepare({}, { inspectorPort });
  await service.start();
  client = new ServiceClient(service.url);
  probe = await MemoryProbe.connect(inspectorPort, service.pid ?? 0);
});
afterAll(async () => {
  probe?.close();
  await service?.stop();
  await providers?.close();
});

/**
 * Reads a session's stream until it ends or breaks, and returns its text. Calls `onFirstWords` when
 * the model's first words arrive.
 */
async function watch(session: string, onFirstWords: () => void): Promise<string> {
  const response = await fetch(`${service.url}${sessionPath(session)}/events`, {
    headers: { accept: "text/event-stream" },
  });
  const decoder = new TextDecoder();
  let text = "";
  try {
    for await (const bytes of response.body ?? []) {
      text += decoder.decode(bytes, { stream: true });
      if (text.includes("event: stream.delta")) onFirstWords();
    }
  } catch {
    // The object was reset during the read.
  }
  return text;
}

/** The numbers of these objects. */
async function countObjects(): Promise<number[]> {
  const counts: number[] = [];
  for (const { name, type } of KEPT) counts.push(await probe.instances(name, type));
  return counts;
}

/** Waits until none of these objects is in memory, or until the time limit. Returns the numbers. */
async function remainingObjects(): Promise<number[]> {
  const giveUpAt = performance.now() + RELEASED_WITHIN_MS;
  for (;;) {
    await (await fetch(`${service.url}/healthz`)).text();
    const remaining = await countObjects();
    if (remaining.every((count) => count === 0) || performance.now() > giveUpAt) return remaining;
    await sleep(CHECK_EVERY_MS);
  }
}

it("after a reset with a connected reader, neither a session object nor its stream stays in memory", async () => {
  const team = ["one", "two"].map((id) => ({ id, model: "slow" }));
  const readers = await Promise.all(
    Array.from({ length: SESSIONS }, async () => {
      const { session_id: id } = await client.start({ baseUrl: providers.baseUrl, agents: team });
      const firstWords = Promise.withResolvers<void>();
      return { id, firstWords: firstWords.promise, stream: watch(id, firstWords.resolve) };
    }),
  );
  await Promise.all(readers.map(({ firstWords }) => firstWords));
  const [objects, streams = 0] = await countObjects();
  expect(objects).toBe(SESSIONS);
  expect(streams).toBeGreaterThanOrEqual(SESSIONS);
  await Promise.all(readers.map(({ id }) => service.reset(id)));
  // The reader was connected when the object was reset.
  for (const { stream } of readers) expect(await stream).not.toContain("turn.completed");
  for (const { id } of readers)
    expect(await client.ended(id, OVER_WITHIN_MS)).toMatchObject({ status: "completed" });
  expect(await remainingObjects()).toEqual([0, 0]);
});
