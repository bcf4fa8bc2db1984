import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { BodyEnds } from "../../src/providers/body-ends";
import { END_WAIT_MS } from "../../src/providers/call-limits";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A body that is complete, ends with an error, has more text, or stays open. */
type Rest = "complete" | "broken" | "longer" | "open";

/** A body of which no more is needed, and whether it was cancelled. */
function bodyOf(rest: Rest) {
  const seen = { isCancelled: false };
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      if (rest === "complete") controller.close();
      if (rest === "broken") controller.error(new Error("The connection broke."));
      if (rest === "longer") controller.enqueue(new Uint8Array(1));
    },
    cancel() {
      seen.isCancelled = true;
    },
  });
  return { reader: body.getReader(), seen };
}

const wait = (ms: number) => vi.advanceTimersByTimeAsync(ms);

describe("the rest of a body", () => {
  it.each([
    ["that is complete", "is read, so its connection can be used again", "complete", false],
    ["that is broken", "is left alone", "broken", false],
    ["that has more text", "is cancelled at once", "longer", true],
  ] as const)("%s %s", async (_what, _happens, rest, isCancelled) => {
    const { reader, seen } = bodyOf(rest);
    new BodyEnds().read(reader);
    await wait(0);
    expect(seen.isCancelled).toBe(isCancelled);
    await wait(3 * END_WAIT_MS);
    expect(seen.isCancelled).toBe(isCancelled);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("that stays open is cancelled after the wait, and at most once the wait again", async () => {
    const ends = new BodyEnds();
    const [first, second] = [bodyOf("open"), bodyOf("open")];
    ends.read(first.reader);
    await wait(END_WAIT_MS / 2);
    ends.read(second.reader);
    await wait(END_WAIT_MS / 2 - 1);
    expect(first.seen.isCancelled).toBe(false);
    await wait(1);
    expect([first.seen.isCancelled, second.seen.isCancelled]).toEqual([true, false]);
    await wait(END_WAIT_MS);
    expect(second.seen.isCancelled).toBe(true);
    await wait(END_WAIT_MS);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("of many calls shares one timer", async () => {
    const ends = new BodyEnds();
    for (const { reader } of [bodyOf("open"), bodyOf("open"), bodyOf("open")]) ends.read(reader);
    expect(vi.getTimerCount()).toBe(1);
    await wait(3 * END_WAIT_MS);
  });
});
