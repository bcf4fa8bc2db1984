import { describe, expect, it } from "vitest";
import { judgeRun } from "../runs/judge";
import { KINDS, kindOf } from "../runs/kinds";
import { acknowledged, CANCELLED, judged, ofKind, SESSION, telling } from "./recorded-run";

/** What judges the runs of the faults campaigns holds the word on a cancel against the log. */
const KINDS_THAT_CANCEL = Object.keys(KINDS)
  .filter((name): name is keyof typeof KINDS => name in KINDS)
  .filter((name) => kindOf(name).deed?.startsWith("cancels"));
const told = (...answers: string[]) => ({ ...ofKind("cancelled"), cancelled: answers });

it("three kinds of runs are cancelled", () =>
  expect(KINDS_THAT_CANCEL).toEqual(["cancelled", "recalled", "rated"]));

it.each([
  {
    name: "when it was over, and told so",
    changed: told(acknowledged("completed"), acknowledged("completed")),
  },
  {
    name: "in time, and told so twice",
    changed: {
      ...told(acknowledged("cancelled"), acknowledged("cancelled")),
      ...telling(CANCELLED),
    },
  },
])("a run breaks no promise that was cancelled $name", async ({ changed }) => {
  expect(await judgeRun(judged(changed))).toEqual([]);
});

it.each(KINDS_THAT_CANCEL)(
  "of a run of the kind %s it sees a cancel that was acknowledged and is not in the log",
  async (kind) => {
    const changed = {
      ...ofKind(kind),
      cancelled: [acknowledged("cancelled"), acknowledged("cancelled")],
    };
    expect(await judgeRun(judged(changed))).toContain(
      "I2: turn 1 was acknowledged as cancelled and is completed in the log",
    );
  },
);

describe("a run that was cancelled is wrong with", () => {
  it.each([
    {
      name: "a cancel that was answered as one that came too late, and did not",
      changed: { ...told(acknowledged("completed")), ...telling(CANCELLED) },
      wrong: ["I2: turn 1 was acknowledged as completed and is cancelled in the log"],
    },
    {
      name: "a cancel of a turn that there is not",
      changed: told(acknowledged("cancelled", { turn: 2 })),
      wrong: ["I2: turn 2 was acknowledged as cancelled and is null in the log"],
    },
    {
      name: "a cancel that was answered for another session",
      changed: told(acknowledged("completed", { session_id: "session_02" })),
      wrong: [`I2: a cancel of ${SESSION} was answered for session_02`],
    },
    {
      name: "an answer that says nothing",
      changed: told("{}"),
      wrong: ['I2: a cancel was answered "{}"'],
    },
    {
      name: "a second cancel that is answered otherwise",
      changed: told(acknowledged("completed"), ""),
      wrong: [
        `I15: cancels were answered ${acknowledged("completed")} and then `,
        'I2: a cancel was answered ""',
      ],
    },
    { name: "no answer to a cancel", changed: told(), wrong: ["I15: no cancel was acknowledged"] },
  ])("$name", async ({ changed, wrong }) => {
    expect(await judgeRun(judged(changed))).toEqual(wrong);
  });
});
