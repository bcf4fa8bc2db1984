import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { sessionPrefix } from "../../../../r2-layout/session-files";
import type { TurnResponse } from "../../../../src/protocol/api";
import { LOCAL_TENANT } from "../../../../src/tenancy/principal";
import { file, text } from "../../../api/sessions/attachments";
import { eventsPath, request, type Run, start, teamOf } from "../session-client";
import {
  ask,
  cancel,
  queue,
  queued,
  queueOf,
  question,
  remove,
  resume,
  startSession,
  statusesOf,
  untilHeld,
  untilTurns,
} from "./queue-client";

/** What a queued request consists of, and what its readers see. */

const filesOf = async ({ session_id }: Run, folder: string): Promise<string[]> => {
  const prefix = `${sessionPrefix(LOCAL_TENANT, session_id)}${folder}/`;
  return (await env.BUCKET.list({ prefix })).objects.map(({ key }) => key.slice(prefix.length));
};
const turnOf = async ({ session_id }: Run, turn: number): Promise<TurnResponse> =>
  (await request(`/api/sessions/${session_id}/turns/${turn}`)).json();

const note = (contents: string) => file(new TextEncoder().encode(contents), "note.txt");

/** A session whose first turn waits for its cancellation, with a model that lists attachments. */
async function lookingSession(): Promise<Run> {
  return start(teamOf(["hanging", "looker"]), { question: "Wait." });
}

describe("the attachments of a queued question", () => {
  it("are stored with it, and are sent when its turn starts", async () => {
    const run = await lookingSession();
    const id = await queue(run, [text("What is it?"), note("a note")]);
    expect(await filesOf(run, "queue")).toHaveLength(1);
    expect((await queueOf(run)).data).toMatchObject([{ attachments: 1 }]);
    await cancel(run);
    await resume(run);
    const turn = await vi.waitUntil(async () => (await queued(run, id)).turn, { timeout: 20_000 });
    expect((await turnOf(run, turn)).attachments).toMatchObject([{ name: "note.txt" }]);
    await vi.waitUntil(async () => (await filesOf(run, "queue")).length === 0);
    expect(await filesOf(run, "attachments")).toHaveLength(1);
    await vi.waitUntil(
      async () => {
        const { attempts } = await turnOf(run, turn);
        return attempts[0]?.answers.length === 1;
      },
      { timeout: 20_000 },
    );
    await cancel(run);
  });

  it("are removed with it", async () => {
    const run = await lookingSession();
    const id = await queue(run, [text("What is it?"), note("secret")]);
    await queue(run, [text("And this?"), note("secret")]);
    await remove(run, id);
    expect(await filesOf(run, "queue")).toHaveLength(1);
    await cancel(run);
  });

  it("are erased with the session", async () => {
    const run = await lookingSession();
    await queue(run, [text("What is it?"), note("secret")]);
    await request(`/api/sessions/${run.session_id}`, { method: "DELETE" });
    expect(await filesOf(run, "queue")).toEqual([]);
  });
});

describe("a queued question that is refused when it starts", () => {
  it("fails its turn with the code of the refusal, and holds the queue", async () => {
    const run = await startSession("stalled");
    const id = await queue(run, [text("Look."), note("kept")], {
      contexts: [{ name: "nothing-here" }],
    });
    await queue(run, question(3));
    await cancel(run);
    await resume(run);
    await untilHeld(run);
    expect(await statusesOf(run)).toEqual(["cancelled", "failed"]);
    const turn = await turnOf(run, 2);
    expect(turn).toMatchObject({
      ...{ question: "Look.", parent_turn: 1, cost_usd: 0, attempts: [] },
      error: { code: "context_missing", agents: [] },
      attachments: [{ name: "note.txt" }],
    });
    expect(turn.error?.message).toContain("nothing-here");
    expect(await queued(run, id)).toMatchObject({ turn: 2, position: null });
    expect(await queueOf(run)).toMatchObject({ held: { code: "turn_failed" }, data: [{}] });
    // The attachments can be asked about again, and the next turn leaves the refused one out.
    const [{ sha256 = "" } = {}] = turn.attachments ?? [];
    const again = await ask(run, [text(question(4)), { type: "file", sha256 }], {});
    expect(again.status).toBe(202);
    await untilTurns(run, 3);
    expect((await turnOf(run, 3)).answer).toContain("Earlier: question 1 unfinished");
  });

  it("does not use a budget that is too small", async () => {
    const run = await startSession("stalled");
    await queue(run, question(2), { budget: { max_tokens: 1 } });
    await cancel(run);
    await resume(run);
    await untilTurns(run, 2);
    expect((await turnOf(run, 2)).error?.code).toBe("budget_too_small");
  });
});

/** Reads a stream until its text satisfies the condition; returns the text. */
async function readUntil(path: string, isEnough: (text: string) => boolean): Promise<string> {
  const { body } = await request(path);
  let received = "";
  const decoder = new TextDecoder();
  for await (const bytes of body ?? []) {
    received += decoder.decode(bytes, { stream: true });
    if (isEnough(received)) return received;
  }
  return received;
}

const frames = (stream: string): string[] =>
  stream.split("\n\n").filter((frame) => frame.startsWith("event: queue.changed"));
const dataOf = (frame = "") => JSON.parse(/^data: (.*)$/m.exec(frame)?.[1] ?? "null");

describe("a reader of a session", () => {
  it("gets the queue at first and after each change, as an event without an id", async () => {
    const run = await startSession("stalled");
    const id = await queue(run, question(2));
    const path = `/api/sessions/${run.session_id}/events`;
    const reading = readUntil(path, (stream) => frames(stream).length >= 3);
    await vi.waitUntil(async () => (await queueOf(run)).data.length === 1);
    await new Promise((resolve) => setTimeout(resolve, 200));
    await queue(run, question(3));
    await new Promise((resolve) => setTimeout(resolve, 200));
    await remove(run, id);
    const received = frames(await reading);
    expect(received.join("")).not.toMatch(/^id:/m);
    expect(received.map((frame) => dataOf(frame).data.length)).toEqual([1, 2, 1]);
    expect(dataOf(received[0])).toMatchObject({
      ...{ type: "queue.changed", session_id: run.session_id, held: null },
      data: [{ id, position: 1 }],
    });
    await cancel(run);
  });

  it("gets no such event as long as nothing was queued", async () => {
    const run = await startSession("completed");
    const stream = await (await request(eventsPath(run))).text();
    expect(stream).not.toContain("queue.changed");
  });
});

it("a request that no row of the queue can store is refused, and says how large it may be", async () => {
  const run = await startSession("stalled");
  const { agents: team }: { agents: object[] } = JSON.parse(JSON.stringify(teamOf(["chronicler"])));
  const long = "長".repeat(60_000);
  const agents = ["a", "b", "c", "d"].map((id) => ({ ...team[0], id, system_message: long }));
  // As JSON, each of these characters has six bytes.
  const asked = "\u0001".repeat(190_000);
  const refused = await ask(run, asked, { on_busy: "queue", config: { agents } });
  expect([refused.status, await refused.json()]).toMatchObject([
    ...[413, { code: "body_too_large", limit: 1_800_000 }],
  ]);
  expect((await queueOf(run)).data).toEqual([]);
  await cancel(run);
});
