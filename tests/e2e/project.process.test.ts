import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { worksOnFiles } from "../../simulated/providers/coding";
import type { Script } from "../../simulated/providers/reply";
import { paced } from "../../simulated/providers/scripts";
import { Ask } from "../cli/ask-process";
import { runningService } from "./support/running-service";

/**
 * A user works with a team on a small site over three turns, by the command line alone: the folder
 * is a repository with a `.gitignore`, and between the turns the user edits files and pushes them.
 */

const git = promisify(execFile);

/** The work of the presenter, by a word of the question. */
const WORK: Readonly<Record<string, string>> = {
  start:
    "echo '<h1>Start</h1>' > index.html && echo '<p>News</p>' > news.html && mkdir -p dist && echo built > dist/app.js",
  about:
    "cat news.html dist/app.js && echo '<p>Team</p>' >> about.html && cat old.html && rm old.html && echo '<h2>2</h2>' >> index.html",
  style:
    "cat about.html && echo 'h1 { color: red }' > style.css && echo '<h2>3</h2>' >> index.html && mkdir -p old && echo kept > old/index.html",
};

const scriptOf = (command: string): Script =>
  worksOnFiles({
    answer: "The plan for the site is ready.",
    last: [["run_command", { command: `cd /contexts/site* && ${command}` }]],
  });
const builder: Script = (situation) => {
  const word = Object.keys(WORK).find((name) => situation.question.includes(name)) ?? "start";
  return scriptOf(WORK[word] ?? "true")(situation);
};

const stack = runningService({ builder: paced({ ttftMs: 50, tokensPerSecond: 2_000 }, builder) });
const FILES = {
  ".gitignore": "dist/\n",
  ".env": "KEY=1\n",
  "index.html": "<h1>Hello</h1>\n",
  "about.html": "<p>About</p>\n",
  "old.html": "<p>Old</p>\n",
  "dist/cache.js": "local\n",
};

let root = "";
beforeAll(async () => {
  root = await mkdtemp(path.join(tmpdir(), "project-"));
});
afterAll(() => rm(root, { recursive: true, force: true }));

let home = "";
let site = "";
let testNumber = 0;
beforeEach(async () => {
  testNumber += 1;
  home = path.join(root, String(testNumber));
  site = path.join(home, "site");
  await mkdir(site, { recursive: true });
  await write(FILES);
  const agents = ["one", "two"].map(
    (id) =>
      `  - {id: ${id}, backend: {type: chatcompletion, model: builder, base_url: "${stack.providers.baseUrl}", api_key: simulated, enable_mcp_command_line: true}}\n`,
  );
  await writeFile(path.join(home, "team.yaml"), `agents:\n${agents.join("")}`);
});

async function write(files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(site, name)), { recursive: true });
    await writeFile(path.join(site, name), text);
  }
}

/** All files of the site, except those of git and of the program. */
async function files(): Promise<Record<string, string>> {
  const entries = await readdir(site, { recursive: true, withFileTypes: true });
  const names = entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(site, path.join(entry.parentPath, entry.name)))
    .filter((name) => !/^\.(git|massgen-edge)\//.test(name))
    .sort();
  const contents = names.map(
    async (name) => [name, await readFile(path.join(site, name), "utf8")] as const,
  );
  return Object.fromEntries(await Promise.all(contents));
}

/** Runs the program as its own process in the parent folder of the site. */
async function run(...args: string[]) {
  const server = ["--server", stack.service.url];
  const ask = new Ask([...args, ...server], { cwd: home, env: { HOME: home } });
  const code = await ask.ended();
  return { code, stdout: ask.stdout, stderr: ask.stderr };
}

/** Asks, and runs the pull command that the program prints. */
async function askAndPull(...args: string[]) {
  const asked = await run(...args);
  expect([asked.code, asked.stderr]).toEqual([0, expect.stringContaining("pull    ")]);
  const [, words = ""] = /^pull {4}npm run ask -- (.*?) --server \S+$/m.exec(asked.stderr) ?? [];
  return run(...words.split(" "));
}

