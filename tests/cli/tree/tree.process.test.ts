import { execFile, spawnSync } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { answersThenVotes } from "../../../simulated/providers/scripts";
import { runningService } from "../../e2e/support/running-service";
import { startInTerminal } from "../terminal/real-terminal";

/** The tree of a session with two branches: the program in its own process, the service itself. */
const stack = runningService({ steady: answersThenVotes({ answer: "Yes." }) });
let home = "";
let session = "";

const PROGRAM = [process.execPath, path.resolve("scripts/run.mjs"), path.resolve("cli/main.ts")];
const quoted = (words: readonly string[]): string =>
  words.map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`).join(" ");
const massgenEdge = (...args: string[]): string =>
  quoted([...PROGRAM, ...args, "--server", stack.service.url]);

type Output = { stdout: string; stderr: string };
function run(...args: string[]): Promise<Output> {
  const { MASSGEN_EDGE_KEY: _key, MASSGEN_EDGE_SERVER: _server, ...env } = process.env;
  const options = { cwd: home, env: { ...env, HOME: home } };
  return new Promise((resolve, reject) => {
    execFile("bash", ["-c", massgenEdge(...args)], options, (error, stdout, stderr) =>
      error ? reject(new Error(`${stdout}${stderr}`)) : resolve({ stdout, stderr }),
    );
  });
}

/** The drawn tree: mark, branches and numbers, then the question. */
async function drawn(): Promise<string[]> {
  const { stdout } = await run("turns");
  return stdout
    .trimEnd()
    .split("\n")
    .map((line) => line.replace(/ +completed .*\d\d:\d\d {2}/, " "));
}

beforeAll(async () => {
  home = await mkdtemp(path.join(tmpdir(), "tree-"));
  const backend = `{type: chatcompletion, model: steady, base_url: "${stack.providers.baseUrl}", api_key: simulated}`;
  await writeFile(path.join(home, "team.yaml"), `agents:\n  - {id: ann, backend: ${backend}}\n`);
  const { stdout } = await run("--config", "team.yaml", "--json", "First question");
  ({ session_id: session } = JSON.parse(stdout));
  await run("--continue", "Second question");
  await run("--continue", "Third question");
}, 120_000);
afterAll(() => rm(home, { recursive: true, force: true }));

const hasScript =
  spawnSync("script", ["--version"]).stdout?.toString().includes("util-linux") ?? false;

describe("the tree of a session", () => {
  it("grows by branches, and the head says where the next question goes", async () => {
    expect(await drawn()).toEqual([
      "  1 First question",
      "  2 Second question",
      "* 3 Third question",
    ]);
    await run("branch", "1", "Another second question");
    await run("--continue", "--from", "2", "Another third question");
    expect(await drawn()).toEqual([
      "  1 First question",
      "  ├─ 2 Second question",
      "  │  ├─ 3 Third question",
      "* │  5 Another third question",
      "  4 Another second question",
    ]);
    const { stderr } = await run("continue-from", "4");
    expect(stderr).toBe("The next question follows turn 4. No file was changed.\n");
    expect((await drawn()).at(-1)).toMatch(/^\* 4 /);
  }, 120_000);

  it.skipIf(!hasScript)(
    "is drawn and left by /undo in a conversation at 60 columns, which changes no file",
    async () => {
      await mkdir(path.join(home, "site"));
      await writeFile(path.join(home, "site", "index.html"), "<p>mine</p>\n");
      const talk = startInTerminal(massgenEdge("--session", session, "--with", "site:write"), {
        columns: 60,
        home,
      });
      await talk.waitFor("/quit leaves.");
      talk.press("/undo\r");
      await talk.waitFor("--turn 1 --apply");
      talk.press("/turns\r");
      await talk.waitFor("* 1");
      talk.press("/undo\r");
      await talk.waitFor("There is no turn before turn 1.");
      talk.press("/quit\r");
      await talk.ended;
      const lines = talk.plainText().split("\n");
      const tree = lines.filter((line) => line.includes("completed"));
      expect(tree).toHaveLength(5);
      expect(Math.max(...tree.map(({ length }) => length))).toBeLessThan(60);
      expect(await readFile(path.join(home, "site", "index.html"), "utf8")).toBe("<p>mine</p>\n");
      expect(JSON.parse((await run("turns", "--json")).stdout).head).toBe(1);
    },
    120_000,
  );
});
