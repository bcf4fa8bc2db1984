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
    name: "reports nothing if every file ran",
    results: [file("/a", PASSED), file("/b", PASSED, PASSED)],
    files: ["/a", "/b"],
    problems: [],
  },
  {
    name: "reports a file that the runner omitted",
    results: [file("/a", PASSED)],
    files: ["/a", "/b"],
    problems: ["/b did not run"],
  },
  {
    name: "reports a file without tests",
    results: [file("/a")],
    files: ["/a"],
    problems: ["/a ran no test"],
  },
  {
    name: "reports a file whose tests were all skipped",
    results: [file("/a", ["skipped", "later"])],
    files: ["/a"],
    problems: ["/a ran no test", "skipped without a reason: later"],
  },
  {
    name: "reports a test that was skipped without a reason",
    results: [file("/a", PASSED, ["pending", "later"])],
    files: ["/a"],
    problems: ["skipped without a reason: later"],
  },
  {
    name: "accepts tests that name their missing requirement",
    results: [file("/a", ["skipped", "examples [needs ../shared/examples] parse"])],
    files: ["/a"],
    problems: [],
  },
  {
    name: "reports a file that failed",
    results: [file("/a", ["failed", "breaks"])],
    files: ["/a"],
    problems: ["/a failed"],
  },
])("$name", ({ results, files, problems }) => {
  expect(countTests({ testResults: results }, files).problems).toEqual(problems);
});

it("counts the tests that passed, failed and were skipped", () => {
  const results = [
    file("/a", PASSED, ["failed", "x"], ["skipped", "y [needs z]"]),
    file("/b", PASSED),
  ];
  expect(countTests({ testResults: results }, ["/a", "/b"])).toMatchObject({
    passed: 2,
    failed: 1,
    skipped: 1,
  });
});

it("prints each failed test with its message, and a file that failed before its tests ran", () => {
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
