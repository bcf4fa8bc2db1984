import { runInDurableObject } from "cloudflare:test";
import { describe, expect, it } from "vitest";
import { isDone, runOf, sessionsOf, stubOf, until } from "../../evals/eval-client";
import { request } from "../session/session-client";

/**
 * Erasing a session deletes its words everywhere. The outcome and the cost of a case contain no
 * words of the session, so they stay.
 */

const erase = async (id: string | undefined) =>
  (await request(`/api/sessions/${id}`, { method: "DELETE" })).status;
const kept = (run: Parameters<typeof stubOf>[0]) =>
  runInDurableObject(stubOf(run), (_, { storage }) =>
    JSON.stringify(storage.sql.exec("SELECT state FROM cases").toArray()),
  );

describe("erasing a session of an evaluation", () => {
  it("deletes its answer and the grader's reason, and keeps the outcome and the cost", async () => {
    const run = runOf("erased-after", ["plain", "solid"]);
    await stubOf(run).start(run);
    const before = await until(run, isDone);
    const [first, second] = sessionsOf(run);
    expect(before.results[0]).toMatchObject({
      erased: false,
      outcome: "passed",
      answer: expect.stringContaining("42"),
    });
    expect(await erase(first)).toBe(204);
    const after = await until(run, isDone);
    const { outcome, pass, cost_usd, duration_ms } = before.results[0] ?? {};
    expect(after.results[0]).toMatchObject({
      ...{ outcome, pass, cost_usd, duration_ms, session_id: first },
      ...{ erased: true, answer: null, answer_is_cut: false, detail: "its session was erased" },
    });
    expect([after.results[1], after.passed]).toEqual([before.results[1], before.passed]);
    expect(after.results[1]?.session_id).toBe(second);
    expect(await erase(first)).toBe(404);
  });

  it("deletes them also between the session's end and the stored result", async () => {
    const run = runOf("erased-between", ["quick", "plain"]);
    await stubOf(run).start(run);
    const late = sessionsOf(run)[0];
    // the second case may end first
    await until(run, ({ results }) => results.some(({ session_id }) => session_id === late));
    // The object still has to write the answer, as after an interruption before the write; the
    // session is erased first.
    await runInDurableObject(stubOf(run), (_, { storage }) => {
      storage.sql.exec(
        "UPDATE cases SET saved = 0, state = json_set(state, '$.result.answer', 'words that were erased', '$.result.detail', 'words') WHERE nth = 0",
      );
    });
    expect(await erase(late)).toBe(204);
    const page = await until(run, isDone);
    expect(page.results[0]).toMatchObject({
      session_id: late,
      erased: true,
      answer: null,
      detail: "its session was erased",
    });
    expect(await kept(run)).not.toContain("words");
  });

  it("ends the case if it still runs", async () => {
    const run = runOf("erased-running", ["hanging"], { at_once: 3 });
    await stubOf(run).start(run);
    const [first] = sessionsOf(run);
    await expect.poll(() => erase(first)).toBe(204);
    const page = await until(run, ({ results }) => results.length === 1);
    expect(page.results[0]).toMatchObject({
      session_id: first,
      outcome: "errored",
      erased: true,
      detail: "its session was erased",
    });
    for (const id of sessionsOf(run).slice(1)) expect(await erase(id)).toBe(204);
    expect(await until(run, isDone)).toMatchObject({ errored: 3 });
  });

  it("removes the answer from the object of the run once the result is stored", async () => {
    const run = runOf("kept-once", ["plain", "solid"]);
    await stubOf(run).start(run);
    const page = await until(run, isDone);
    expect(page.results[0]?.answer).toContain("42");
    await expect.poll(() => kept(run)).not.toMatch(/"answer\\*":\\*"/);
  });

  it("keeps the reason of a case that never had a session", async () => {
    const run = { ...runOf("erased-none", ["quick"]), team: null, problem: "The team has no key." };
    await stubOf(run).start(run);
    await until(run, isDone);
    expect(await erase(sessionsOf(run)[0])).toBe(404);
    const page = await until(run, isDone);
    expect(page.results[0]).toMatchObject({ erased: false, detail: "The team has no key." });
  });
});
