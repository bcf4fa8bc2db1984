import { execFile, spawnSync } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type OrderedEdit,
  ordersText,
  TREE_MODELS,
} from "../../../simulated/providers/tree-models";
import { runningService } from "../../e2e/support/running-service";
import { startInTerminal } from "../terminal/real-terminal";

/**
 * `massgen-edge diff` in its own process, with the service itself: what git makes of its patch, and
 * what a user sees at a narrow terminal.
 */
const stack = runningService(TREE_MODELS);
let root = "";
let session = "";
const folder = (name: string) => path.join(root, name);

const PROGRAM = [process.execPath, path.resolve("scripts/run.mjs"), path.resolve("cli/main.ts")];
const quoted = (words: readonly string[]): string =>
  words.map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`).join(" ");
/** The shell command that runs the program. */
const massgenEdge = (...args: string[]): string =>
  quoted([...PROGRAM, ...args, "--server", stack.service.url]);

type ShellResult = { code: number; stdout: string; stderr: string };

/** Runs a script in a folder, in a shell that fails if any command of a pipe fails. */
function inShell(script: string, cwd = root): Promise<ShellResult> {
  const { MASSGEN_EDGE_KEY: _key, MASSGEN_EDGE_SERVER: _server, ...env } = process.env;
  const options = { cwd, env: { ...env, HOME: root } };
  return new Promise((resolve) => {
    execFile("bash", ["-o", "pipefail", "-c", script], options, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
    );
  });
}

async function succeeded(script: string, cwd?: string): Promise<string> {
  const { code, stdout, stderr } = await inShell(script, cwd);
  if (code !== 0) throw new Error(`${script} ended with ${code}: ${stdout}${stderr}`);
  return stdout;
}

const write = (file: string, contents: string): OrderedEdit => ({
  path: `/workspace/${file}`,
  contents,
});
const linesOf = (from: number, to: number): string =>
  Array.from({ length: to - from + 1 }, (_, nth) => `line ${from + nth}\n`).join("");
const LONG_LINE = `the end of this line is beyond the edge of the terminal${".".repeat(40)}END`;

/** What the presenter of each turn changes. Turn 3 follows turn 1, so it is another branch. */
const TURNS: readonly { from?: string; edits: readonly OrderedEdit[] }[] = [
  {
    edits: [
      write("poem.txt", linesOf(1, 60)),
      write("a name with spaces.txt", "one\ntwo\nthree"),
      write("größe/übung.md", "# Übung\n\nText\n"),
      write("deep/er/still.txt", "still here\n"),
      write("obsolete.txt", "# not a comment of the patch\n"),
    ],
  },
  {
    edits: [
      write("poem.txt", `${linesOf(1, 9)}${LONG_LINE}\n${linesOf(11, 50)}\n${linesOf(52, 61)}`),
      write("a name with spaces.txt", "one\n2\nthree\n"),
      { path: "/workspace/moved.txt", from: "/workspace/deep/er/still.txt" },
      { path: "/workspace/obsolete.txt", contents: null },
      write("sources/of/the/application/components/navigation/main-menu.ts", "menu\n"),
      write("größe/neu.md", "-- \n++ \n@@ -1 +1 @@\n\\ No newline at end of file\n"),
    ],
  },
  {
    from: "1",
    edits: [write("poem.txt", "replaced as a whole\n"), write("new.txt", "no line feed")],
  },
];

beforeAll(async () => {
  root = await mkdtemp(path.join(tmpdir(), "diff-"));
  const backend = `{type: chatcompletion, model: chronicler, base_url: "${stack.providers.baseUrl}", api_key: simulated, enable_mcp_command_line: true}`;
  await writeFile(folder("team.yaml"), `agents:\n  - {id: ann, backend: ${backend}}\n`);
  for (const [nth, { from, edits }] of TURNS.entries()) {
    const question = ordersText({
      ...{ id: nth + 1, ends: "completed", reads: [], answer: [], rejected: null },
      final: [...edits],
    });
    const place = nth === 0 ? ["--config", "team.yaml"] : ["--session", session];
    const branch = from === undefined ? [] : ["--from", from];
    const printed = await succeeded(massgenEdge(...place, ...branch, "--json", question));
    ({ session_id: session } = JSON.parse(printed));
    await succeeded(
      massgenEdge("files", session, String(nth + 1), "--save", folder(`turn-${nth + 1}`)),
    );
  }
}, 120_000);
afterAll(() => rm(root, { recursive: true, force: true }));

/** The files of a folder, without the note of `files --save`. */
async function filesIn(name: string): Promise<Record<string, string>> {
  const entries = await readdir(folder(name), { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder(name), path.join(entry.parentPath, entry.name)))
    .filter((file) => !file.startsWith(".massgen-edge"))
    .sort();
  const texts = files.map(
    async (file) => [file, await readFile(path.join(folder(name), file), "utf8")] as const,
  );
  return Object.fromEntries(await Promise.all(texts));
}

describe("the patch of massgen-edge diff", () => {
  it.each([
    { name: "turns one turn into the next", from: 1, to: 2 },
    { name: "also backwards", from: 2, to: 1 },
    { name: "turns one branch into the other", from: 2, to: 3 },
  ])("$name with git apply", async ({ from, to }) => {
    const work = `applied-${from}-${to}`;
    await succeeded(`cp -r turn-${from} ${work}`);
    await succeeded(
      `${massgenEdge("diff", session, `turn_${from}`, `turn_${to}`)} | git apply`,
      folder(work),
    );
    expect(await filesIn(work)).toEqual(await filesIn(`turn-${to}`));
  });

  it("is also what the service returns as text/x-diff, except the answers", async () => {
    const printed = await succeeded(massgenEdge("diff", session, "1", "2"));
    const response = await fetch(
      new URL(`/api/sessions/${session}/diff?from=turn_1&to=turn_2`, stack.service.url),
      { headers: { accept: "text/x-diff" } },
    );
    const patch = await response.text();
    expect(printed.slice(0, patch.length)).toBe(patch);
    const rest = printed.slice(patch.length).trimEnd().split("\n");
    expect(rest[0]).toBe("# answer turn_1 → turn_2");
    expect(rest.filter((line) => !line.startsWith("#"))).toEqual([]);
  });

  it("ends with an error and prints no patch if a point does not exist", async () => {
    const { code, stdout, stderr } = await inShell(massgenEdge("diff", session, "turn_9"));
    expect([code === 0, stdout]).toEqual([false, ""]);
    expect(stderr).toContain("turn_1");
  });
});

const hasScript =
  spawnSync("script", ["--version"]).stdout?.toString().includes("util-linux") ?? false;

describe.skipIf(!hasScript)("at a terminal of 60 columns", () => {
  const COLUMNS = 60;
  const shown = (...args: string[]) =>
    startInTerminal(massgenEdge(...args), { columns: COLUMNS, home: root });

  it("massgen-edge diff shows whole lines, which the terminal wraps", async () => {
    const terminal = shown("diff", session, "1", "2");
    await terminal.ended;
    const screen = terminal.plainText();
    expect(screen).toContain("changed poem.txt  +3 -2\n@@ -7,7 +7,7 @@\n line 7\n");
    expect(screen).toContain(`-line 10\n+${LONG_LINE}\n line 11\n`);
    expect(screen).toContain("renamed deep/er/still.txt → moved.txt\n");
    expect(screen).toContain("answer turn_1 → turn_2\n");
    expect(screen).toContain("turn_1 → turn_2: 6 files differ, the answers differ\n");
  });

  it("massgen-edge diff --stat fits into the columns", async () => {
    const terminal = shown("diff", session, "1", "2", "--stat");
    await terminal.ended;
    const lines = terminal.plainText().trimEnd().split("\n");
    expect(lines).toEqual([
      "change   +  -  file",
      "changed  2  2  a name with spaces.txt",
      "added    4  0  größe/neu.md",
      "renamed  0  0  deep/er/still.txt → moved.txt",
      "deleted  0  1  obsolete.txt",
      "changed  3  2  poem.txt",
      "added    1  0  sources/of/the/application/components/navig…",
      "turn_1 → turn_2: 6 files differ, the answers differ",
    ]);
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThan(COLUMNS);
  });

  it("/diff in a conversation shows the same as massgen-edge diff", async () => {
    const alone = shown("diff", session, "1", "2");
    await alone.ended;
    const talk = shown("--session", session);
    await talk.waitFor("/quit leaves.");
    talk.press("/diff turn_1 turn_2\r");
    await talk.waitFor("6 files differ");
    talk.press("/quit\r");
    await talk.ended;
    expect(talk.plainText()).toContain(alone.plainText());
  });
});
