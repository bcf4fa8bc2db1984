import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { EventStreams } from "../../../../durable-objects/session/streams/event-streams";
import { type LogRow, toRow } from "../../../../durable-objects/session/streams/frames";
import { STREAM } from "../../../../durable-objects/shared/object-limits";
import { toRuntimeStream } from "../../../../durable-objects/session/streams/runtime-stream";
import { createTables } from "../../../../durable-objects/session/session-tables";
import { SessionLog } from "../../../../durable-objects/session/log/session-log";
import type { SessionEvent } from "../../../../src/protocol/events";
import {
  eventsPath,
  firstSegment,
  follow,
  parse,
  post,
  request,
  start,
  teamOf,
} from "../session-client";

type Rig = {
  log: SessionLog;
  streams: EventStreams;
  /** Writes and publishes streamed text. */
  write: (text?: string) => void;
  /** Ends the turn. */
  end: () => void;
};

/** Runs a test with event streams over a real log, to which the test writes. */
async function inObject(test: (rig: Rig) => Promise<void>): Promise<void> {
  const stub = env.SESSIONS.get(env.SESSIONS.newUniqueId());
  await runInDurableObject(stub, async (_, state) => {
    createTables(state.storage.sql);
    const log = new SessionLog(state.storage.sql);
    let endedAt: number | null = null;
    const started: SessionEvent = {
      type: "turn.started",
      at: 1,
      turn: 1,
      question: "?",
      parent_turn: null,
      aliases: {},
      budget: {},
      deadline_at: 9,
    };
    log.append([toRow(started)]);
    log.placeTurn(1, null, 1);
    const streams = new EventStreams({
      log,
      sessionId: "session_x",
      maxReaders: 10,
      now: () => Date.now(),
      endedAt: () => endedAt,
    });
    const publish = (rows: LogRow[]) => streams.publish(rows);
    await test({
      log,
      streams,
      write: (text = "x") =>
        publish([
          log.appendDelta(1, 2, [
            { agent: "a", round: 1, call: "c", kind: "text", offset: 0, text },
          ]),
        ]),
      end: () => {
        endedAt = Date.now();
        const usage = { input_tokens: 0, output_tokens: 0, reasoning_tokens: 0, cached_tokens: 0 };
        publish(
          log.append([
            toRow({
              type: "turn.failed",
              at: 3,
              turn: 1,
              code: "x",
              message: "x",
              agents: [],
              usage,
              cost_usd: 0,
            }),
          ]),
        );
      },
    });
  });
}

const all = { after: 0, turn: 1, deltas: true };
const decoder = new TextDecoder();

/** The writes that a reader receives that always reads at once. */
async function writesOf(stream: ReadableStream<Uint8Array>): Promise<string[]> {
  const writes: string[] = [];
  for await (const bytes of stream) writes.push(decoder.decode(bytes));
  return writes;
}

async function readAll(stream: ReadableStream<Uint8Array>): Promise<string> {
  return new Response(stream).text();
}

