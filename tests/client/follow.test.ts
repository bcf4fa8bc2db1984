import { describe, expect, it } from "vitest";
import type { FollowedEvent } from "../../client/index";
import { isKnownEvent } from "../../client/event-types";
import * as b from "../protocol/builders";
import { connections, events, frames, PLACE, START } from "./connections";

async function idsOf(following: AsyncIterable<FollowedEvent>): Promise<number[]> {
  const ids: number[] = [];
  for await (const { id } of following) ids.push(id);
  return ids;
}

const ids = events.map(({ sequence_number }) => sequence_number);

describe("following a turn", () => {
  it("resumes after the last event, over any number of connections", async () => {
    const { client, requests } = connections(
      frames.slice(0, 3),
      frames.slice(3, 7),
      frames.slice(7),
    );
    expect(await idsOf(client.turns.follow(PLACE))).toEqual(ids);
    expect(requests.map(({ lastEventId }) => lastEventId)).toEqual([null, "3", "7"]);
  });

  it("starts after the last known event", async () => {
    const { client, requests } = connections(frames.slice(5));
    expect(await idsOf(client.turns.follow(PLACE, { after: 5 }))).toEqual(ids.slice(5));
    expect(requests.map(({ lastEventId }) => lastEventId)).toEqual(["5"]);
  });

  it("drops events that arrive twice", async () => {
    const { client } = connections(frames.slice(0, 6), frames);
    expect(await idsOf(client.turns.follow(PLACE))).toEqual(ids);
  });

  it("yields an event of an unknown type as its JSON", async () => {
    const future = 'id: 1\ndata: {"type":"from.the.future"}\n\n';
    const { client } = connections([future, ...frames.slice(1)]);
    const [first] = await Array.fromAsync(client.turns.follow(PLACE));
    expect(first).toEqual({ id: 1, raw: '{"type":"from.the.future"}', event: null });
  });

  it("reports the queue, whose event has no number, and resumes after the last event", async () => {
    const queue = { type: "queue.changed", session_id: b.SESSION, held: null, data: [] };
    const changed = `event: queue.changed\ndata: ${JSON.stringify(queue)}\n\n`;
    const { client, requests } = connections(
      [...frames.slice(0, 3), changed],
      [changed, ...frames.slice(3)],
    );
    const queues: unknown[] = [];
    const options = { onQueue: (one: unknown) => queues.push(one) };
    expect(await idsOf(client.turns.follow(PLACE, options))).toEqual(ids);
    expect(requests.map(({ lastEventId }) => lastEventId)).toEqual([null, "3"]);
    expect(queues).toEqual([queue, queue]);
  });

  it("frees the connection if the caller leaves the loop", async () => {
    const { client } = connections(frames);
    for await (const { id } of client.turns.follow(PLACE)) if (id === 2) break;
  });
});

describe("starting and following over one connection", () => {
  it("resumes the turn that was started", async () => {
    const { client, requests } = connections(frames.slice(0, 4), frames.slice(4));
    expect(await idsOf(client.runs.stream(START))).toEqual(ids);
    expect(requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      "POST /api/runs",
      `GET /api/sessions/${b.SESSION}/turns/1/events`,
    ]);
  });

  it("starts again with the same idempotency key if nothing arrived", async () => {
    const { client, requests } = connections([], frames);
    expect(await idsOf(client.runs.stream(START))).toEqual(ids);
    expect(requests.map(({ method }) => method)).toEqual(["POST", "POST"]);
    expect(new Set(requests.map(({ key }) => key)).size).toBe(1);
  });
});

it("knows every type of event", () => {
  const types = events.map(({ type }) => type);
  expect(types.filter((type) => !isKnownEvent(type))).toEqual([]);
});
