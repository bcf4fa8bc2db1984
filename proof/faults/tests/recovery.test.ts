import { describe, expect, it } from "vitest";
import { recoveryTimes } from "../kills/recovery";
import type { WireEvent } from "../../../src/protocol/events";
import { toFrame } from "./recorded-run";

/**
 * The time from the signal of a kill until the watcher receives the first useful event of the new
 * process. `loggedAt` and `cameAt` are ms after the signal.
 */

type LoggedEvent = { type: "round.nudged" | "call.failed"; loggedAt: number; cameAt: number };
const KILLED_AT = 5_000;

function runWith(events: readonly LoggedEvent[]) {
  const frames = events.map(({ type, loggedAt }, nth) => {
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
  return { watchers: [{ frames, cameAt: events.map(({ cameAt }) => KILLED_AT + cameAt) }] };
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
      events: [event(300, 310)],
      times: [310],
    },
    {
      name: "ignores events before the signal",
      events: [event(-20, -10), event(300, 310)],
      times: [310],
    },
    {
      name: "ignores events that the process logged before its exit",
      events: [event(10, 20), event(300, 310)],
      times: [310],
    },
    {
      name: "ignores earlier events that arrive late",
      events: [event(10, 60), event(300, 310)],
      times: [310],
    },
    {
      name: "ignores the report of an interrupted call",
      events: [{ type: "call.failed" as const, loggedAt: 200, cameAt: 210 }, event(300, 310)],
      times: [310],
    },
    { name: "is missing if no event came", events: [event(-20, -10)], times: [] },
  ])("$name", ({ events, times }) => {
    expect(
      recoveryTimes([
        { killedAt: KILLED_AT, goneAt: KILLED_AT + 50, activeRuns: [runWith(events)] },
      ]),
    ).toEqual(times);
  });

  it("is missing for a run that was interrupted again", () => {
    const activeRuns = [runWith([event(300, 310)])];
    const again = { killedAt: KILLED_AT + 200, goneAt: KILLED_AT + 250, activeRuns };
    expect(
      recoveryTimes([{ killedAt: KILLED_AT, goneAt: KILLED_AT + 50, activeRuns }, again]),
    ).toEqual([110]);
  });
});