describe("a reader", () => {
  it("gets stored events, then new events, without gaps or repetitions, until the turn ends", async () => {
    await inObject(async ({ streams, write, end }) => {
      for (let nth = 0; nth < 50; nth += 1) write();
      const text = readAll(firstSegment(streams.open(all)));
      for (let nth = 0; nth < 50; nth += 1) {
        write();
        if (nth % 7 === 0) await new Promise((resolve) => setTimeout(resolve, 1));
      }
      end();
      expect(parse(await text).map(({ sequence_number }) => sequence_number)).toEqual(
        Array.from({ length: 102 }, (_, nth) => nth + 1),
      );
    });
  });

  it("may reconnect after any event, and its text is then equal to the log, byte for byte", async () => {
    await inObject(async ({ streams, write, end }) => {
      for (let nth = 0; nth < 300; nth += 1) write("x".repeat(nth));
      end();
      const completeText = (await readAll(firstSegment(streams.open(all)))).replace(
        /^retry.*\n\n/,
        "",
      );
      let joinedText = "";
      let last = 0;
      while (last < 302) {
        const reader = firstSegment(streams.open({ ...all, after: last })).getReader();
        const { value: preamble } = await reader.read();
        expect(decoder.decode(preamble)).toBe("retry: 2000\n\n");
        const { value } = await reader.read();
        await reader.cancel();
        const frames = decoder.decode(value).split(/(?<=\n\n)/);
        const kept = frames.slice(0, 1 + (last % 13));
        joinedText += kept.join("");
        last += kept.length;
      }
      expect(joinedText).toBe(completeText);
      expect(streams.watched).toBe(false);
    });
  });

  it("gets everything in order if its stream has several segments", async () => {
    await inObject(async ({ streams, write, end }) => {
      const reader = toRuntimeStream(streams.open(all)).getReader();
      let text = "";
      const read = async () => {
        for (;;) {
          const { done, value } = await reader.read();
          if (done) return;
          text += decoder.decode(value, { stream: true });
        }
      };
      const ended = read();
      const count = 3 * STREAM.segmentChunks;
      for (let nth = 0; nth < count; nth += 1) {
        write(`${nth},`);
        // The reader takes each row before the next one, so that each row is a chunk.
        await vi.waitFor(() => expect(text).toContain(`"${nth},"`), { interval: 1 });
      }
      end();
      await ended;
      expect(parse(text).filter(({ type }) => type === "stream.delta")).toHaveLength(count);
      expect(text.match(/retry:/g)).toHaveLength(1);
    });
  });

  it("can leave out deltas, and the numbers of events stay the same", async () => {
    await inObject(async ({ streams, write, end }) => {
      write();
      const live = readAll(firstSegment(streams.open({ ...all, deltas: false })));
      write();
      end();
      const replayed = readAll(firstSegment(streams.open({ ...all, deltas: false })));
      expect(parse(await live).map(({ sequence_number }) => sequence_number)).toEqual([1, 4]);
      expect(await replayed).toBe(await live);
    });
  });

  it("that does not read is closed after one MiB of unread bytes, and other readers get everything", async () => {
    await inObject(async ({ streams, write, end }) => {
      const idleReader = firstSegment(streams.open(all)).getReader();
      await idleReader.read();
      await idleReader.read();
      const otherReader = readAll(firstSegment(streams.open(all)));
      for (let nth = 0; nth < 30; nth += 1) {
        write("y".repeat(STREAM.behindBytes / 16));
        await new Promise((resolve) => setTimeout(resolve, 0));
      }
      expect((await idleReader.read()).done).toBe(true);
      end();
      expect(parse(await otherReader)).toHaveLength(32);
    });
  });

  it("gets a heartbeat after `heartbeatMs` without an event", async () => {
    vi.useFakeTimers();
    try {
      await inObject(async ({ streams }) => {
        const reader = firstSegment(streams.open(all)).getReader();
        await reader.read();
        await reader.read();
        const next = reader.read();
        await vi.advanceTimersByTimeAsync(STREAM.heartbeatMs + STREAM.tickMs);
        expect(decoder.decode((await next).value)).toBe(":\n\n");
        await reader.cancel();
      });
    } finally {
      vi.useRealTimers();
    }
  });

  it("of the whole session is closed `lingerMs` after the latest turn", async () => {
    vi.useFakeTimers();
    try {
      await inObject(async ({ streams, end }) => {
        end();
        const text = readAll(firstSegment(streams.open({ ...all, turn: null })));
        await vi.advanceTimersByTimeAsync(STREAM.lingerMs + STREAM.tickMs);
        expect(parse(await text)).toHaveLength(2);
      });
    } finally {
      vi.useRealTimers();
    }
  });
});

