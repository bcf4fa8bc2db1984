import { describe, expect, it } from "vitest";
import { UsageError } from "../../local/command-line";
import { parsePlantedBugsArguments } from "./arguments";
import { nameOf, PLANTED_BUGS } from "./planted-bugs";

const [first, second] = PLANTED_BUGS.map(nameOf);

describe("the arguments of npm run planted-bugs", () => {
  it("choose all bugs by default", () => {
    expect(parsePlantedBugsArguments(["--jobs", "3"])).toEqual({
      bugs: PLANTED_BUGS,
      sessions: 150,
      jobs: 3,
      isRecorded: false,
    });
  });

  it("choose each named bug once", () => {
    const only = [first, second, first].flatMap((name) => ["--only", name ?? ""]);
    expect(parsePlantedBugsArguments([...only, "--sessions", "9", "--record"])).toMatchObject({
      bugs: PLANTED_BUGS.slice(0, 2),
      sessions: 9,
      isRecorded: true,
    });
  });

  it("are null for --help", () => {
    expect(parsePlantedBugsArguments(["--help", "--only", "typo"])).toBeNull();
  });

  it.each([
    { argv: ["--sessions", "0"], message: '--sessions is a whole number from 1, not "0".' },
    { argv: ["--jobs", "x"], message: '--jobs is a whole number from 1, not "x".' },
    {
      argv: ["--only", "typo"],
      message: `No name matches "typo". Names:${PLANTED_BUGS.map((bug) => `\n  ${nameOf(bug)}`).join("")}`,
    },
  ])("$argv are refused with a reason", ({ argv, message }) => {
    expect(() => parsePlantedBugsArguments(argv)).toThrow(new UsageError(message));
  });

  it("are refused if an option is unknown", () => {
    expect(() => parsePlantedBugsArguments(["--sedes", "5"])).toThrow("'--sedes'");
  });
});
