import { describe, expect, it } from "vitest";
import { PNG, image, text } from "../../../api/sessions/attachments";
import { follow, type Run, start, teamOf } from "../session-client";
import {
  ask,
  cancel,
  eventsOf,
  pushContext,
  queue,
  resume,
  startOf,
  statusesOf,
  untilTurns,
} from "./queue-client";

/** Queued questions that are refused at their start: their repetition asks what they asked. */

/** A session whose first turn waits for its cancellation. */
const waiting = (): Promise<Run> => start(teamOf(["hanging", "looker"]), { question: "Wait." });

/** Queues a question that is refused when it starts, as turn 2. */
async function refuse(run: Run, asked: unknown, more: object): Promise<void> {
  await queue(run, asked, more);
  await cancel(run);
  await resume(run);
  await untilTurns(run, 2);
  expect(await statusesOf(run)).toEqual(["cancelled", "failed"]);
}

/** Sends a request for a turn that starts at once. Returns its status and the code of an error. */
async function send(run: Run, more: object): Promise<{ status: number; code?: string; run: Run }> {
  const response = await ask(run, undefined, more);
  const body = await response.json<Run & { code?: string }>();
  return { status: response.status, ...(body.code && { code: body.code }), run: body };
}

async function repeat(run: Run): Promise<Run> {
  const { status, run: next } = await send(run, { repeat_turn: 2 });
  expect(status).toBe(202);
  await follow(next);
  return next;
}

const ALONE = { ...teamOf(["looker", "looker"]), ui: { use_orchestrator_for_single_agent: true } };

describe("the repetition of a queued question that was refused at its start", () => {
  it("has its contexts, attachments, team and overrides", async () => {
    const run = await waiting();
    const contexts = [{ name: "refused-late", permission: "write" }];
    const overrides = { agents: ["a1"] };
    await refuse(run, [text("What is it?"), image(PNG, "photo.png")], {
      ...{ config: ALONE, contexts, overrides },
    });
    const refused = await startOf(run, 2);
    expect(refused).not.toHaveProperty("grants");
    await pushContext("refused-late", "one");
    const again = await startOf(run, (await repeat(run)).turn);
    expect(again).toMatchObject({
      ...{ turn: 3, question: "What is it?", parent_turn: 1, grants: contexts, overrides },
      attachments: [{ name: "photo.png", media_type: "image/png" }],
      rules: { agents: [{ id: "a0", model: "looker" }, { id: "a1" }] },
    });
    expect(again.contexts).toMatchObject([{ name: "refused-late", permissions: { a1: "write" } }]);
    expect((await eventsOf(run)).at(-1)).toMatchObject({
      type: "turn.completed",
      answer: expect.stringContaining("image/png"),
    });
  });

  it("takes back the contexts of its parent, if the question did", async () => {
    await pushContext("refused-kept", "one");
    const contexts = [{ name: "refused-kept", permission: "read" }];
    const run = await start(teamOf(["hanging", "looker"]), { question: "Wait.", contexts });
    await refuse(run, "Go on.", { contexts: [], budget: { max_tokens: 1 } });
    expect(await startOf(run, 2)).toMatchObject({ grants: contexts });
    const { status, run: again } = await send(run, { repeat_turn: 2 });
    expect(status).toBe(202);
    await cancel(run);
    expect(await startOf(run, again.turn)).not.toHaveProperty("grants");
  });

  it("does not pass its contexts on to the turns that follow it", async () => {
    const run = await waiting();
    await refuse(run, "Look.", { config: ALONE, contexts: [{ name: "refused-never" }] });
    const response = await ask(run, "And now?", {});
    expect(response.status).toBe(202);
    const next = await response.json<Run>();
    await follow(next);
    const started = await startOf(run, next.turn);
    expect(started).toMatchObject({ parent_turn: 2, rules: { agents: [{}, {}] } });
    for (const field of ["grants", "contexts", "requested"])
      expect(started).not.toHaveProperty(field);
  });

  it.each([
    {
      name: "overrides that do not fit",
      asked: "Look.",
      more: { overrides: { agents: ["nobody"] } },
      code: "overrides_invalid",
    },
    {
      name: "a file that a model does not support",
      asked: [text("What is it?"), image(PNG, "photo.png")],
      more: { config: teamOf(["gpt-oss-looker"]) },
      code: "attachment_refused",
    },
  ])("is refused too, because of $name", async ({ asked, more, code }) => {
    const run = await waiting();
    await refuse(run, asked, more);
    expect((await eventsOf(run)).at(-1)).toMatchObject({ type: "turn.failed", code });
    expect(await send(run, { repeat_turn: 2 })).toMatchObject({ status: 422, code });
    expect(await statusesOf(run)).toHaveLength(2);
  });
});
