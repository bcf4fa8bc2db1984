import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { Seen, toFrame } from "../clients/seen";
import { type WireEvent, WireEventSchema } from "../../../src/protocol/events";

/** What the clients' histories notice in what their streams and pages were given, whatever they had asked for. */
const file = path.join(import.meta.dirname, "../../golden/v2/cancel.jsonl");
const LOG: WireEvent[] = readFileSync(file, "utf8")
  .trimEnd()
  .split("\n")
  .map((line) => WireEventSchema.parse({ ...JSON.parse(line), session_id: "ses_1" }));
const FRAMES = LOG.map(toFrame);
/** The nth frame, from 1, told otherwise, though it means the same. */
const spaced = (nth: number): Buffer => Buffer.from(String(FRAMES[nth - 1]).replace('{"', '{ "'));

type Given = { frames: readonly Buffer[]; after: number };

it.each<{ name: string; given: Given[]; wrong: string }>([
  { name: "nothing wrong with the whole log", given: [{ frames: FRAMES, after: 0 }], wrong: "" },
  {
    name: "nothing wrong with what goes on where it was left, or before",
    given: [
      { frames: FRAMES.slice(0, 5), after: 0 },
      { frames: FRAMES.slice(5, 9), after: 5 },
      { frames: FRAMES.slice(3, 8), after: 3 },
      { frames: [], after: 9 },
    ],
    wrong: "",
  },
  {
    name: "an event that is missing behind the last id",
    given: [{ frames: FRAMES.slice(6), after: 5 }],
    wrong: "I2: event 7 came where 6",
  },
  {
    name: "one that comes again",
    given: [{ frames: FRAMES.slice(4), after: 5 }],
    wrong: "I2: event 5 came where 6 was due",
  },
  {
    name: "one that comes twice",
    given: [{ frames: [...FRAMES.slice(0, 3), ...FRAMES.slice(2, 3)], after: 0 }],
    wrong: "I2: event 3 came where 4 was due",
  },
  {
    name: "one that comes in other bytes to another",
    given: [
      { frames: FRAMES.slice(0, 3), after: 0 },
      { frames: [spaced(2)], after: 1 },
    ],
    wrong: "I1: event 2 is event: ",
  },
  {
    name: "one that the log has in other bytes",
    given: [{ frames: [spaced(2)], after: 1 }],
    wrong: "I1: event 2 was given as",
  },
])("of what clients were given is seen $name", ({ given, wrong }) => {
  const seen = new Seen();
  for (const { frames, after } of given)
    expect(seen.add(frames, after)).toBe(after + frames.length);
  expect([...seen.problems, ...seen.unlike(FRAMES)].join("\n")).toMatch(
    wrong === "" ? /^$/ : wrong,
  );
});

it("of what clients were given is seen that the log has less", () => {
  const seen = new Seen();
  seen.add(FRAMES, 0);
  expect(seen.unlike(FRAMES.slice(0, -1))).toEqual([
    expect.stringContaining(`I1: event ${LOG.length} was given as`),
  ]);
});
