import { describe, expect, it } from "vitest";
import { recoveryTimes } from "../kills/recovery";
import type { WireEvent } from "../../../src/protocol/events";
import { toFrame } from "./recorded-run";

/**
 * The time from a kill's signal to the first useful event of the new process. All times are ms
 * after the signal.
 */

type LoggedEvent = { type: "round.nudged" | "call.failed"; loggedAt: number; cameAt: number };
const KILLED_AT = 5_000;

function runWith(seen: readonly LoggedEvent[]) {
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

const event = (loggedAt: number, cameAt: number): LoggedEvent => ({
  type: "round.nudged",
  loggedAt,
  cameAt,
});

describe("the time from a kill to the next event", () => {
  it.each([
    {
      name: "counts from the signal, not from the exit",
      seen: [event(300, 310)],
      times: [310],
    },
    {
      name: "ignores events before the signal",
      seen: [event(-20, -10), event(300, 310)],
      times: [310],
    },
    {
      name: "ignores events that the process logged before its exit",
      seen: [event(10, 20), event(300, 310)],
      times: [310],
    },
    {
      name: "ignores earlier events that arrive late",
      seen: [event(10, 60), event(300, 310)],
      times: [310],
    },
    {
      name: "ignores the report of an interrupted call",
      seen: [{ type: "call.failed" as const, loggedAt: 200, cameAt: 210 }, event(300, 310)],
      times: [310],
    },
    { name: "is missing if no event came", seen: [event(-20, -10)], times: [] },
  ])("$name", ({ seen, times }) => {
    expect(
      recoveryTimes([{ killedAt: KILLED_AT, goneAt: KILLED_AT + 50, hit: [runWith(seen)] }]),
    ).toEqual(times);
  });

  it("is missing for a run that was interrupted again", () => {
    const hit = [runWith([event(300, 310)])];
    const again = { killedAt: KILLED_AT + 200, goneAt: KILLED_AT + 250, hit };
    expect(recoveryTimes([{ killedAt: KILLED_AT, goneAt: KILLED_AT + 50, hit }, again])).toEqual([
      110,
    ]);
  });
});
