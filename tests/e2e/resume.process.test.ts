import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { ServiceProcess } from "../../simulated/service/service-process";
import type { EventOf, WireEvent } from "../../src/protocol/events";
import { type BackgroundReplies, startBackgroundReplies } from "./support/background-replies";
import { LOCAL } from "./support/local";
import { ServiceClient } from "./support/service-client";
import { toEvent } from "./support/verdict";
import { Watcher } from "./support/watcher";

/**
 * With `BACKGROUND_REPLIES = "on"`, the provider continues a reply while the service is down. After
 * a kill, the service must not lose such a reply, and must not pay for it twice.
 */

const TEXT = Array.from({ length: 60 }, (_, nth) => `word-${nth}`).join(" ");
const WORD_MS = 50;

let service: ServiceProcess;
let provider: BackgroundReplies;
let client: ServiceClient;

beforeAll(async () => {
  service = await ServiceProcess.prepare({ ...LOCAL, BACKGROUND_REPLIES: "on" });
  await service.start();
  client = new ServiceClient(service.url);
});
afterAll(() => service?.stop());
beforeEach(async () => {
  provider = await startBackgroundReplies(TEXT, WORD_MS);
});
afterEach(() => provider.close());

/** Starts a run of one agent and waits until half of its reply is written. */
async function start(): Promise<{ id: string; watcher: Watcher }> {
  const agents = [{ id: "solo", model: "gpt-5" }];
  const { session_id: id } = await client.start({
    baseUrl: provider.baseUrl,
    agents,
    backend: { type: "openai" },
  });
  const watcher = new Watcher(`${service.url}/api/sessions/${id}/turns/1/events`);
  while (!watcher.has("stream.delta")) await sleep(10);
  // At least two chunks must be stored. The provider writes the second half only on demand.
  while (watcher.frames.filter((frame) => frame.includes("event: stream.delta\n")).length < 2)
    await sleep(10);
  return { id, watcher };
}

async function restart(): Promise<void> {
  await service.kill();
  await sleep(300);
  await service.start();
}

/** The text of all deltas. Each delta must begin where the previous delta ends. */
function streamedText(events: readonly WireEvent[]): string {
  const items = events.flatMap((event) => (event.type === "stream.delta" ? event.items : []));
  return items.reduce((text, item) => {
    expect(item.offset).toBe(text.length);
    return text + item.text;
  }, "");
}

it("a kill during a reply needs no second call and loses no word", async () => {
  const { id, watcher } = await start();
  await restart();
  provider.continueReply();
  await client.status(id);
  await watcher.ended;
  const events = watcher.frames.map(toEvent);
  expect(events.at(-1)).toMatchObject({ type: "turn.completed", answer: TEXT });
  expect(streamedText(events)).toBe(TEXT);
  expect(provider.asked).toEqual(["create", expect.stringMatching(/^resume after \d+$/)]);
  expect(
    events.filter(({ type }) => type === "call.started" || type === "call.failed"),
  ).toHaveLength(1);
});

it("if the provider has lost the reply, the call is charged in full and a new call is made", async () => {
  const { id, watcher } = await start();
  await service.kill();
  provider.forget();
  provider.continueReply();
  await service.start();
  await client.status(id);
  await watcher.ended;
  const events = watcher.frames.map(toEvent);
  const failed = events.find(
    (event): event is EventOf<"call.failed"> & WireEvent => event.type === "call.failed",
  );
  const started = events.find(
    (event): event is EventOf<"call.started"> & WireEvent => event.type === "call.started",
  );
  expect(failed).toMatchObject({
    class: "transient",
    code: "resume_lost",
    tokens: started?.reserved.tokens,
  });
  expect(events.at(-1)).toMatchObject({ type: "turn.completed", answer: TEXT });
  expect(provider.asked.filter((what) => what === "create")).toHaveLength(2);
});

it("when a run is cancelled, the service also cancels the reply at the provider", async () => {
  const { id, watcher } = await start();
  await client.cancel(id);
  await watcher.ended;
  const giveUpAt = performance.now() + 30_000; // only prevents an endless wait
  while (!provider.asked.includes("cancel") && performance.now() < giveUpAt) await sleep(10);
  expect(provider.asked).toEqual(["create", "cancel"]);
});
