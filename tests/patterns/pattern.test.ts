import fc from "fast-check";
import { RE2JS } from "re2js";
import { describe, expect, it } from "vitest";
import {
  compilePattern,
  MAX_PROGRAM,
  PATTERN_WORK,
  type PatternError,
  WorkBudget,
} from "../../src/patterns";
import { largestProgram } from "../../src/patterns/program-size";

const compiled = (source: string) => compilePattern(source, new WorkBudget());

/** The error that a call throws; `null` if it returns. */
function thrownBy(work: () => unknown): PatternError | null {
  try {
    work();
    return null;
  } catch (error) {
    return error as PatternError;
  }
}

const repeats = fc.constantFrom("*", "+", "?", "*?", "{2}", "{0,3}", "{3,}", "{12}", "{0}");
const atoms = fc.constantFrom(
  "a",
  "b",
  "c",
  ".",
  "[ab]",
  "[^a]",
  "\\b",
  "^",
  "$",
  "\\w",
  "\\pL",
  "é",
  "😀",
  "[[:alpha:]]",
  "\\x{e9}",
);
const { pattern: anyPattern } = fc.letrec<{ pattern: string }>((tie) => ({
  pattern: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    atoms,
    fc.tuple(tie("pattern"), tie("pattern")).map(([left, right]) => `${left}${right}`),
    fc.tuple(tie("pattern"), tie("pattern")).map(([left, right]) => `(?:${left}|${right})`),
    tie("pattern").map((inner) => `(${inner})`),
    fc.tuple(tie("pattern"), repeats).map(([inner, repeat]) => `(?:${inner})${repeat}`),
  ),
}));
/** The engine refuses nested repeats whose counts multiply beyond 1,000. */
const patterns = anyPattern.filter((source) => thrownBy(() => RE2JS.compile(source)) === null);
const texts = fc.string({
  unit: fc.constantFrom("a", "b", "c", " ", "\n", "é", "😀", "_"),
  maxLength: 30,
});

describe("a pattern", () => {
  it("has the same results as the engine: anywhere, at the start, and for the whole text", () => {
    fc.assert(
      fc.property(patterns, texts, (source, text) => {
        fc.pre(largestProgram(source) <= MAX_PROGRAM);
        const budget = new WorkBudget();
        const [ours, theirs] = [compilePattern(source, budget), RE2JS.compile(source)];
        const matcher = theirs.matcher(text);
        expect(ours.test(text, budget)).toBe(theirs.test(text));
        expect(ours.testStart(text, budget)).toBe(theirs.matcher(text).lookingAt());
        expect(ours.testWhole(text, budget)).toBe(theirs.matches(text));
        const found = ours.find(text, budget);
        expect(found).toEqual(matcher.find() ? [matcher.start(), matcher.end()] : null);
        if (found) expect(ours.groupsOf(text, found, budget).slice(0, 2)).toEqual(found);
      }),
      { numRuns: 3_000 },
    );
  });

  it("has a program no larger than the bound computed from its text", () => {
    fc.assert(
      fc.property(patterns, (source) => {
        expect(RE2JS.compile(source).programSize()).toBeLessThanOrEqual(largestProgram(source));
      }),
      { numRuns: 3_000 },
    );
  });

  it("finds groups if a longer alternative does not match at the end of the text", () => {
    const pattern = compiled("(ab$)|(a)");
    const found = pattern.find("abc", new WorkBudget());
    expect(pattern.groupsOf("abc", found ?? [], new WorkBudget())).toEqual([0, 1, -1, -1, 0, 1]);
  });

  it.each([
    { name: "a pattern with a look-ahead", source: "(?=a)", code: "pattern_invalid" },
    { name: "a pattern with an open group", source: "(a", code: "pattern_invalid" },
    {
      name: "a pattern with nested repeats of 1,152",
      source: "(?:(?:(?:(?:(?:a){12}){12}){2}){2}){2}",
      code: "pattern_invalid",
    },
    {
      name: "a pattern with a repeated repeat",
      source: "(?:[ab]{100}){10}[ab]{1000}[ab]{1000}[ab]{1000}",
      code: "pattern_too_costly",
    },
    {
      name: "a pattern with many repeats",
      source: "a{1000}".repeat(10),
      code: "pattern_too_costly",
    },
    {
      name: "a pattern with too many characters",
      source: "a".repeat(10_000),
      code: "pattern_too_costly",
    },
    {
      name: "a pattern with many Unicode classes and without case",
      source: `(?i)${"[b-\\x{1E920}]".repeat(50)}`,
      code: "pattern_too_costly",
    },
    {
      name: "a pattern with many classes of letters",
      source: `(?:${"\\pL|".repeat(200)}x)`,
      code: "pattern_too_costly",
    },
    {
      name: "a pattern with a repeated class of letters",
      source: "(?:\\pL|\\pN|x){1000}",
      code: "pattern_too_costly",
    },
  ])("is refused quickly with $code: $name", ({ source, code }) => {
    const began = performance.now();
    expect(thrownBy(() => compiled(source))?.code).toBe(code);
    expect(performance.now() - began).toBeLessThan(1_000);
  });
});