describe("a project over three turns, with edits and pushes by the user between them", () => {
  it("has the user's and the team's files on disk after each turn, and no conflict", async () => {
    await git("git", ["init", "--quiet", site]);
    const first = await askAndPull(
      "--config",
      "team.yaml",
      "--with",
      "./site:write",
      "Build a start page",
    );
    expect([first.code, first.stdout]).toEqual([0, "write\tindex.html\nwrite\tnews.html\n"]);
    expect(first.stderr).toContain("left out, ignored by git: dist/");
    const afterFirst = { ...FILES, "index.html": "<h1>Start</h1>\n", "news.html": "<p>News</p>\n" };
    expect(await files()).toEqual(afterFirst);
    const { stdout: status } = await git("git", ["-C", site, "status", "--porcelain"]);
    expect(status).not.toContain("massgen-edge");

    await write({ "about.html": "<p>About us</p>\n", "contact.html": "<p>Contact</p>\n" });
    expect((await run("push", "./site")).code).toBe(0);
    expect((await run("--continue", "Extend the about page")).code).toBe(0);
    const second = await run("pull", "./site", "--session", "last", "--apply");
    expect([second.code, second.stdout.split("\n").toSorted()]).toEqual([
      0,
      ["", "delete\told.html", "write\tabout.html", "write\tindex.html"],
    ]);
    const { "old.html": _, ...kept } = afterFirst;
    const afterSecond = {
      ...kept,
      "index.html": "<h1>Start</h1>\n<h2>2</h2>\n",
      "about.html": "<p>About us</p>\n<p>Team</p>\n",
      "contact.html": "<p>Contact</p>\n",
    };
    expect(await files()).toEqual(afterSecond);

    await write({ "index.html": "<h1>My start</h1>\n", "contact.html": "<p>Mail</p>\n" });
    const third = await askAndPull("--continue", "--with", "./site:write", "Add a style");
    expect([third.code, third.stdout.split("\n").toSorted()]).toEqual([
      0,
      ["", "write\tindex.html", "write\told/index.html", "write\tstyle.css"],
    ]);
    expect(await files()).toEqual({
      ...afterSecond,
      "index.html": "<h1>My start</h1>\n<h2>3</h2>\n",
      "contact.html": "<p>Mail</p>\n",
      "old/index.html": "kept\n",
      "style.css": "h1 { color: red }\n",
    });
    const again = await run("pull", "./site", "--session", "last");
    expect([again.code, again.stdout]).toEqual([0, ""]);
  });

  it("refuses a turn whose files both sides changed, and continues with the side that the user names", async () => {
    await run("--config", "team.yaml", "--with", "./site:write", "Build a start page");
    await write({ "index.html": "<h1>Mine</h1>\n" });
    await run("push", "./site");
    const refused = await run("--continue", "Add a style");
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(
      / site\S*: index.html {2}changed by the turn and by your push\n/,
    );
    for (const side of ["turn", "upload"])
      expect(refused.stderr).toMatch(
        new RegExp(`ask --session session_\\w+ 'Add a style' --conflicts ${side} --server`),
      );
    expect((await run("--continue", "--conflicts", "upload", "Add a style")).code).toBe(0);
    await run("pull", "./site", "--session", "last", "--apply");
    expect((await files())["index.html"]).toBe("<h1>Mine</h1>\n<h2>3</h2>\n");
  });

  it("leads out of a conflict file by file with the commands that the refusal prints", async () => {
    await run("--config", "team.yaml", "--with", "./site:write", "Build a start page");
    await write({ "index.html": "<h1>Mine</h1>\n" });
    const refused = await run("--continue", "--with", "./site:write", "Add a style");
    expect(refused.code).toBe(1);
    /** Runs the printed command that matches, as a user who copies it. */
    const runPrinted = (pattern: RegExp) => {
      const [, words = ""] = pattern.exec(refused.stderr) ?? [];
      const parts = words.match(/'[^']*'|\S+/g) ?? [];
      return run(...parts.map((part) => part.replace(/^'(.*)'$/, "$1")));
    };
    const pulled = await runPrinted(/^ {2}1\. npm run ask -- (pull .*) --server/m);
    expect([pulled.code, pulled.stdout]).toEqual([
      1,
      "conflict\tindex.html\tchanged on both sides\nwrite\tnews.html\n",
    ]);
    await write({ "index.html": "<h1>Merged</h1>\n" });
    expect((await runPrinted(/^ {2}3\. npm run ask -- (push .*) --server/m)).code).toBe(0);
    expect((await run("--continue", "Add a style")).stderr).toContain("context_conflicts");
    expect((await runPrinted(/^ {2}4\. npm run ask -- (ask .*) --server/m)).code).toBe(0);
    expect((await run("pull", "./site", "--session", "last", "--apply")).code).toBe(0);
    expect(await files()).toMatchObject({
      "index.html": "<h1>Merged</h1>\n<h2>3</h2>\n",
      "news.html": "<p>News</p>\n",
    });
  });

  it("pushes no folder for a config that the service refuses", async () => {
    const config = "agents:\n  - {id: one, backend: {type: no-such-provider, model: m}}\n";
    await writeFile(path.join(home, "refused.yaml"), config);
    const refused = await run("--config", "refused.yaml", "--with", "./site", "Build a start page");
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringMatching(/^Nothing was pushed\.\nrefused\.yaml cannot run here\.\n.*2:/s),
    ]);
    await expect(readdir(path.join(site, ".massgen-edge"))).rejects.toThrow("ENOENT");
  });

  it("asks a team whose config names the folder `.`, after the user allowed it, without an edit of the config", async () => {
    const team = await readFile(path.join(home, "team.yaml"), "utf8");
    const config = `${team}orchestrator:\n  context_paths: [{path: ., permission: write}]\n`;
    await writeFile(path.join(site, "team.yaml"), config);
    const server = ["--server", stack.service.url];
    const start = async (...args: string[]) => {
      const ask = new Ask([...args, ...server], { cwd: site, env: { HOME: home } });
      return { code: await ask.ended(), stderr: ask.stderr };
    };
    const refused = await start("--config", "team.yaml", "Build a start page");
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringContaining(
        `Without a terminal they are not sent. To send them, add --with ${site}`,
      ),
    ]);
    expect((await start("--config", "team.yaml", "--with", ".", "Build a start page")).code).toBe(
      0,
    );
    expect((await start("pull", "--session", "last", "--apply")).code).toBe(0);
    expect((await files())["index.html"]).toBe("<h1>Start</h1>\n");
  });
});
