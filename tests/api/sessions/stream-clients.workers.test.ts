import { EventSourceParserStream } from "eventsource-parser/stream";
import { describe, expect, it } from "vitest";
import {
  eventsPath,
  follow,
  request,
  type Run,
  start,
  teamOf,
} from "../../durable-objects/session/session-client";

/**
 * Reads some events with one connection, like an `EventSource` that resumes with the id of its last
 * event. `isOver`: the server has responded that there are no further events.
 */
async function readSome(
  path: string,
  lastId: string | null,
  eventsPerConnection: number,
): Promise<{ ids: string[]; texts: string[]; isOver: boolean }> {
  const response = await request(path, {
    headers: { accept: "text/event-stream", ...(lastId && { "last-event-id": lastId }) },
  });
  if (response.status === 204) return { ids: [], texts: [], isOver: true };
  expect([response.status, response.headers.get("content-type")]).toEqual([
    200,
    "text/event-stream",
  ]);
  const events = response.body
    ?.pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream());
  const [ids, texts]: [string[], string[]] = [[], []];
  for await (const { id, data } of events ?? []) {
    ids.push(id ?? "");
    texts.push(data);
    if (ids.length === eventsPerConnection) break;
  }
  return { ids, texts, isOver: false };
}

/** Reads all events, with as many connections as needed. */
async function readAll(
  path: string,
  eventsPerConnection: number,
): Promise<{ texts: string[]; connections: number }> {
  const texts: string[] = [];
  let lastId: string | null = null;
  for (let connections = 1; ; connections += 1) {
    const { ids, texts: more, isOver } = await readSome(path, lastId, eventsPerConnection);
    if (isOver) return { texts, connections };
    texts.push(...more);
    lastId = ids.at(-1) ?? lastId;
  }
}

const allEventsOf = async (run: Run) =>
  (await follow(run)).events.map((event) => JSON.stringify(event));

describe("a client of a turn's stream that loses its connection", () => {
  it.each([1, 2, 7])(
    "after every %i events reads all events once and in order, and then gets 204",
    async (eventsPerConnection) => {
      const run = await start(teamOf(["quick", "plain"]));
      const { texts, connections } = await readAll(eventsPath(run), eventsPerConnection);
      expect(texts).toEqual(await allEventsOf(run));
      expect(connections).toBeGreaterThan(texts.length / eventsPerConnection);
    },
  );

  it("may start after any event; `Last-Event-ID` takes precedence over `after`", async () => {
    const run = await start(teamOf(["quick"]));
    const allEvents = await allEventsOf(run);
    expect((await readAll(`${eventsPath(run)}?after=4`, 100)).texts).toEqual(allEvents.slice(3));
    expect((await readSome(`${eventsPath(run)}?after=4`, "6", 100)).texts).toEqual(
      allEvents.slice(5),
    );
  });
});
