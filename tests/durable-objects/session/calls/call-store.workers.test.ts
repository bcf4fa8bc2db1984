import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { CallStore } from "../../../../durable-objects/session/calls/call-store";
import { STORE } from "../../../../durable-objects/shared/object-limits";
import { toRow } from "../../../../durable-objects/session/streams/frames";
import { plannedCalls } from "../../../../durable-objects/session/calls/planned-call-reader";
import { createTables } from "../../../../durable-objects/session/session-tables";
import { SessionLog } from "../../../../durable-objects/session/log/session-log";
import type { SessionEvent } from "../../../../src/protocol/events";
import type { CallRecord, RoundRecord } from "../../../../src/agents/records";

const recordOf = (agent: number, record: CallRecord): RoundRecord => ({
  agent,
  attempt: 1,
  round: 1,
  record,
});

it("returns all records of a round in order, in rows of a limited size", async () => {
  const stub = env.SESSIONS.get(env.SESSIONS.newUniqueId());
  await runInDurableObject(stub, (_, { storage: { sql } }) => {
    createTables(sql);
    const store = new CallStore(sql);
    const long = `${"😀\n\u0000".repeat(STORE.callChunkChars / 2)}`;
    const start: CallRecord = { kind: "start", system: "s", user: long };
    const notes: CallRecord[] = ["one", `${long}!`, "three"].map((text) => ({
      kind: "note",
      text,
    }));
    store.append(1, [recordOf(0, start), recordOf(1, { kind: "note", text: "of another agent" })]);
    for (const note of notes) store.append(1, [recordOf(0, note)]);
    expect(store.read({ turn: 1, attempt: 1, agent: 0, round: 1 })).toEqual([start, ...notes]);
    expect(store.read({ turn: 1, attempt: 1, agent: 1, round: 1 })).toHaveLength(1);
    expect(store.read({ turn: 1, attempt: 1, agent: 2, round: 1 })).toEqual([]);
    const sizes = sql
      .exec<{ size: number }>("SELECT length(CAST(body AS BLOB)) AS size FROM calls")
      .toArray();
    expect(sizes.length).toBeGreaterThan(5);
    for (const { size } of sizes) expect(size).toBeLessThan(1_000_000);
  });
});

it("finds only the calls that this agent planned in this attempt, with their arguments", async () => {
  const stub = env.SESSIONS.get(env.SESSIONS.newUniqueId());
  await runInDurableObject(stub, (_, { storage: { sql } }) => {
    createTables(sql);
    const log = new SessionLog(sql);
    const store = new CallStore(sql);
    const completed = (
      agent: string,
      attempt: number,
      tool_call: string,
      outcome: "planned" | "ok",
    ): SessionEvent => ({
      type: "tool.completed",
      at: 1,
      turn: 1,
      attempt,
      agent,
      round: 1,
      tool_call,
      name: "send_mail",
      outcome,
    });
    log.placeTurn(1, null, 1);
    log.append([
      toRow(completed("ann", 1, "old", "planned")),
      toRow(completed("ann", 2, "read", "ok")),
      toRow(completed("ann", 2, "mail", "planned")),
      toRow(completed("ben", 2, "other", "planned")),
    ]);
    const items = [
      { type: "tool_call" as const, id: "mail", name: "send_mail", arguments: '{"to":"all"}' },
    ];
    store.append(1, [{ agent: 0, attempt: 2, round: 1, record: { kind: "reply", items } }]);
    expect(plannedCalls(log, store, { turn: 1, attempt: 2, agent: 0, id: "ann" })).toEqual({
      calls: [{ name: "send_mail", arguments: '{"to":"all"}' }],
      leftOut: 0,
    });
  });
});
