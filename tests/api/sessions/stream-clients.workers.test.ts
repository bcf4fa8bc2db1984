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
 * Like an EventSource: reads some events, loses the connection, and resumes with the id of its last
 * event.
 */
async function readSome(
  path: string,
  lastId: string | null,
  most: number,
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
    if (ids.length === most) break;
  }
  return { ids, texts, isOver: false };
}

/** Reads all events, with as many connections as needed. */
async function readAll(
  path: string,
  most: number,
): Promise<{ texts: string[]; connections: number }> {
  const texts: string[] = [];
  let lastId: string | null = null;
  for (let connections = 1; ; connections += 1) {
    const { ids, texts: more, isOver } = await readSome(path, lastId, most);
    if (isOver) return { texts, connections };
    texts.push(...more);
    lastId = ids.at(-1) ?? lastId;
  }
}

const wholeOf = async (run: Run) =>
  (await follow(run)).events.map((event) => JSON.stringify(event));

describe("a client of a turn's stream that loses its connection", () => {
  it.each([1, 2, 7])(
    "after every %i events reads all of them once, in order, and is asked to stop",
    async (most) => {
      const run = await start(teamOf(["quick", "plain"]));
      const { texts, connections } = await readAll(eventsPath(run), most);
      expect(texts).toEqual(await wholeOf(run));
      expect(connections).toBeGreaterThan(texts.length / most);
    },
  );

  it("may start at any event by query, and the header takes precedence", async () => {
    const run = await start(teamOf(["quick"]));
    const whole = await wholeOf(run);
    expect((await readAll(`${eventsPath(run)}?after=4`, 100)).texts).toEqual(whole.slice(3));
    expect((await readSome(`${eventsPath(run)}?after=4`, "6", 100)).texts).toEqual(whole.slice(5));
  });
});
