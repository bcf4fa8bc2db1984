import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { LOCAL_TENANT } from "../../../../src/tenancy/principal";
import type { Run } from "../session-client";
import {
  cancel,
  pinsOf,
  pushContext,
  queue,
  question,
  queueOf,
  remove,
  resume,
  startSession,
  statusesOf,
  untilHeld,
  untilTurns,
} from "./queue-client";

/** Requests that leave the queue while the tenant is asked whether their turns may start. */

const tenant = () => env.TENANTS.get(env.TENANTS.idFromName(LOCAL_TENANT));

/**
 * Makes the tenant's object wait with its answers. Returns the function that ends that. Responses
 * to changing requests wait too, because the tenant's object records these requests.
 */
async function block(): Promise<() => Promise<void>> {
  let isBlocked = false;
  let isEnded = false;
  const blocking = runInDurableObject(tenant(), (_, state) =>
    state.blockConcurrencyWhile(async () => {
      isBlocked = true;
      while (!isEnded) await new Promise((resolve) => setTimeout(resolve, 5));
    }),
  );
  await vi.waitUntil(() => isBlocked);
  return async () => {
    isEnded = true;
    await blocking;
  };
}

/** The places that the tenant reserves for turns of the session. */
const leasesOf = ({ session_id }: Run): Promise<number[]> =>
  runInDurableObject(tenant(), (_, { storage }) =>
    storage.sql
      .exec<{ turn: number }>("SELECT turn FROM leases WHERE session = ?", session_id)
      .toArray()
      .map(({ turn }) => turn),
  );

const untilPins = (run: Run, pins: readonly string[]) =>
  vi.waitFor(async () => expect(await pinsOf(run)).toEqual(pins), { timeout: 20_000 });

/** A session with a held queue of one question, which names this context. */
async function heldQuestion(context: string): Promise<{ run: Run; id: string }> {
  await pushContext(context, "one");
  const run = await startSession("stalled");
  const id = await queue(run, question(2), { contexts: [{ name: context }] });
  await cancel(run);
  await untilHeld(run);
  await vi.waitUntil(async () => (await leasesOf(run)).length === 0, { timeout: 20_000 });
  return { run, id };
}

describe("a queued question that leaves the queue while the tenant is asked", () => {
  it("releases its pinned contexts and its place if it was removed", async () => {
    const { run, id } = await heldQuestion("removed-while-asked");
    const unblock = await block();
    const responses = [resume(run)];
    await untilPins(run, ["2: removed-while-asked"]);
    responses.push(remove(run, id));
    await vi.waitUntil(async () => (await queueOf(run)).data.length === 0, { timeout: 20_000 });
    await unblock();
    expect((await Promise.all(responses)).map(({ status }) => status)).toEqual([200, 204]);
    await untilPins(run, []);
    await vi.waitUntil(async () => (await leasesOf(run)).length === 0, { timeout: 20_000 });
    expect(await statusesOf(run)).toEqual(["cancelled"]);
  });

  it("pins its contexts once if it was held and is resumed", async () => {
    const { run } = await heldQuestion("held-while-asked");
    const unblock = await block();
    const responses = [resume(run)];
    await untilPins(run, ["2: held-while-asked"]);
    responses.push(cancel(run));
    await untilHeld(run);
    await unblock();
    await Promise.all(responses);
    await untilPins(run, []);
    await resume(run);
    await untilTurns(run, 2);
    await untilPins(run, ["2: held-while-asked"]);
    expect(await statusesOf(run)).toEqual(["cancelled", "completed"]);
  });
});
