import { abortAllDurableObjects, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import type { SessionObject } from "../../../durable-objects/session/session-object";
import { LOCAL_TENANT, sessionName } from "../../../src/tenancy/principal";
import { follow, post, type Run, start, teamOf } from "./session-client";

/** A session of an earlier version: its turns so far keep the nonces of that version. */

type Stub = DurableObjectStub<SessionObject>;
const stubOf = ({ session_id }: Run): Stub =>
  env.SESSIONS.get(env.SESSIONS.idFromName(sessionName(null, LOCAL_TENANT, session_id))) as Stub;

const KEY = "changing_nonces_up_to";

/** The stored number of the last turn with changing nonces. */
const storedOf = (run: Run): Promise<string | undefined> =>
  runInDurableObject(stubOf(run), (_, { storage }) => {
    const query = "SELECT value FROM meta WHERE key = ?";
    return storage.sql.exec<{ value: string }>(query, KEY).toArray()[0]?.value;
  });

/** Makes the session one of an earlier version, and loads it again. */
async function downgrade(run: Run): Promise<void> {
  await runInDurableObject(stubOf(run), (_, { storage }) => {
    storage.sql.exec("DELETE FROM meta WHERE key = ?", KEY);
  });
  await abortAllDurableObjects();
}

it("a session knows up to which turn nonces changed with each attempt, also after further turns", async () => {
  const first = await start(teamOf(["quick", "solid"]));
  await follow(first);
  expect(await storedOf(first)).toBe("0");
  await downgrade(first);
  const again = await post(`/api/sessions/${first.session_id}/turns`, { question: "And then?" });
  const second = await again.json<Run>();
  await follow(second);
  expect(second.turn).toBe(2);
  expect(await storedOf(first)).toBe("1");
  await abortAllDurableObjects();
  expect(await storedOf(first)).toBe("1");
});
