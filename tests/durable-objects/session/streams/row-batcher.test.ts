import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { LogRow } from "../../../../durable-objects/session/streams/frames";
import { RowBatcher } from "../../../../durable-objects/session/streams/row-batcher";

beforeEach(() => void vi.useFakeTimers({ now: 1_000_000 }));
afterEach(() => void vi.useRealTimers());

const row = (seq: number, type = "stream.delta"): LogRow => ({
  seq,
  turn: 1,
  attempt: 1,
  agent: null,
  type,
  at: 0,
  body: "{}",
});

/** A batcher for this number of readers. `batches`: the `seq` of the rows in each write. */
function startBatcher(readers: number) {
  const batches: number[][] = [];
  const batcher = new RowBatcher({
    readers: () => readers,
    send: (rows) => void batches.push(rows.map(({ seq }) => seq)),
  });
  return { batcher, batches };
}

it("sends each commit at once if there are few readers", () => {
  const { batcher, batches } = startBatcher(3);
  batcher.add([row(1)]);
  batcher.add([row(2)]);
  expect(batches).toEqual([[1], [2]]);
});

it("sends the commits of a tenth of a second in one write if there are many readers", () => {
  const { batcher, batches } = startBatcher(2_000);
  for (let seq = 1; seq <= 10; seq += 1) {
    batcher.add([row(seq)]);
    vi.advanceTimersByTime(10);
  }
  vi.advanceTimersByTime(1);
  expect(batches).toEqual([[1], [2, 3, 4, 5, 6, 7, 8, 9, 10]]);
});

it("sends the end of a turn at once", () => {
  const { batcher, batches } = startBatcher(2_000);
  batcher.add([row(1)]);
  batcher.add([row(2)]);
  batcher.add([row(3, "turn.completed")]);
  expect(batches).toEqual([[1], [2, 3]]);
});

it("does not delay rows longer if the clock is set back an hour", () => {
  const { batcher, batches } = startBatcher(2_000);
  batcher.add([row(1)]);
  vi.setSystemTime(1_000_000 - 3_600_000);
  batcher.add([row(2)]);
  vi.advanceTimersByTime(101);
  expect(batches).toEqual([[1], [2]]);
});
