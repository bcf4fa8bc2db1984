import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { BEGINS_AGAIN } from "../../../../src/providers/platform-words";
import { toRow } from "../../../../durable-objects/session/streams/frames";
import { CallStore } from "../../../../durable-objects/session/calls/call-store";
import { SessionQueries } from "../../../../durable-objects/session/session-queries";
import { EventStreams } from "../../../../durable-objects/session/streams/event-streams";
import { firstSegment } from "../session-client";
import { Outbox } from "../../../../durable-objects/session/log/outbox";
import { ResumePoints } from "../../../../durable-objects/session/log/resume-points";
import { Journal } from "../../../../durable-objects/session/log/journal";
import { createTables } from "../../../../durable-objects/session/session-tables";
import { SessionLog } from "../../../../durable-objects/session/log/session-log";
import type { SessionEvent } from "../../../../src/protocol/events";

const turnStarted: SessionEvent = {
  type: "turn.started",
  at: 1,
  turn: 1,
  question: "?",
  parent_turn: null,
  aliases: {},
  budget: {},
  deadline_at: 9,
};
const attemptStarted: SessionEvent = {
  type: "attempt.started",
  at: 2,
  turn: 1,
  attempt: 1,
  feedback: null,
};
const callFailed = (call: string): SessionEvent => ({
  type: "call.failed",
  at: 3,
  turn: 1,
  attempt: 1,
  agent: "a",
  round: 1,
  call,
  class: "transient",
  code: "stream_cut",
  message: "Cut.",
  retry_at: null,
  usage: null,
  cost_usd: 0,
  tokens: 0,
});
const entry = (...events: SessionEvent[]) => ({ events, rows: events.map(toRow), records: [] });

type Rig = {
  journal: Journal;
  log: SessionLog;
  points: ResumePoints;
  streams: EventStreams;
  disk: { sync: () => Promise<void>; refuses: boolean; aborted: string[] };
};

/** Runs a test with a journal over real tables. `disk` can delay and fail writes. */
async function inObject(test: (rig: Rig) => Promise<void>): Promise<void> {
  await runInDurableObject(env.SESSIONS.get(env.SESSIONS.newUniqueId()), async (_, state) => {
    createTables(state.storage.sql);
    const log = new SessionLog(state.storage.sql);
    const disk: Rig["disk"] = { sync: () => Promise.resolve(), refuses: false, aborted: [] };
    const storage = {
      sql: state.storage.sql,
      sync: () => disk.sync(),
      transactionSync: <T>(work: () => T): T =>
        state.storage.transactionSync(() => {
          const result = work();
          if (disk.refuses) throw new Error("disk full");
          return result;
        }),
    };
    const { sql } = state.storage;
    const points = new ResumePoints(sql);
    const sessionId = "session_x";
    const streams = new EventStreams({
      ...{ log, sessionId, maxReaders: 5, now: () => 1, endedAt: () => null },
    });
    const journal = new Journal({
      ...{ log, sessionId, points, now: () => 1 },
      platform: {
        storage: { ...storage, setAlarm: async () => {}, deleteAlarm: async () => {} },
        waitUntil: () => {},
        abort: (why = "") => void disk.aborted.push(why),
      },
      calls: new CallStore(sql),
      queries: new SessionQueries(log, sessionId),
      outbox: new Outbox(sql, "outbox"),
      publish: (rows) => streams.publish(rows),
      isWatched: () => streams.watched,
    });
    await test({ journal, log, points, streams, disk });
  });
}

const all = { after: 0, turn: null, deltas: true };
const decoder = new TextDecoder();

it("sends rows to readers only after they are on disk", async () => {
  await inObject(async ({ journal, streams, disk }) => {
    const synced = Promise.withResolvers<void>();
    disk.sync = () => synced.promise;
    journal.commit(entry(turnStarted), 1);
    const reader = firstSegment(streams.open(all)).getReader();
    await reader.read();
    const first = reader.read();
    const waited = new Promise((resolve) => setTimeout(() => resolve("nothing yet"), 50));
    expect(await Promise.race([first, waited])).toBe("nothing yet");
    synced.resolve();
    expect(decoder.decode((await first).value)).toContain("id: 1\n");
    await reader.cancel();
  });
});

it("sends rows that were stored during a wait for the disk together, after the next wait", async () => {
  await inObject(async ({ journal, streams, disk }) => {
    const waits = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let syncs = 0;
    disk.sync = () => {
      syncs += 1;
      return waits[syncs - 1]?.promise ?? Promise.resolve();
    };
    const reader = firstSegment(streams.open(all)).getReader();
    await reader.read();
    journal.commit(entry(turnStarted), 1);
    journal.commit(entry(attemptStarted), 2);
    journal.commit(entry(callFailed("c")), 3);
    waits[0]?.resolve();
    expect(decoder.decode((await reader.read()).value)).toMatch(/id: 1\n/);
    const second = reader.read();
    waits[1]?.resolve();
    expect(decoder.decode((await second).value)).toMatch(/id: 2\n[\s\S]*id: 3\n/);
    await journal.published();
    expect(syncs).toBe(2);
    await reader.cancel();
  });
});

it("stores streamed text in the same commit as the next event, and before that event", async () => {
  await inObject(async ({ journal, log }) => {
    journal.commit(entry(turnStarted), 1);
    journal.write({ agent: "a", round: 1, call: "c", kind: "text" }, "first, at once", null);
    journal.write({ agent: "a", round: 1, call: "c", kind: "text" }, " and the rest", null);
    journal.commit(entry(attemptStarted), 2);
    const rows = [...log.read({ after: 0, upTo: 9, deltas: true })];
    expect(rows.map(({ seq, type }) => [seq, type])).toEqual([
      [1, "turn.started"],
      [2, "stream.delta"],
      [3, "stream.delta"],
      [4, "attempt.started"],
    ]);
  });
});

it("stores the resume point of a reply together with the text before it, and deletes it when the call ends", async () => {
  await inObject(async ({ journal, log, points }) => {
    const source = { agent: "a", round: 1, call: "c", kind: "text" } as const;
    const storedText = () =>
      [...log.readDeltas(1)].map(({ body }) => JSON.parse(body).items[0].text);
    journal.commit(entry(turnStarted), 1);
    journal.write(source, "at once", { id: "reply_1", after: 7 });
    expect([storedText(), points.find("c")]).toEqual([["at once"], { id: "reply_1", after: 7 }]);
    journal.write(source, ", later", { id: "reply_1", after: 8 });
    expect([storedText(), points.find("c")]).toEqual([["at once"], { id: "reply_1", after: 7 }]);
    journal.commit(entry(attemptStarted), 2);
    expect([storedText(), points.find("c")]).toEqual([
      ["at once", ", later"],
      { id: "reply_1", after: 8 },
    ]);
    journal.commit(entry(callFailed("c")), 3);
    expect(points.find("c")).toBeNull();
    journal.notePoint("d", { id: "reply_2", after: 0 });
    expect(points.find("d")).toEqual({ id: "reply_2", after: 0 });
  });
});

it("stores nothing of a failed transaction, and aborts the object", async () => {
  await inObject(async ({ journal, log, disk }) => {
    journal.commit(entry(turnStarted), 1);
    disk.refuses = true;
    expect(() => journal.commit(entry(attemptStarted), 2)).toThrow("disk full");
    expect(disk.aborted).toEqual([BEGINS_AGAIN]);
    expect([...log.read({ after: 0, upTo: 9, deltas: true })]).toHaveLength(1);
  });
});
