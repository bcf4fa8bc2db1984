import { expect, it } from "vitest";
import { Faults } from "./engine/faults";
import { ToolServer } from "./engine/tools";
import { VirtualTime } from "./engine/virtual-time";

const SEED = 1;
const place = { session: "s", turn: 1, attempt: 1, agent: "a", round: 1 };

/** Calls a tool of a server without faults. The caller aborts at the first notification. */
function callAndAbort(toolCall: string) {
  const time = new VirtualTime(SEED);
  const plan = { seed: SEED, faults: [], calmAfterMs: 0, isLate: false, strikes: null };
  const faults = new Faults(plan, { now: time.now, head: 0, isNear: false });
  const server = new ToolServer({
    seed: SEED,
    habits: ["tools"],
    time,
    faults,
    gate: async () => {},
    crashIf: () => false,
  });
  const caller = new AbortController();
  const notifiedAt: number[] = [];
  const context = {
    ...{
      place: { ...place, toolCall },
      files: null,
      fetch,
      signal: caller.signal,
      idempotencyKey: toolCall,
      now: () => time.now,
    },
    notify: () => {
      notifiedAt.push(time.now);
      caller.abort(new Error("the caller aborted"));
    },
  };
  const [lookUp] = server.tools([]);
  if (!lookUp) throw new Error("no tool");
  return { time, server, notifiedAt, ended: Promise.allSettled([lookUp.run({}, context)]) };
}

it("a request to the simulated server ends when the caller aborts at a notification", async () => {
  const history: { notifiedAt: number[]; closed: (number | null)[] }[] = [];
  for (let nth = 0; nth < 40; nth += 1) {
    const { time, server, notifiedAt, ended } = callAndAbort(`call_${nth}`);
    for (await time.settle(); time.timeline.nextAt() !== null; await time.settle())
      time.timeline.runNext();
    await ended;
    if (notifiedAt.length > 0)
      history.push({ notifiedAt, closed: server.received.map(({ endedAt }) => endedAt) });
  }
  expect(history.length).toBeGreaterThan(10);
  for (const { notifiedAt, closed } of history) expect(closed).toEqual(notifiedAt);
});
