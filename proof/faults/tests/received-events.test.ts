import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { ReceivedEvents, toFrame } from "../clients/received-events";
import { type WireEvent, WireEventSchema } from "../../../src/protocol/events";

/** Checks of the events that clients received, without regard to the requests of these clients. */
const file = path.join(import.meta.dirname, "../../golden/v2/cancel.jsonl");
const LOG: WireEvent[] = readFileSync(file, "utf8")
  .trimEnd()
  .split("\n")
  .map((line) => WireEventSchema.parse({ ...JSON.parse(line), session_id: "ses_1" }));
const FRAMES = LOG.map(toFrame);
/** The n-th frame, counted from 1, as other bytes with the same JSON value. */
const spaced = (nth: number): Buffer => Buffer.from(String(FRAMES[nth - 1]).replace('{"', '{ "'));

type Delivery = { frames: readonly Buffer[]; after: number };

it.each<{ name: string; deliveries: Delivery[]; wrong: string }>([
  { name: "no problem in the whole log", deliveries: [{ frames: FRAMES, after: 0 }], wrong: "" },
  {
    name: "no problem in resumed and overlapping deliveries",
    deliveries: [
      { frames: FRAMES.slice(0, 5), after: 0 },
      { frames: FRAMES.slice(5, 9), after: 5 },
      { frames: FRAMES.slice(3, 8), after: 3 },
      { frames: [], after: 9 },
    ],
    wrong: "",
  },
  {
    name: "a missing event after the last id",
    deliveries: [{ frames: FRAMES.slice(6), after: 5 }],
    wrong: "I2: received event 7 instead of 6",
  },
  {
    name: "an event before the last id",
    deliveries: [{ frames: FRAMES.slice(4), after: 5 }],
    wrong: "I2: received event 5 instead of 6",
  },
  {
    name: "an event that was received twice",
    deliveries: [{ frames: [...FRAMES.slice(0, 3), ...FRAMES.slice(2, 3)], after: 0 }],
    wrong: "I2: received event 3 instead of 4",
  },
  {
    name: "an event whose bytes differ between two clients",
    deliveries: [
      { frames: FRAMES.slice(0, 3), after: 0 },
      { frames: [spaced(2)], after: 1 },
    ],
    wrong: "I1: event 2 has two versions: event: ",
  },
  {
    name: "an event whose bytes differ from the log",
    deliveries: [{ frames: [spaced(2)], after: 1 }],
    wrong: "I1: event 2 was received as",
  },
])("in received events, finds $name", ({ deliveries, wrong }) => {
  const seen = new ReceivedEvents();
  for (const { frames, after } of deliveries)
    expect(seen.add(frames, after)).toBe(after + frames.length);
  expect([...seen.problems, ...seen.differencesFrom(FRAMES)].join("\n")).toMatch(
    wrong === "" ? /^$/ : wrong,
  );
});

it("in received events, finds an event that is not in the log", () => {
  const seen = new ReceivedEvents();
  seen.add(FRAMES, 0);
  expect(seen.differencesFrom(FRAMES.slice(0, -1))).toEqual([
    expect.stringContaining(`I1: event ${LOG.length} was received as`),
  ]);
});