describe("the budget of a call", () => {
  const costly = compiled("(?:[ab]?){480}a[ab]{480}[cd]");
  const ab = (length: number): string =>
    Array.from({ length }, (_, index) => ((index * index) % 7 > 3 ? "a" : "b")).join("");

  it("allows a match up to the limit of a step: program size x characters", () => {
    const fits = Math.floor(PATTERN_WORK.step / costly.programSize) - 2;
    expect(thrownBy(() => costly.test(ab(fits), new WorkBudget()))).toBeNull();
    expect(thrownBy(() => costly.test(ab(fits + 10), new WorkBudget()))?.code).toBe(
      "pattern_too_costly",
    );
  });

  it("ends a costly match of 400,000 characters quickly (H5)", () => {
    const began = performance.now();
    expect(thrownBy(() => costly.test(ab(400_000), new WorkBudget()))?.code).toBe(
      "pattern_too_costly",
    );
    expect(performance.now() - began).toBeLessThan(1_000);
  });

  it("adds up the work of small matches, with and without pauses", async () => {
    const line = ab(500);
    const budget = new WorkBudget();
    let matches = 0;
    const matchUntilError = async (isPausing: boolean): Promise<PatternError | null> => {
      for (; matches < 10_000; matches++) {
        const error = thrownBy(() => costly.test(line, budget));
        if (error) return error;
        if (isPausing && budget.isPauseDue) await budget.pause();
      }
      return null;
    };
    expect((await matchUntilError(true))?.code).toBe("pattern_too_costly");
    expect(matches * line.length * costly.programSize).toBeGreaterThan(PATTERN_WORK.call * 0.9);
    expect(matches * line.length * costly.programSize).toBeLessThanOrEqual(PATTERN_WORK.call);
    const matchesWithPauses = matches;
    matches = 0;
    const unpaused = new WorkBudget();
    while (thrownBy(() => costly.test(line, unpaused)) === null) matches++;
    expect(matches).toBeLessThan(matchesWithPauses / 10);
  });

  it("remains exceeded if the caller ignores the error, and reports the error once", () => {
    const reported: string[] = [];
    const budget = new WorkBudget(PATTERN_WORK, ({ code }) => reported.push(code));
    thrownBy(() => costly.test(ab(400_000), budget));
    expect(thrownBy(() => compiled("a").test("a", budget))?.code).toBe("pattern_too_costly");
    expect(reported).toEqual(["pattern_too_costly"]);
  });

  it("lets timers run during a pause, and the pause throws if the signal is aborted", async () => {
    const budget = new WorkBudget();
    let ran = false;
    setTimeout(() => {
      ran = true;
    }, 0);
    await budget.pause();
    expect(ran).toBe(true);
    await expect(budget.pause(AbortSignal.abort(new Error("left")))).rejects.toThrow("left");
  });

  it.each([
    {
      name: "a text without the literal of the pattern",
      source: "needle.*x",
      text: "hay ".repeat(50_000),
    },
    { name: "a text in which each match is found at once", source: "a", text: "a".repeat(20_000) },
  ])("charges little for $name", ({ source, text }) => {
    const budget = new WorkBudget();
    const pattern = compilePattern(source, budget);
    let found = pattern.find(text, budget);
    while (found) found = pattern.find(text, budget, found[1]);
    expect(budget.allowance).toBeGreaterThan(PATTERN_WORK.step / 2);
  });

  it("charges each search that reads to the end of the text", () => {
    const pattern = compiled("(?:a[^z]*z)|a");
    const budget = new WorkBudget();
    const text = "a".repeat(20_000);
    const findAll = () => {
      for (
        let found = pattern.find(text, budget);
        found;
        found = pattern.find(text, budget, found[1])
      );
    };
    expect(thrownBy(findAll)?.code).toBe("pattern_too_costly");
  });

  it("is tested with the version of the engine whose internals it uses", async () => {
    const { version } = (
      await import("../../node_modules/re2js/package.json", { with: { type: "json" } })
    ).default;
    expect(version).toBe("2.10.0");
    expect(MAX_PROGRAM).toBeLessThan(PATTERN_WORK.step / 80);
  });
});
