import { describe, expect, it } from "vitest";
import type { TurnView } from "../../../src/protocol/view";
import { STREAM_TAIL } from "../../../src/protocol/view/stream";
import * as b from "../builders";
import { turnAfter } from "../turn-after";

const anna = (turn: TurnView) => turn.agents[0];
describe("streaming text", () => {
  const started = b.callStarted("anna", "c1");
  it.each([
    {
      name: "consists of all pieces",
      pieces: [
        { offset: 0, text: "Hel" },
        { offset: 3, text: "lo" },
      ],
      text: "Hello",
      length: 5,
    },
    {
      name: "gets only the new part of an overlapping piece",
      pieces: [
        { offset: 0, text: "Hel" },
        { offset: 1, text: "ello" },
      ],
      text: "Hello",
      length: 5,
    },
    {
      name: "does not change with a repeated piece",
      pieces: [
        { offset: 0, text: "Hello" },
        { offset: 2, text: "llo" },
      ],
      text: "Hello",
      length: 5,
    },
    {
      name: "continues after a gap",
      pieces: [
        { offset: 0, text: "He" },
        { offset: 4, text: "o" },
      ],
      text: "Heo",
      length: 5,
    },
  ])("$name", ({ pieces, text, length }) => {
    const turn = turnAfter(
      started,
      ...pieces.map((piece) => b.delta("anna", { call: "c1", ...piece })),
    );
    expect(anna(turn)?.stream?.text).toEqual({ text, length });
  });

  it("is separate for each kind of output", () => {
    const turn = turnAfter(
      started,
      b.delta(
        "anna",
        { call: "c1", offset: 0, text: "hm", kind: "reasoning" },
        { call: "c1", offset: 0, text: "Yes" },
      ),
    );
    expect(anna(turn)?.stream).toMatchObject({
      latest: "text",
      reasoning: { text: "hm" },
      text: { text: "Yes" },
    });
  });

  it("of an earlier call is removed, and late pieces of that call are ignored", () => {
    const late = b.delta("anna", { call: "c1", offset: 3, text: "old" });
    const turn = turnAfter(
      started,
      b.delta("anna", { call: "c1", offset: 0, text: "old" }),
      b.callStarted("anna", "c2"),
      late,
    );
    expect(anna(turn)?.stream).toMatchObject({ call: "c2", text: { text: "", length: 0 } });
  });

  it("keeps only the end of a long text, without half a surrogate pair", () => {
    const pieces = Array.from({ length: 100 }, (_, index) => ({
      call: "c1",
      offset: 1_001 * index,
      text: `x${"😀".repeat(500)}`,
    }));
    const stream = anna(turnAfter(started, b.delta("anna", ...pieces)))?.stream?.text;
    expect(stream?.length).toBe(100_100);
    expect(stream?.text.length).toBeLessThanOrEqual(2 * STREAM_TAIL);
    expect(stream?.text.length).toBeGreaterThanOrEqual(STREAM_TAIL - 1);
    expect(stream?.text.isWellFormed()).toBe(true);
  });
});
