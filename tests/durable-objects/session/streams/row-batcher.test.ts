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

function gathered(readers: number) {
  const batches: number[][] = [];
  const rows = new RowBatcher({
    readers: () => readers,
    send: (some) => void batches.push(some.map(({ seq }) => seq)),
  });
  return { rows, batches };
}

it("sends each commit at once to few readers", () => {
  const { rows, batches } = gathered(3);
  rows.add([row(1)]);
  rows.add([row(2)]);
  expect(batches).toEqual([[1], [2]]);
});

it("sends close commits to many readers in one write, at most a tenth of a second later", () => {
  const { rows, batches } = gathered(2_000);
  for (let seq = 1; seq <= 10; seq += 1) {
    rows.add([row(seq)]);
    vi.advanceTimersByTime(10);
  }
  vi.advanceTimersByTime(1);
  expect(batches).toEqual([[1], [2, 3, 4, 5, 6, 7, 8, 9, 10]]);
});

it("sends a turn's end at once", () => {
  const { rows, batches } = gathered(2_000);
  rows.add([row(1)]);
  rows.add([row(2)]);
  rows.add([row(3, "turn.completed")]);
  expect(batches).toEqual([[1], [2, 3]]);
});

it("delays no reader longer when the clock is set back an hour", () => {
  const { rows, batches } = gathered(2_000);
  rows.add([row(1)]);
  vi.setSystemTime(1_000_000 - 3_600_000);
  rows.add([row(2)]);
  vi.advanceTimersByTime(101);
  expect(batches).toEqual([[1], [2]]);
});
