import { expect, it } from "vitest";
import { countTests, failuresOf } from "./test-report";

const file = (name: string, ...tests: [status: string, fullName: string][]) => ({
  name,
  status: tests.some(([status]) => status === "failed") ? "failed" : "passed",
  assertionResults: tests.map(([status, fullName]) => ({
    status,
    fullName,
    title: fullName,
    ancestorTitles: [],
    failureMessages: [],
  })),
});
const PASSED: [string, string] = ["passed", "works"];

it.each([
  {
    name: "passes when every file ran",
    ran: [file("/a", PASSED), file("/b", PASSED, PASSED)],
    on: ["/a", "/b"],
    problems: [],
  },
  {
    name: "reports a file that the runner left out",
    ran: [file("/a", PASSED)],
    on: ["/a", "/b"],
    problems: ["/b did not run"],
  },
  {
    name: "refuses a file without tests",
    ran: [file("/a")],
    on: ["/a"],
    problems: ["/a ran no test"],
  },
  {
    name: "refuses a file whose tests were all skipped",
    ran: [file("/a", ["skipped", "later"])],
    on: ["/a"],
    problems: ["/a ran no test", "skipped without a reason: later"],
  },
  {
    name: "refuses one test skipped without a reason",
    ran: [file("/a", PASSED, ["pending", "later"])],
    on: ["/a"],
    problems: ["skipped without a reason: later"],
  },
  {
    name: "accepts tests that name their missing requirement",
    ran: [file("/a", ["skipped", "examples [needs ../shared/examples] parse"])],
    on: ["/a"],
    problems: [],
  },
  {
    name: "names a file that failed",
    ran: [file("/a", ["failed", "breaks"])],
    on: ["/a"],
    problems: ["/a failed"],
  },
])("$name", ({ ran, on, problems }) => {
  expect(countTests({ testResults: ran }, on).problems).toEqual(problems);
});

it("counts what passed, failed and was skipped", () => {
  const ran = [file("/a", PASSED, ["failed", "x"], ["skipped", "y [needs z]"]), file("/b", PASSED)];
  expect(countTests({ testResults: ran }, ["/a", "/b"])).toMatchObject({
    passed: 2,
    failed: 1,
    skipped: 1,
  });
});

it("names each failed test with its message, and a file that failed before its tests", () => {
  const test = { fullName: "team > votes", title: "votes", ancestorTitles: ["team"] };
  const testResults = [
    {
      name: "/a",
      status: "failed",
      assertionResults: [
        { ...test, status: "failed", failureMessages: ["expected 1 to be 2"] },
        { ...test, status: "passed", failureMessages: [] },
      ],
    },
    { name: "/b", status: "failed", message: "Cannot find module", assertionResults: [] },
  ];
  expect(failuresOf({ testResults })).toEqual([
    "FAILED /a\n  team > votes\nexpected 1 to be 2",
    "FAILED /b\nCannot find module",
  ]);
});
