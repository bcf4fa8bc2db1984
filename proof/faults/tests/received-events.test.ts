import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { ReceivedEvents, toFrame } from "../clients/received-events";
import { type WireEvent, WireEventSchema } from "../../../src/protocol/events";

/** Checks of received streams and pages, independently of the requests. */
const file = path.join(import.meta.dirname, "../../golden/v2/cancel.jsonl");
const LOG: WireEvent[] = readFileSync(file, "utf8")
  .trimEnd()
  .split("\n")
  .map((line) => WireEventSchema.parse({ ...JSON.parse(line), session_id: "ses_1" }));
const FRAMES = LOG.map(toFrame);
/** The n-th frame, from 1, with the same meaning in other bytes. */
const spaced = (nth: number): Buffer => Buffer.from(String(FRAMES[nth - 1]).replace('{"', '{ "'));

type Delivery = { frames: readonly Buffer[]; after: number };

it.each<{ name: string; given: Delivery[]; wrong: string }>([
  { name: "nothing wrong with the whole log", given: [{ frames: FRAMES, after: 0 }], wrong: "" },
  {
    name: "nothing wrong with resumed and overlapping deliveries",
    given: [
      { frames: FRAMES.slice(0, 5), after: 0 },
      { frames: FRAMES.slice(5, 9), after: 5 },
      { frames: FRAMES.slice(3, 8), after: 3 },
      { frames: [], after: 9 },
    ],
    wrong: "",
  },
  {
    name: "a missing event after the last id",
    given: [{ frames: FRAMES.slice(6), after: 5 }],
    wrong: "I2: received event 7 instead of 6",
  },
  {
    name: "an event before the last id",
    given: [{ frames: FRAMES.slice(4), after: 5 }],
    wrong: "I2: received event 5 instead of 6",
  },
  {
    name: "an event twice",
    given: [{ frames: [...FRAMES.slice(0, 3), ...FRAMES.slice(2, 3)], after: 0 }],
    wrong: "I2: received event 3 instead of 4",
  },
  {
    name: "an event in different bytes for two clients",
    given: [
      { frames: FRAMES.slice(0, 3), after: 0 },
      { frames: [spaced(2)], after: 1 },
    ],
    wrong: "I1: event 2 has two versions: event: ",
  },
  {
    name: "an event in other bytes than the log's",
    given: [{ frames: [spaced(2)], after: 1 }],
    wrong: "I1: event 2 was received as",
  },
])("in received events, finds $name", ({ given, wrong }) => {
  const seen = new ReceivedEvents();
  for (const { frames, after } of given)
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
