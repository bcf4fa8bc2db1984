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

describe("delta buffer", () => {
  beforeEach(() => vi.useFakeTimers({ now: 1_000_000 }));
  afterEach(() => vi.useRealTimers());

  it("releases the first delta of a call at once", () => {
    const { buffer, rows } = start();
    buffer.add(source("c1"), "He");
    expect(rows).toEqual([[{ ...source("c1"), offset: 0, text: "He" }]]);
  });

  it("continues after the stored text of a call from before a restart", () => {
    const { buffer, rows } = start();
    buffer.seed({ ...source("c1"), offset: 0, text: "Hello" });
    buffer.seed({ ...source("c1"), offset: 5, text: ", you" });
    buffer.add(source("c1"), "!");
    vi.advanceTimersByTime(FLUSH.watchedMs);
    expect(rows).toEqual([[{ ...source("c1"), offset: 10, text: "!" }]]);
  });

  it("counts offsets within each tool call, also for two calls of one tool, and after a restart (F3)", () => {
    const { buffer } = start();
    const of = (tool_index: number): DeltaSource => ({
      ...source("c1", "tool_arguments"),
      name: "search",
      tool_index,
    });
    buffer.seed({ ...of(0), offset: 0, text: '{"q":' });
    buffer.add(of(0), '"a"}');
    buffer.add(of(1), '{"q":');
    buffer.add(of(1), '"b"}');
    const items = buffer.take(Date.now()).flat();
    expect(items).toEqual([
      { ...of(0), offset: 5, text: '"a"}' },
      { ...of(1), offset: 0, text: '{"q":"b"}' },
    ]);
  });

  it.each([
    { name: "a quarter of a second with a watcher", watched: true, waitMs: FLUSH.watchedMs },
    { name: "a second without a watcher", watched: false, waitMs: FLUSH.unwatchedMs },
  ])("writes at most one row per $name", ({ watched, waitMs }) => {
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

  it("puts the deltas of all agents into one row", () => {
    const { buffer, rows } = start();
    buffer.add(source("c1"), "a");
    buffer.add(source("c2"), "b");
    buffer.add(source("c1"), "c");
    buffer.add(source("c2"), "d");
    vi.advanceTimersByTime(FLUSH.watchedMs);
    expect(rows.at(-1)?.map(({ call, offset, text }) => [call, offset, text])).toEqual([
      ["c1", 1, "c"],
      ["c2", 1, "d"],
    ]);
  });

  it("preserves the text for any sequence of deltas, in rows of a limited size", () => {
    const piece = fc.record({
      call: fc.constantFrom("c1", "c2"),
      text: fc.string({ unit: "grapheme", maxLength: 30 }),
      times: fc.integer({ min: 1, max: 4_000 }),
    });
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const { buffer, rows } = start();
        const written = new Map<string, string>();
        for (const { call, text, times } of pieces) {
          buffer.add(source(call), text.repeat(times));
          written.set(call, (written.get(call) ?? "") + text.repeat(times));
        }
        rows.push(...buffer.take(Date.now()));
        const got = new Map<string, string>();
        for (const { call, offset, text } of rows.flat()) {
          expect(offset).toBe((got.get(call) ?? "").length);
          expect(text.isWellFormed()).toBe(true);
          got.set(call, (got.get(call) ?? "") + text);
        }
        for (const [call, text] of written) expect(got.get(call) ?? "").toBe(text);
        for (const row of rows)
          expect(row.reduce((sum, { text }) => sum + text.length, 0)).toBeLessThanOrEqual(
            STORE.deltaRowChars,
          );
      }),
      { numRuns: 100 },
    );
  });
});
