import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, it } from "vitest";
import type { DiffFacts } from "../../../cli/diff/read-diff";
import { diffLines } from "../../../cli/diff/diff-lines";
import { paint } from "../../../cli/terminal/output";
import { Service } from "../service";
import { SESSION } from "../../protocol/builders";
import { runAt } from "./terminal";

const cwd = mkdtempSync(path.join(tmpdir(), "diff-"));
const side = (size: number, executable?: true) => ({
  sha256: "ab".repeat(32),
  size,
  ...(executable && { executable }),
});
const DIFF: DiffFacts = {
  from: { reference: "turn_1", turn: 1 },
  to: { reference: "turn_2", turn: 2 },
  counts: { added: 1, deleted: 0, changed: 2, renamed: 1 },
  data: [
    {
      ...{ change: "changed", path: "a b.txt", from: side(8), to: side(6), added: 1, deleted: 1 },
      hunks: [
        {
          ...{ from_start: 1, from_lines: 2, to_start: 1, to_lines: 2 },
          lines: [" one", "-two", "+\x1b[2J2"],
        },
      ],
    },
    {
      ...{ change: "changed", path: "image.png", from: side(1_200), to: side(2_400_000) },
      ...{ added: null, deleted: null, hunks: [], not_compared: "too_large" },
    },
    {
      ...{
        change: "renamed",
        path: "new.sh",
        from_path: "old.sh",
        from: side(3),
        to: side(3, true),
      },
      ...{ added: 0, deleted: 0, hunks: [] },
    },
  ],
  more: 1,
  unavailable_contexts: ["handbook"],
  answer: {
    from: side(10),
    to: { ...side(12), sha256: "cd".repeat(32) },
    parts: [
      { op: "same", text: "1\n2\n3\n4\nThe sum is " },
      { op: "deleted", text: "42" },
      { op: "added", text: "43" },
      { op: "same", text: ".\nb\nc\nd\ne" },
    ],
  },
};
const EQUAL: DiffFacts = {
  ...DIFF,
  ...{ data: [], counts: { added: 0, deleted: 0, changed: 0, renamed: 0 }, more: 0 },
  ...{ unavailable_contexts: [], answer: null },
};

/** Runs `diff` at a service with one session; `isTerminal`: at a terminal, else in a pipe. */
async function run(
  {
    path = "/diff",
    diff = DIFF,
    isTerminal = true,
  }: { path?: string; diff?: object; isTerminal?: boolean },
  ...args: string[]
) {
  await using service = await Service.start({
    events: [],
    answers: { [`/api/sessions/${SESSION}${path}`]: { status: 200, body: diff } },
  });
  return await runAt(
    { cwd, ...(isTerminal && { keys: [] }) },
    ...["diff", ...args, "--server", service.url],
  );
}

const AT_A_TERMINAL = `changed a b.txt  +1 -1
@@ -1,2 +1,2 @@
 one
-two
+\\x1b[2J2

changed image.png
over 1 MB
-1.2 kB, sha256 abababababababab…
+2.4 MB, sha256 abababababababab…

renamed old.sh → new.sh
executable

answer turn_1 → turn_2
…
4
The sum is [-42-]{+43+}.
b
…
`;
const SUMMARY = `turn_1 → turn_2: 4 files differ, the answers differ
1 more file not listed.
Not compared, because a version is erased: handbook
`;

describe("massgen-edge diff", () => {
  it("prints at a terminal each file with its hunks, and the answers by words", async () => {
    const { code, stdout, screen } = await run({}, SESSION);
    expect([code, stdout, screen]).toEqual([0, AT_A_TERMINAL, SUMMARY]);
  });

  it("prints in a pipe a patch for git, with the answers in lines that git skips", async () => {
    const { stdout } = await run({ isTerminal: false }, SESSION);
    expect(stdout).toBe(
      `diff --git "a/a b.txt" "b/a b.txt"
--- "a/a b.txt"
`.replaceAll('"', "") +
        `+++ b/a b.txt
@@ -1,2 +1,2 @@
 one
-two
+\x1b[2J2
# not in this patch (too_large): "image.png": 1200 bytes sha256:${"ab".repeat(32)} -> 2400000 bytes sha256:${"ab".repeat(32)}
diff --git a/old.sh b/new.sh
old mode 100644
new mode 100755
rename from old.sh
rename to new.sh
# 1 more files differ and are not in this patch.
# answer turn_1 → turn_2
# …
# 4
# The sum is [-42-]{+43+}.
# b
# …
`,
    );
  });

  it("--stat prints a line per file", async () => {
    const terminal = await run({}, SESSION, "--stat");
    expect(terminal.stdout).toBe(
      [
        "change   +  -  file",
        "changed  1  1  a b.txt",
        "changed  ?  ?  image.png",
        "renamed  0  0  old.sh → new.sh",
        "",
      ].join("\n"),
    );
    const pipe = await run({ isTerminal: false }, SESSION, "--stat");
    expect(pipe.stdout.split("\n")[0]).toBe("changed\t1\t1\ta b.txt");
  });

  it("--json prints the response", async () => {
    const { stdout, screen } = await run({ diff: EQUAL }, SESSION, "--json");
    expect([JSON.parse(stdout), screen]).toEqual([EQUAL, ""]);
  });

  it("says that nothing differs", async () => {
    const { stdout, screen } = await run({ diff: EQUAL }, SESSION);
    expect([stdout, screen]).toEqual(["", "turn_1 → turn_2: no file differs\n"]);
  });

  it.each([
    {
      args: [SESSION, "turn_1", "turn_2/agent1.1"],
      path: "/diff?from=turn_1&to=turn_2%2Fagent1.1",
    },
    { args: [SESSION, "1", "2/agent1.1"], path: "/diff?from=turn_1&to=turn_2%2Fagent1.1" },
    { args: [SESSION, "parent"], path: "/diff?from=parent" },
  ])("$args asks for $path", async ({ args, path }) => {
    expect((await run({ path }, ...args)).code).toBe(0);
  });

  it("means the last session if only points are named", async () => {
    await expect(run({}, "turn_1", "turn_2")).rejects.toThrow("knows no last session");
  });

  it.each([
    { args: [SESSION, "latest"], message: "Points of a session look like parent, turn_2," },
    { args: ["turn_1", "turn_2", "turn_3"], message: "Name at most two points" },
  ])("refuses $args", async ({ args, message }) => {
    await expect(run({}, ...args)).rejects.toThrow(message);
  });

  it("has colours only in the painted lines, never in the texts", () => {
    const [title, ...rest] = diffLines(DIFF);
    const painted = rest.map((line) => paint(line, { width: 80, color: true }));
    expect(paint(title ?? [], { width: 80, color: true })).toContain("\x1b[1m");
    expect(painted).toContain("\x1b[31m-two\x1b[0m");
    expect(painted.join("")).not.toContain("\x1b[2J");
  });
});
