import { describe, expect, it } from "vitest";
import * as b from "../protocol/builders";
import { Ask } from "./ask-process";
import { problem, Service, type ServiceOptions } from "./service";

const events = b.log(b.story);
const start = (options: Partial<ServiceOptions> = {}) => Service.start({ events, ...options });
/** A run in which anna has answered and nothing more happens. */
const running: Partial<ServiceOptions> = {
  events: events.slice(0, 13),
  onCancel: b.cancelled("Quicksort, so far.\x1b[2J"),
};

describe("Ctrl+C", () => {
  const ANSWERED = "anna answers: agent1.1";
  const LOOK_EVERY_MS = 20;

  /** How often one looks, every 20 ms of a machine that runs, until something is over. */
  async function looksUntil(over: Promise<unknown>): Promise<number> {
    let [looks, isOver] = [0, false];
    void over.then(() => (isOver = true));
    for (; !isOver; looks += 1) await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
    return looks;
  }

  it("once: leaves the run alone, says how to attach again, ends with 4 after a moment", async () => {
    await using service = await start(running);
    const ask = new Ask(["q", "--verbose", "--server", service.url]);
    await ask.says(ANSWERED);
    const begin = Date.now();
    ask.interrupt();
    await ask.says(`npm run ask -- attach ${b.SESSION} --server ${service.url}\n`);
    expect(await ask.ended()).toBe(4);
    expect(Date.now() - begin).toBeGreaterThan(1_900);
    expect(Date.now() - begin).toBeLessThan(10_000);
    expect(service.requests.some(({ path }) => path.endsWith("/cancel"))).toBe(false);
    expect(ask.stdout).toBe("");
  });

  it("before the service answered: ends with 4 at once and promises nothing", async () => {
    await using service = await start({ hangs: ["/api/runs"] });
    const ask = new Ask(["q", "--server", service.url]);
    while (service.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    ask.interrupt();
    expect([await ask.ended(), ask.stderr]).toEqual([
      4,
      "Interrupted before the service answered; a run may have begun.\n",
    ]);
  });

  it("twice: cancels the run, prints what there is, ends with 4", async () => {
    await using service = await start(running);
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
      "Cancelling the run …\nWhat there is so far:\nQuicksort, so far.\ncancelled\n",
    );
    expect(ask.stdout).toBe("");
  });

  it("twice, when the run cannot be cancelled: says why and ends with 4", async () => {
    const path = `/api/sessions/${b.SESSION}/cancel`;
    await using service = await start({
      ...running,
      answers: { [path]: problem(503, { title: "Overloaded", code: "overloaded" }) },
    });
    const ask = new Ask(["q", "--verbose", "--server", service.url]);
    await ask.says(ANSWERED);
    ask.interrupt();
    await ask.says("Press Ctrl+C again");
    ask.interrupt();
    expect(await ask.ended()).toBe(4);
    expect(ask.stderr).toContain("It could not be cancelled: Overloaded (503 overloaded)");
  });

  it("once, when the run ends in that moment: still prints the answer", async () => {
    await using service = await start(running);
    const ask = new Ask(["q", "--verbose", "--server", service.url]);
    await ask.says(ANSWERED);
    ask.interrupt();
    await ask.says("Press Ctrl+C again");
    // It does not sit out the moment, which is 2 s of the command's own: while the machine stalls neither it nor these looks go on.
    const looks = looksUntil(ask.ended());
    service.push(b.completed("anna", "Just in time."));
    expect([await ask.ended(), ask.stdout]).toEqual([0, "Just in time.\n"]);
    expect(await looks).toBeLessThan(1_200 / LOOK_EVERY_MS);
  });

  it("while it waits for the connection to come back: detaches all the same", async () => {
    await using service = await start({
      ...running,
      connections: [{ send: 13, ends: "cut" }],
      retryMs: 60_000,
    });
    const ask = new Ask(["q", "--verbose", "--server", service.url]);
    await ask.says("reconnecting");
    ask.interrupt();
    await ask.says("Detached: the run goes on.");
    expect(await ask.ended()).toBe(4);
  });
});