describe("the streams", () => {
  it("B12 are full at the maximum number of readers, until a reader disconnects", async () => {
    await inObject(async ({ streams }) => {
      const readers = Array.from({ length: 10 }, () => firstSegment(streams.open(all)));
      expect(streams.isFull).toBe(true);
      await readers[3]?.cancel();
      expect(streams.isFull).toBe(false);
    });
  });

  it("B12 beyond the limit are refused with 429 and Retry-After, until a reader disconnects", async () => {
    const run = await start(teamOf(["hanging"]));
    const open = () => request(eventsPath(run));
    const readers = await Promise.all(Array.from({ length: Number(env.MAX_READERS) }, open));
    expect(new Set(readers.map(({ status }) => status))).toEqual(new Set([200]));
    const refused = await open();
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "30"]);
    expect(await refused.json()).toMatchObject({ status: 429, code: "too_many_readers" });
    await readers[0]?.body?.cancel();
    const next = await vi.waitFor(async () => {
      const opened = await open();
      expect(opened.status).toBe(200);
      return opened;
    }, 10_000);
    await post(`/api/sessions/${run.session_id}/cancel`);
    const texts = await Promise.all([...readers.slice(1), next].map((reader) => reader.text()));
    for (const text of texts) expect(text).toContain("event: turn.cancelled");
  });

  it("B12 close a reader at its time limit, also if it does not read", async () => {
    vi.useFakeTimers();
    try {
      await inObject(async ({ streams, write }) => {
        const waiting = readAll(firstSegment(streams.open(all)));
        const stalled = firstSegment(streams.open(all)).getReader();
        await stalled.read();
        write();
        await vi.advanceTimersByTimeAsync(STREAM.connectionMs + STREAM.tickMs);
        expect(parse(await waiting)).toHaveLength(2);
        expect(streams.watched).toBe(false);
      });
    } finally {
      vi.useRealTimers();
    }
  });

  it.each([
    { name: "send each commit at once if there are few readers", readers: 3 },
    { name: "send several commits in one write if there are many readers", readers: 500 },
  ])("$name", async ({ readers }) => {
    await inObject(async ({ streams, write, end }) => {
      const reading = Array.from({ length: readers }, () =>
        writesOf(firstSegment(streams.open(all))),
      );
      const startedAt = Date.now();
      for (let nth = 0; nth < 20; nth += 1) {
        write();
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
      const tookMs = Date.now() - startedAt;
      end();
      const gatherMs = Math.floor(readers / STREAM.readersPerExtraMs);
      for (const writes of await Promise.all(reading)) {
        expect(parse(writes.join("")).map(({ sequence_number }) => sequence_number)).toHaveLength(
          22,
        );
        if (gatherMs === 0) expect(writes.length).toBeGreaterThanOrEqual(20);
        // The first events and the last are written on their own.
        else expect(writes.length).toBeLessThanOrEqual(tookMs / gatherMs + 4);
      }
    });
  });

  it("read rows from the log that are no longer in the frame cache", async () => {
    await inObject(async ({ streams, write, end }) => {
      const readerOfCache = firstSegment(streams.open(all)).getReader();
      await readerOfCache.read();
      for (let nth = 0; nth < 40; nth += 1) {
        write("z".repeat(STREAM.tailBytes / 20));
        if (nth < 5) await readerOfCache.read();
      }
      const laterReader = readAll(firstSegment(streams.open({ ...all, after: 3 })));
      end();
      expect(parse(await laterReader).map(({ sequence_number }) => sequence_number)).toEqual(
        Array.from({ length: 39 }, (_, nth) => nth + 4),
      );
    });
  });

  it("of a turn have only the events of this turn", async () => {
    const run = await start(teamOf(["quick", "plain"]));
    await follow(run);
    await post(`/api/sessions/${run.session_id}/turns`, { question: "Again?" });
    const { events } = await follow({ ...run, turn: 2 });
    expect(new Set(events.map(({ turn }) => turn))).toEqual(new Set([2]));
    const whole = await request(`/api/sessions/${run.session_id}/events?limit=1000`, {
      headers: { accept: "application/json" },
    });
    const { data } = await whole.json<{ data: { turn: number }[] }>();
    expect(events).toEqual(data.filter(({ turn }) => turn === 2));
  });
});

describe("a request for an event stream", () => {
  it.each([
    { name: "an id that is no number", id: "abc", status: 400, code: "bad_event_id" },
    { name: "a negative id", id: "-1", status: 400, code: "bad_event_id" },
    { name: "an id with an exponent", id: "1e3", status: 400, code: "bad_event_id" },
    {
      name: "an id above the largest safe integer",
      id: "9007199254740993",
      status: 400,
      code: "bad_event_id",
    },
    { name: "a very long id", id: "1".repeat(4_000), status: 400, code: "bad_event_id" },
  ])("is refused with $name", async ({ id, status, code }) => {
    const response = await request("/api/sessions/session_unknown00/events", {
      headers: { "last-event-id": id },
    });
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ code });
  });

  it("gets 204 after the last event of an ended turn, and 409 after an event that does not exist yet", async () => {
    const run = await start(teamOf(["quick", "plain"]));
    const { events, text } = await follow(run);
    const last = events.at(-1)?.sequence_number ?? 0;
    expect((await follow(run, { "last-event-id": String(last - 1) })).events).toHaveLength(1);
    expect(await (await request(`${eventsPath(run)}?after=0`)).text()).toBe(text);
    for (const id of [last, last + 1_000]) {
      expect(
        (await request(eventsPath(run), { headers: { "last-event-id": String(id) } })).status,
      ).toBe(204);
    }
    const running = await start(teamOf(["hanging", "hanging"]));
    expect(
      (await request(eventsPath(running), { headers: { "last-event-id": "1000" } })).status,
    ).toBe(409);
    await post(`/api/sessions/${running.session_id}/cancel`);
  });

  it("gets the headers of an event stream that must not be cached", async () => {
    const run = await start(teamOf(["quick", "plain"]));
    const { headers, body } = await request(eventsPath(run));
    expect(headers.get("content-type")).toBe("text/event-stream");
    expect(headers.get("cache-control")).toBe("no-store, no-transform");
    await body?.cancel();
  });

  it("gets pages of the same events if it accepts JSON", async () => {
    const run = await start(teamOf(["quick", "plain"]));
    const { events } = await follow(run);
    const pages: unknown[] = [];
    for (let after = 0, more = true; more; ) {
      const response = await request(`${eventsPath(run)}?limit=7&after=${after}`, {
        headers: { accept: "application/json" },
      });
      const page = await response.json<{ data: unknown[]; last_id: number; has_more: boolean }>();
      pages.push(...page.data);
      after = page.last_id;
      more = page.has_more;
    }
    expect(pages).toEqual(events);
  });
});
