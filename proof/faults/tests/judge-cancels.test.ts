import { describe, expect, it } from "vitest";
import { judgeRun } from "../runs/judge";
import { KINDS, kindOf } from "../runs/kinds";
import { acknowledged, CANCELLED, recordedRun, ofKind, SESSION, withLog } from "./recorded-run";

/** Checks of the reply to a cancel against the log. */
const KINDS_THAT_CANCEL = Object.keys(KINDS)
  .filter((name): name is keyof typeof KINDS => name in KINDS)
  .filter((name) => kindOf(name).userAction?.startsWith("cancel"));
const withCancels = (...answers: string[]) => ({ ...ofKind("cancelled"), cancelReplies: answers });

it("three kinds of runs are cancelled", () =>
  expect(KINDS_THAT_CANCEL).toEqual(["cancelled", "recalled", "rated"]));

it.each([
  {
    name: "after its end, and both replies have the status of that end",
    changed: withCancels(acknowledged("completed"), acknowledged("completed")),
  },
  {
    name: "in time, and both replies are equal",
    changed: {
      ...withCancels(acknowledged("cancelled"), acknowledged("cancelled")),
      ...withLog(CANCELLED),
    },
  },
])("a run breaks no promise if it was cancelled $name", async ({ changed }) => {
  expect(await judgeRun(recordedRun(changed))).toEqual([]);
});

it.each(KINDS_THAT_CANCEL)(
  "in a run of kind %s, finds an acknowledged cancel that is not in the log",
  async (kind) => {
    const changed = {
      ...ofKind(kind),
      cancelReplies: [acknowledged("cancelled"), acknowledged("cancelled")],
    };
    expect(await judgeRun(recordedRun(changed))).toContain(
      "I2: turn 1 was acknowledged as cancelled and is completed in the log",
    );
  },
);

describe("in a cancelled run, finds", () => {
  it.each([
    {
      name: "a cancel that ended the turn although its reply says that the turn had completed",
      changed: { ...withCancels(acknowledged("completed")), ...withLog(CANCELLED) },
      wrong: ["I2: turn 1 was acknowledged as completed and is cancelled in the log"],
    },
    {
      name: "a cancel of a missing turn",
      changed: withCancels(acknowledged("cancelled", { turn: 2 })),
      wrong: ["I2: turn 2 was acknowledged as cancelled and is null in the log"],
    },
    {
      name: "a reply for another session",
      changed: withCancels(acknowledged("completed", { session_id: "session_02" })),
      wrong: [`I2: a cancel of ${SESSION} was answered for session_02`],
    },
    {
      name: "an empty reply",
      changed: withCancels("{}"),
      wrong: ['I2: a cancel was answered "{}"'],
    },
    {
      name: "a second cancel with another reply",
      changed: withCancels(acknowledged("completed"), ""),
      wrong: [
        `I15: cancels were answered ${acknowledged("completed")} and then `,
        'I2: a cancel was answered ""',
      ],
    },
    {
      name: "a cancel without a reply",
      changed: withCancels(),
      wrong: ["I15: no cancel was acknowledged"],
    },
  ])("$name", async ({ changed, wrong }) => {
    expect(await judgeRun(recordedRun(changed))).toEqual(wrong);
  });
});
