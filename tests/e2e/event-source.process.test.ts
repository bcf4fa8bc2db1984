import { setTimeout as sleep } from "node:timers/promises";
import { EventSource } from "eventsource";
import { expect, it } from "vitest";
import { SessionEventSchema } from "../../src/protocol/events";
import { runningService } from "./support/running-service";
import { STORY, STORY_AGENTS } from "./support/story";

/** `EventSource` against the real runtime. This client reconnects and stops by itself. */
const on = runningService(STORY);

const TYPES = SessionEventSchema.options.map(({ shape }) => shape.type.value);

type Reception = { ids: string[]; texts: string[]; connections: number };

/** Receives all events. `over` resolves when the source is closed and does not reconnect. */
function follow(url: string): { seen: Reception; over: Promise<void> } {
  const source = new EventSource(url);
  const seen: Reception = { ids: [], texts: [], connections: 0 };
  source.onopen = () => {
    seen.connections += 1;
  };
  for (const type of TYPES) {
    source.addEventListener(type, ({ lastEventId, data }) => {
      seen.ids.push(lastEventId);
      seen.texts.push(data);
    });
  }
  const over = new Promise<void>((resolve) => {
    source.onerror = () => {
      if (source.readyState === EventSource.CLOSED) resolve();
    };
  });
  return { seen, over };
}

it("an EventSource receives every event once, although the service is killed meanwhile, and closes after the last event", async () => {
  const { session_id: id } = await on.client.start({
    baseUrl: on.providers.baseUrl,
    agents: STORY_AGENTS,
  });
  const { seen, over } = follow(`${on.service.url}/api/sessions/${id}/turns/1/events`);
  while (seen.ids.length < 5) await sleep(10);
  await on.service.kill();
  await on.service.start();
  await over;
  const events = (await on.client.events(id)).filter(({ turn }) => turn === 1);
  expect(seen.texts.map((text) => JSON.parse(text))).toEqual(events);
  expect(seen.ids).toEqual(events.map(({ sequence_number }) => String(sequence_number)));
  expect(seen.connections).toBeGreaterThan(1);
});
