import { runInDurableObject } from "cloudflare:test";
import { describe, expect, it } from "vitest";
import { isDone, runOf, sessionsOf, stubOf, until } from "../../evals/eval-client";
import { request } from "../session/session-client";

/**
 * The erasure of a session deletes its texts everywhere. The outcome and the cost of a case contain
 * no text of the session, so they are not deleted.
 */

const erase = async (id: string | undefined) =>
  (await request(`/api/sessions/${id}`, { method: "DELETE" })).status;
/** The stored states of the run's cases in the run's object, as JSON. */
const storedStates = (run: Parameters<typeof stubOf>[0]) =>
  runInDurableObject(stubOf(run), (_, { storage }) =>
    JSON.stringify(storage.sql.exec("SELECT state FROM cases").toArray()),
  );

describe("the erasure of a session of an evaluation", () => {
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

  it("deletes them also if the result is not stored in D1 yet", async () => {
    const run = runOf("erased-between", ["quick", "plain"]);
    await stubOf(run).start(run);
    const erasedSession = sessionsOf(run)[0];
    // Waits for the first case, because the second case may end before it.
    await until(run, ({ results }) =>
      results.some(({ session_id }) => session_id === erasedSession),
    );
    // Restores the state before the answer was written to D1, as after an interruption.
    await runInDurableObject(stubOf(run), (_, { storage }) => {
      storage.sql.exec(
        "UPDATE cases SET saved = 0, state = json_set(state, '$.result.answer', 'words that were erased', '$.result.detail', 'words') WHERE nth = 0",
      );
    });
    expect(await erase(erasedSession)).toBe(204);
    const page = await until(run, isDone);
    expect(page.results[0]).toMatchObject({
      session_id: erasedSession,
      erased: true,
      answer: null,
      detail: "its session was erased",
    });
    expect(await storedStates(run)).not.toContain("words");
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

  it("is not needed in the run's object, which deletes the answer once the result is in D1", async () => {
    const run = runOf("kept-once", ["plain", "solid"]);
    await stubOf(run).start(run);
    const page = await until(run, isDone);
    expect(page.results[0]?.answer).toContain("42");
    await expect.poll(() => storedStates(run)).not.toMatch(/"answer\\*":\\*"/);
  });

  it("does not change the reason of a case that never had a session", async () => {
    const run = { ...runOf("erased-none", ["quick"]), team: null, problem: "The team has no key." };
    await stubOf(run).start(run);
    await until(run, isDone);
    expect(await erase(sessionsOf(run)[0])).toBe(404);
    const page = await until(run, isDone);
    expect(page.results[0]).toMatchObject({ erased: false, detail: "The team has no key." });
  });
});
