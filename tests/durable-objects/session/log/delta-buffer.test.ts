import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { DeltaBuffer } from "../../../../durable-objects/session/log/delta-buffer";
import { FLUSH, STORE } from "../../../../durable-objects/shared/object-limits";
import type { DeltaSource } from "../../../../src/engine/ports";
import type { DeltaItem } from "../../../../src/protocol/events";

const source = (call: string, kind: DeltaSource["kind"] = "text"): DeltaSource => ({
  agent: "a",
  round: 1,
  call,
  kind,
});

function start(isWatched: () => boolean = () => true) {
  const rows: DeltaItem[][] = [];
  const times: number[] = [];
  const buffer = new DeltaBuffer({
    isWatched,
    onDue: () => {
      rows.push(...buffer.take(Date.now()));
      times.push(Date.now());
    },
  });
  return { buffer, rows, times };
}

describe("a delta buffer", () => {
  beforeEach(() => vi.useFakeTimers({ now: 1_000_000 }));
  afterEach(() => vi.useRealTimers());

  it("is due at once after the first text of a call", () => {
    const { buffer, rows } = start();
    buffer.add(source("c1"), "He");
    expect(rows).toEqual([[{ ...source("c1"), offset: 0, text: "He" }]]);
  });

  it("collects the first texts of calls that begin together", () => {
    const { buffer, rows } = start();
    for (const call of ["c1", "c2", "c3"]) buffer.add(source(call), "He");
    expect(rows).toHaveLength(1);
    vi.advanceTimersByTime(FLUSH.firstMs);
    expect(rows.slice(1).map((items) => items.map(({ call }) => call))).toEqual([["c2", "c3"]]);
  });

  it("is due soon after the first text of a call, also while a later row waits", () => {
    const { buffer, rows } = start();
    buffer.add(source("c1"), "He");
    buffer.add(source("c1"), "llo");
    buffer.add(source("c2"), "Hi");
    vi.advanceTimersByTime(FLUSH.firstMs);
    expect(rows[1]?.map(({ call, text }) => [call, text])).toEqual([
      ["c1", "llo"],
      ["c2", "Hi"],
    ]);
    vi.advanceTimersByTime(FLUSH.watchedMs);
    expect(rows).toHaveLength(2);
  });

  it("continues a call's offsets after the text that was stored before a restart", () => {
    const { buffer, rows } = start();
    buffer.seed({ ...source("c1"), offset: 0, text: "Hello" });
    buffer.seed({ ...source("c1"), offset: 5, text: ", you" });
    buffer.add(source("c1"), "!");
    vi.advanceTimersByTime(FLUSH.watchedMs);
    expect(rows).toEqual([[{ ...source("c1"), offset: 10, text: "!" }]]);
  });

  it("counts offsets for each tool call, also for two calls of one tool and after a restart (F3)", () => {
    const { buffer } = start();
    const toolSource = (tool_index: number): DeltaSource => ({
      ...source("c1", "tool_arguments"),
      name: "search",
      tool_index,
    });
    buffer.seed({ ...toolSource(0), offset: 0, text: '{"q":' });
    buffer.add(toolSource(0), '"a"}');
    buffer.add(toolSource(1), '{"q":');
    buffer.add(toolSource(1), '"b"}');
    const items = buffer.take(Date.now()).flat();
    expect(items).toEqual([
      { ...toolSource(0), offset: 5, text: '"a"}' },
      { ...toolSource(1), offset: 0, text: '{"q":"b"}' },
    ]);
  });

  it.each([
    { name: "a quarter of a second with readers", watched: true, waitMs: FLUSH.watchedMs },
    { name: "a second without readers", watched: false, waitMs: FLUSH.unwatchedMs },
  ])("is due at most once per $name", ({ watched, waitMs }) => {
    const { buffer, rows, times } = start(() => watched);
    for (let nth = 0; nth < 100; nth += 1) {
      buffer.add(source("c1"), "x");
      vi.advanceTimersByTime(waitMs / 10);
    }
    expect(rows.length).toBeLessThanOrEqual(11);
    expect(
      rows
        .flat()
        .map(({ text }) => text)
        .join("").length,
    ).toBeGreaterThanOrEqual(90);
    for (const [nth, at] of times.entries())
      if (nth > 1) expect(at - (times[nth - 1] ?? 0)).toBeGreaterThanOrEqual(waitMs);
  });

  it("returns the deltas of all agents as one row", () => {
    const { buffer, rows } = start();
    buffer.add(source("c1"), "a");
    buffer.add(source("c2"), "b");
    buffer.add(source("c1"), "c");
    buffer.add(source("c2"), "d");
    vi.advanceTimersByTime(FLUSH.watchedMs);
    expect(rows.at(-1)?.map(({ call, offset, text }) => [call, offset, text])).toEqual([
      ["c2", 0, "bd"],
      ["c1", 1, "c"],
    ]);
  });

  it("returns the whole text of any sequence of deltas, in rows of a limited size", () => {
    const piece = fc.record({
      call: fc.constantFrom("c1", "c2"),
      text: fc.string({ unit: "grapheme", maxLength: 30 }),
      times: fc.integer({ min: 1, max: 4_000 }),
    });
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const { buffer, rows } = start();
        const expected = new Map<string, string>();
        for (const { call, text, times } of pieces) {
          buffer.add(source(call), text.repeat(times));
          expected.set(call, (expected.get(call) ?? "") + text.repeat(times));
        }
        rows.push(...buffer.take(Date.now()));
        const received = new Map<string, string>();
        for (const { call, offset, text } of rows.flat()) {
          expect(offset).toBe((received.get(call) ?? "").length);
          expect(text.isWellFormed()).toBe(true);
          received.set(call, (received.get(call) ?? "") + text);
        }
        for (const [call, text] of expected) expect(received.get(call) ?? "").toBe(text);
        for (const row of rows)
          expect(row.reduce((sum, { text }) => sum + text.length, 0)).toBeLessThanOrEqual(
            STORE.deltaRowChars,
          );
      }),
      { numRuns: 100 },
    );
  });
});
