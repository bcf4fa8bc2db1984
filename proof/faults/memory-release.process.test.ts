import { afterAll, beforeAll, expect, it } from "vitest";
import { MemoryProbe } from "./clients/memory";
import { countSessionObjects, remainingObjects } from "./clients/session-objects";
import { FaultyService } from "./faulty-service";
import { freePort } from "../../simulated/service/loopback";
import type { Script } from "../../simulated/providers/reply";
import { answersThenVotes, paced } from "../../simulated/providers/scripts";
import { type SimulatedProviders, startSimulatedProviders } from "../../simulated/providers/server";
import { backendOf, FORMATS, modelOf } from "../../tests/e2e/support/formats";
import { ServiceClient } from "../../tests/e2e/support/service-client";
import { sessionPath } from "../../src/protocol/paths";

const SESSIONS = 4;
const OVER_WITHIN_MS = 60_000;
const OPEN_WITHIN_MS = 30_000;
/** Enough for the whole test, at this pace. */
const ENDLESS = "and so on ".repeat(20_000);
const FAST = { ttftMs: 100, tokensPerSecond: 100 };
const THOUGHT = "It depends on the pressure of the air.";

let service: FaultyService;
let providers: SimulatedProviders;
let client: ServiceClient;
let probe: MemoryProbe;

beforeAll(async () => {
  const decide = answersThenVotes({
    answer: "At 100 °C, where the air is as heavy as by the sea.",
  });
  // Without a text, a reply of some formats arrives in one piece.
  const thinkAloud: Script = async (situation) => ({ text: THOUGHT, ...(await decide(situation)) });
  const slow = paced({ ttftMs: 300, tokensPerSecond: 3 }, thinkAloud);
  const names = ["slow", ...FORMATS.map((format) => modelOf(format, "slow"))];
  const endless = paced(FAST, () => ({ text: ENDLESS }));
  const models = Object.fromEntries([
    ...names.map((name) => [name, slow]),
    ...FORMATS.map((format) => [modelOf(format, "endless"), endless]),
  ]);
  providers = await startSimulatedProviders({ models });
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
 * Reads the stream of a session or of its turn until it ends or breaks, and returns its text. Calls
 * `onFirstWords` when the model's first words arrive.
 */
async function watch(session: string, onFirstWords: () => void, turn = ""): Promise<string> {
  const response = await fetch(`${service.url}${sessionPath(session)}${turn}/events`, {
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

/** Resets these sessions, waits for their ends, and checks that they stay in no memory. */
async function resetAndCheck(sessions: readonly string[]): Promise<void> {
  await Promise.all(sessions.map((id) => service.reset(id)));
  for (const id of sessions)
    expect(await client.ended(id, OVER_WITHIN_MS)).toMatchObject({ status: "completed" });
  expect(await remainingObjects(probe, service.url)).toEqual([0, 0]);
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
  const [objects, streams = 0] = await countSessionObjects(probe);
  expect(objects).toBe(SESSIONS);
  expect(streams).toBeGreaterThanOrEqual(SESSIONS);
  await resetAndCheck(readers.map(({ id }) => id));
  // The reader was connected when the object was reset.
  for (const { stream } of readers) expect(await stream).not.toContain("turn.completed");
});

it("after a reset with an open reply of each wire format, no session object stays in memory", async () => {
  const earlier = providers.requests().length;
  const agents = FORMATS.map((format) => ({
    id: format,
    model: modelOf(format, "slow"),
    backend: backendOf(format, providers),
  }));
  const started = await Promise.all(
    Array.from({ length: SESSIONS }, () => client.start({ baseUrl: providers.baseUrl, agents })),
  );
  const openReplies = () =>
    providers
      .requests()
      .slice(earlier)
      .filter(({ firstByteAt, endedAt }) => firstByteAt !== null && endedAt === null);
  await expect
    .poll(() => openReplies().length, { timeout: OPEN_WITHIN_MS })
    .toBe(SESSIONS * FORMATS.length);
  const replies = openReplies();
  await resetAndCheck(started.map(({ session_id: id }) => id));
  // The replies were open when the objects were reset.
  expect(replies.map(({ outcome }) => outcome)).toEqual(replies.map(() => "closed"));
});

it("after the cancellation of a turn with fast replies, no session object stays in memory", async () => {
  const agents = FORMATS.map((format) => ({
    id: format,
    model: modelOf(format, "endless"),
    backend: backendOf(format, providers),
  }));
  const started = await Promise.all(
    Array.from({ length: SESSIONS }, () => client.start({ baseUrl: providers.baseUrl, agents })),
  );
  // A part of the replies is between two reads when their calls are aborted.
  for (const { session_id: id } of started) {
    const firstWords = Promise.withResolvers<void>();
    const stream = watch(id, firstWords.resolve, "/turns/1");
    await firstWords.promise;
    await client.cancel(id);
    expect(await client.ended(id, OVER_WITHIN_MS)).toMatchObject({ status: "cancelled" });
    await stream;
  }
  expect(await remainingObjects(probe, service.url)).toEqual([0, 0]);
});
