import { describe, expect, it } from "vitest";
import * as b from "../protocol/builders";
import { Ask } from "./ask-process";
import { problem, Service, type ServiceOptions } from "./service";

const events = b.log(b.story);
const start = (options: Partial<ServiceOptions> = {}) => Service.start({ events, ...options });
/** A run in which anna has answered, without further events. */
const runningTurn: Partial<ServiceOptions> = {
  events: events.slice(0, 13),
  onCancel: b.cancelled("Quicksort, so far.\x1b[2J"),
};

describe("Ctrl+C", () => {
  const ANSWERED = "anna answers: agent1.1";
  const INTERVAL_MS = 20;

  /** Counts 20 ms intervals until a promise settles. A stalled machine does not count. */
  async function intervalsUntil(promise: Promise<unknown>): Promise<number> {
    let [intervals, isSettled] = [0, false];
    void promise.then(() => (isSettled = true));
    for (; !isSettled; intervals += 1)
      await new Promise((resolve) => setTimeout(resolve, INTERVAL_MS));
    return intervals;
  }

  it("once: lets the run continue, prints the command to attach again, and ends with 4 after 2 s", async () => {
    await using service = await start(runningTurn);
    const ask = new Ask(["q", "--verbose", "--server", service.url]);
    await ask.says(ANSWERED);
    const startedAt = Date.now();
    ask.interrupt();
    await ask.says(`npm run ask -- attach ${b.SESSION} --server ${service.url}\n`);
    expect(await ask.ended()).toBe(4);
    expect(Date.now() - startedAt).toBeGreaterThan(1_900);
    expect(Date.now() - startedAt).toBeLessThan(10_000);
    expect(service.requests.some(({ path }) => path.endsWith("/cancel"))).toBe(false);
    expect(ask.stdout).toBe("");
  });

  it("before the service answered: ends with 4 at once", async () => {
    await using service = await start({ hangs: ["/api/runs"] });
    const ask = new Ask(["q", "--server", service.url]);
    while (service.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    ask.interrupt();
    expect([await ask.ended(), ask.stderr]).toEqual([
      4,
      "Interrupted before the service answered; a run may have begun.\n",
    ]);
  });

  it("twice: cancels the run, prints the partial answer, and ends with 4", async () => {
    await using service = await start(runningTurn);
    const ask = new Ask(["q", "--verbose", "--server", service.url]);
    await ask.says(ANSWERED);
    ask.interrupt();
    await ask.says("Press Ctrl+C again within 2 s to cancel the run.");
    ask.interrupt();
    expect(await ask.ended()).toBe(4);
    expect(service.requests.filter(({ path }) => path.endsWith("/cancel"))).toMatchObject([
      { method: "POST" },
    ]);
    expect(ask.stderr).toContain(
      "Cancelling the run …\nPartial answer:\nQuicksort, so far.\ncancelled\n",
    );
    expect(ask.stdout).toBe("");
  });

  it("twice, if the run cannot be cancelled: prints the reason and ends with 4", async () => {
    const path = `/api/sessions/${b.SESSION}/cancel`;
    await using service = await start({
      ...runningTurn,
      answers: { [path]: problem(503, { title: "Overloaded", code: "overloaded" }) },
    });
    const ask = new Ask(["q", "--verbose", "--server", service.url]);
    await ask.says(ANSWERED);
    ask.interrupt();
    await ask.says("Press Ctrl+C again");
    ask.interrupt();
    expect(await ask.ended()).toBe(4);
    expect(ask.stderr).toContain("Cannot cancel the run: Overloaded (503 overloaded)");
  });

  it("once, if the run ends within the 2 s: still prints the answer", async () => {
    await using service = await start(runningTurn);
    const ask = new Ask(["q", "--verbose", "--server", service.url]);
    await ask.says(ANSWERED);
    ask.interrupt();
    await ask.says("Press Ctrl+C again");
    // The command does not wait until its 2 s are over. While the machine stalls, neither the
    // command's timer nor this count advances.
    const intervals = intervalsUntil(ask.ended());
    service.push(b.completed("anna", "Just in time."));
    expect([await ask.ended(), ask.stdout]).toEqual([0, "Just in time.\n"]);
    expect(await intervals).toBeLessThan(1_200 / INTERVAL_MS);
  });

  it("while the command reconnects: detaches too", async () => {
    await using service = await start({
      ...runningTurn,
      connections: [{ send: 13, ends: "cut" }],
      retryMs: 60_000,
    });
    const ask = new Ask(["q", "--verbose", "--server", service.url]);
    await ask.says("reconnecting");
    ask.interrupt();
    await ask.says("Detached: the run continues.");
    expect(await ask.ended()).toBe(4);
  });
});
