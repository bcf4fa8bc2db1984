import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import type { RecordedRequest } from "../../simulated/providers/ledger";
import { answersThenVotes, hangs, paced } from "../../simulated/providers/scripts";
import { runningService } from "./support/running-service";

/** Time limit for closing a connection: an abandoned call costs money and occupies a slot. */
const CLOSED_WITHIN_MS = 2_000;
/** Long limit that only prevents an endless wait. */
const EVENT_WITHIN_MS = 30_000;
/**
 * Time limit of the turn. Also on a slow machine, the first calls start within four fifths of it,
 * and the presentation starts within the last fifth.
 */
const TURN_LIMIT_S = 15;
const MODELS = {
  mute: hangs("headers"),
  stalls: hangs("body", { text: "Water boils at 100 °C, and", tokens: 5 }),
  good: paced({ ttftMs: 100, tokensPerSecond: 100 }, answersThenVotes({ answer: "At 100 °C." })),
};
const agents = (...models: (keyof typeof MODELS)[]) =>
  models.map((model, index) => ({ id: `${model}-${index}`, model }));

const on = runningService(MODELS);
let earlierRequests = 0;

afterEach(() => {
  earlierRequests = on.providers.requests().length;
});

const requests = (): readonly RecordedRequest[] => on.providers.requests().slice(earlierRequests);
const now = (): number => performance.timeOrigin + performance.now();

async function waitUntil(holds: () => boolean, withinMs: number): Promise<void> {
  const giveUpAt = performance.now() + withinMs;
  while (!holds()) {
    if (performance.now() > giveUpAt)
      throw new Error(
        `Not within ${withinMs} ms: ${JSON.stringify(requests(), null, 1)}\n${on.service.log}`,
      );
    await sleep(5);
  }
}

/**
 * Asserts that the service closed each connection to this model that was open at `from` (Unix ms).
 * Returns the delays of the closes after `from`, in ms.
 */
async function closeDelays(from: number, modelName: string): Promise<number[]> {
  const callsOfModel = () =>
    requests().filter(({ model, startedAt }) => model === modelName && startedAt <= from);
  expect(callsOfModel()).not.toHaveLength(0);
  await waitUntil(() => callsOfModel().every(({ endedAt }) => endedAt !== null), CLOSED_WITHIN_MS);
  expect(callsOfModel().map(({ outcome }) => outcome)).toEqual(callsOfModel().map(() => "closed"));
  return callsOfModel().map(({ endedAt }) => (endedAt ?? Number.NaN) - from);
}

describe("a cancellation closes the connections to the provider within 2 s", () => {
  it.each([
    {
      name: "while it waits for headers",
      model: "mute",
      ready: (request: RecordedRequest) => request.status === 0,
    },
    {
      name: "while the body stalls",
      model: "stalls",
      ready: (request: RecordedRequest) => request.tokensSent === 5,
    },
  ] as const)("$name", async ({ model, ready }) => {
    const { session_id: id } = await on.client.start({
      baseUrl: on.providers.baseUrl,
      agents: agents(model, model, model),
    });
    await waitUntil(() => requests().filter(ready).length === 3, EVENT_WITHIN_MS);
    await sleep(200);
    expect(requests().map(({ outcome }) => outcome)).toEqual(["open", "open", "open"]);
    const askedAt = now();
    await on.client.cancel(id);
    const delays = await closeDelays(askedAt, model);
    console.log(`closed ${delays.map(Math.round).join(", ")} ms after the cancellation`);
    expect(Math.max(...delays)).toBeLessThan(CLOSED_WITHIN_MS);
    expect((await on.client.turn(id)).status).toBe("cancelled");
    await sleep(1_000);
    expect(requests()).toHaveLength(3); // no new call starts after the cancellation
  });

  it("with calls in several relays", async () => {
    const team = agents("mute", "mute", "mute", "mute", "mute", "mute");
    const { session_id: id } = await on.client.start({
      baseUrl: on.providers.baseUrl,
      agents: team,
    });
    await waitUntil(() => requests().length === team.length, EVENT_WITHIN_MS);
    await on.client.cancel(id);
    await closeDelays(now(), "mute");
    await sleep(500);
    expect(requests()).toHaveLength(team.length);
  });
});

describe("a time limit closes the connections to the provider within 2 s", () => {
  it("when the time of the coordination is over, and again when the time of the turn is over", async () => {
    const run = await on.client.start({
      baseUrl: on.providers.baseUrl,
      agents: agents("stalls", "stalls"),
      timeout_seconds: TURN_LIMIT_S,
    });
    const startedAt = now();
    await waitUntil(() => requests().length === 2, EVENT_WITHIN_MS);
    // a fifth of the time is reserved for the presentation
    await sleep(0.8 * TURN_LIMIT_S * 1_000 - (now() - startedAt));
    await waitUntil(
      () =>
        requests()
          .slice(0, 2)
          .every(({ outcome }) => outcome === "closed"),
      CLOSED_WITHIN_MS,
    );
    const turn = await on.client.ended(run.session_id, EVENT_WITHIN_MS);
    expect(turn).toMatchObject({
      status: "completed",
      finish_reason: "deadline",
      answer: expect.stringContaining("Water boils"),
    });
    const delays = await closeDelays(startedAt + TURN_LIMIT_S * 1_000, "stalls");
    console.log(`closed ${delays.map(Math.round).join(", ")} ms after the deadline`);
    expect(requests()).toHaveLength(3); // the presentation was tried
    expect(Math.max(...delays)).toBeLessThan(CLOSED_WITHIN_MS);
  });

  it("when an agent exceeds the time of its first round, and the other agents continue without it", async () => {
    // 4 s for the work, and another 4 s for the decision.
    const config = {
      timeout_settings: { initial_round_timeout_seconds: 4, round_timeout_grace_seconds: 0 },
    };
    const run = await on.client.start({
      baseUrl: on.providers.baseUrl,
      agents: agents("good", "mute", "good"),
      config,
    });
    const startedAt = now();
    await sleep(8_000);
    const delays = await closeDelays(startedAt + 8_000, "mute");
    expect(Math.max(...delays)).toBeLessThan(CLOSED_WITHIN_MS);
    expect(await on.client.ended(run.session_id, EVENT_WITHIN_MS)).toMatchObject({
      status: "completed",
      answer: "At 100 °C.",
    });
  });
});
