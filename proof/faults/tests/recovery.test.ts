import { describe, expect, it } from "vitest";
import { recoveryTimes } from "../kills/recovery";
import type { WireEvent } from "../../../src/protocol/events";
import { toFrame } from "./recorded-run";

/** How long a watcher waited after a kill: from the signal to the first useful word of the new process. All times are ms after the signal. */

type Seen = { type: "round.nudged" | "call.failed"; loggedAt: number; cameAt: number };
const KILLED_AT = 5_000;

function runThatSaw(seen: readonly Seen[]) {
  const frames = seen.map(({ type, loggedAt }, nth) => {
    const place = {
      turn: 1,
      attempt: 1,
      agent: "one",
      round: 1,
      session_id: "session_1",
      sequence_number: nth + 1,
    };
    const at = performance.timeOrigin + KILLED_AT + loggedAt;
    const event: WireEvent =
      type === "round.nudged"
        ? { type, at, ...place, nudge: 1 }
        : {
            type,
            at,
            ...place,
            call: "c",
            class: "interrupted",
            code: "",
            message: "",
            retry_at: null,
            usage: null,
            cost_usd: 0,
            tokens: 0,
          };
    return toFrame(event);
  });
  return { watchers: [{ frames, cameAt: seen.map(({ cameAt }) => KILLED_AT + cameAt) }] };
}

const word = (loggedAt: number, cameAt: number): Seen => ({
  type: "round.nudged",
  loggedAt,
  cameAt,
});

describe("the time from a kill to the next event", () => {
  it.each([
    {
      name: "is counted from the signal, not from the death",
      seen: [word(300, 310)],
      times: [310],
    },
    {
      name: "is not that of what came before the signal",
      seen: [word(-20, -10), word(300, 310)],
      times: [310],
    },
    {
      name: "is not that of what the process said before it was dead",
      seen: [word(10, 20), word(300, 310)],
      times: [310],
    },
    {
      name: "is not that of what it had said and came late",
      seen: [word(10, 60), word(300, 310)],
      times: [310],
    },
    {
      name: "is not that of word that a call was cut off",
      seen: [{ type: "call.failed" as const, loggedAt: 200, cameAt: 210 }, word(300, 310)],
      times: [310],
    },
    { name: "is nothing if no event came", seen: [word(-20, -10)], times: [] },
  ])("$name", ({ seen, times }) => {
    expect(
      recoveryTimes([{ killedAt: KILLED_AT, goneAt: KILLED_AT + 50, hit: [runThatSaw(seen)] }]),
    ).toEqual(times);
  });

  it("is nothing for a run that was hit again before", () => {
    const hit = [runThatSaw([word(300, 310)])];
    const again = { killedAt: KILLED_AT + 200, goneAt: KILLED_AT + 250, hit };
    expect(recoveryTimes([{ killedAt: KILLED_AT, goneAt: KILLED_AT + 50, hit }, again])).toEqual([
      110,
    ]);
  });
});
