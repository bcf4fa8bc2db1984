import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { CallStore } from "../../durable-objects/call-store";
import { STORE } from "../../durable-objects/limits";
import { createTables } from "../../durable-objects/schema";
import type { CallRecord, RoundRecord } from "../../src/agents/records";

const at = (agent: number, record: CallRecord): RoundRecord => ({ agent, attempt: 1, round: 1, record });

it("gives back every record of a round in order, however large, in rows that a row may be", async () => {
  const stub = env.SESSIONS.get(env.SESSIONS.newUniqueId());
  await runInDurableObject(stub, (_, { storage: { sql } }) => {
    createTables(sql);
    const store = new CallStore(sql);
    const long = `${"😀\n\u0000".repeat(STORE.callChunkChars / 2)}`;
    const start: CallRecord = { kind: "start", system: "s", user: long };
    const notes: CallRecord[] = ["one", `${long}!`, "three"].map((text) => ({ kind: "note", text }));
    store.append(1, [at(0, start), at(1, { kind: "note", text: "another's" })]);
    for (const note of notes) store.append(1, [at(0, note)]);
    expect(store.read({ turn: 1, attempt: 1, agent: 0, round: 1 })).toEqual([start, ...notes]);
    expect(store.read({ turn: 1, attempt: 1, agent: 1, round: 1 })).toHaveLength(1);
    expect(store.read({ turn: 1, attempt: 1, agent: 2, round: 1 })).toEqual([]);
    const sizes = sql.exec<{ size: number }>("SELECT length(CAST(body AS BLOB)) AS size FROM calls").toArray();
    expect(sizes.length).toBeGreaterThan(5);
    for (const { size } of sizes) expect(size).toBeLessThan(1_000_000);
  });
});
