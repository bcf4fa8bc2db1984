import { describe, expect, it } from "vitest";
import { cronProblem, isDue, manualRunId, nextDue, scheduledRunId } from "../../src/evals/cron";
import { RUN_ID } from "../../src/evals/names";

const at = (text: string): number => Date.parse(text);

describe("a cron", () => {
  it.each([
    "0 6 * * MON",
    "30 */2 * * *",
    "5 6,18 1,15 * *",
    "0 0 29 2 *",
    "0 7 * JAN-MAR MON-FRI",
    "59 23 * * SAT,SUN",
  ])("may be %s", (cron) => expect(cronProblem(cron)).toBeNull());

  it.each([
    { cron: "* * * * * *", why: "five fields" },
    { cron: "* * * * *", why: "at most once an hour" },
    { cron: "*/5 * * * *", why: "at most once an hour" },
    { cron: "0,30 * * * *", why: "at most once an hour" },
    { cron: "0 0 31 2 *", why: "never matches" },
    { cron: "0 0 1 * MON", why: "not by both" },
    { cron: "0 0 * * 1", why: "weekdays by name" },
    { cron: "0 25 * * *", why: "is not a valid cron expression" },
    { cron: "60 0 * * *", why: "is not a valid cron expression" },
    { cron: "0 0 * FOO *", why: "is not a valid cron expression" },
    { cron: "@daily", why: "five fields" },
    { cron: "0 0 * *", why: "five fields" },
    { cron: "", why: "five fields" },
    { cron: "0  6 * * *", why: "five fields" },
  ])("C11 may not be `$cron`, and the problem says: $why", ({ cron, why }) =>
    expect(cronProblem(cron)).toContain(why),
  );

  it.each([
    {
      name: "is due at the start of its minute",
      cron: "0 6 * * MON",
      when: "2026-11-30T06:00:00Z",
      due: true,
    },
    {
      name: "is due at the end of its minute",
      cron: "0 6 * * MON",
      when: "2026-11-30T06:00:59.999Z",
      due: true,
    },
    {
      name: "is not due in the next minute",
      cron: "0 6 * * MON",
      when: "2026-11-30T06:01:00Z",
      due: false,
    },
    {
      name: "is not due on another day",
      cron: "0 6 * * MON",
      when: "2026-11-29T06:00:00Z",
      due: false,
    },
    {
      name: "is never due if it is missing",
      cron: undefined,
      when: "2026-11-30T06:00:00Z",
      due: false,
    },
  ])("$name", ({ cron, when, due }) => expect(isDue(cron, at(when))).toBe(due));

  it("is read in UTC to compute its next time", () => {
    expect(nextDue("0 6 * * MON", at("2026-11-30T06:00:00Z"))).toBe(at("2026-12-07T06:00:00Z"));
    expect(nextDue(undefined, 0)).toBeNull();
  });
});

describe("the id of a run", () => {
  it("is the same for two triggers in one minute", () => {
    expect(scheduledRunId(at("2026-11-30T06:00:01Z"))).toBe(
      scheduledRunId(at("2026-11-30T06:00:59Z")),
    );
    expect(scheduledRunId(at("2026-11-30T06:00:00Z"))).toBe("run_20261130t060000z");
  });

  it("is different for each manual start", () => {
    expect(manualRunId(at("2026-11-30T06:00:00Z"), "ABC")).toBe("run_20261130t060000z_abc");
  });

  it.each([scheduledRunId(0), manualRunId(0, "01JD")])("has the form of ids: %s", (id) =>
    expect(id).toMatch(RUN_ID),
  );
});
