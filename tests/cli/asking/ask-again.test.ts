import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { SESSION } from "../../protocol/builders";
import { runAt } from "../commands/terminal";
import { problem, Service, type ServiceOptions } from "../service";

const VERSION = "0".repeat(26);
const HASH = "a".repeat(64);
const TURNS = `/api/sessions/${SESSION}/turns`;
const CONFLICTS = problem(409, {
  title: "Conflict",
  code: "context_conflicts",
  conflicts: [
    { context: "site", path: "index.html", turn: HASH, upload: HASH },
    { context: "site", path: "old.html", turn: null, upload: HASH },
  ],
});
/** Turn 2 failed, so the last result is that of turn 1. */
const FACTS = {
  turns: [
    { turn: 1, status: "completed", parent_turn: null },
    { turn: 2, status: "failed", parent_turn: 1 },
  ],
};
const ENTRY = {
  name: "site",
  version: VERSION,
  files: 1,
  bytes: 1,
  links: { context: "", blobs: "" },
};

let home = "";
let service: Service;
const start = async (answers: ServiceOptions["answers"] = {}) => {
  service = await Service.start({
    events: [],
    answers: {
      [TURNS]: CONFLICTS,
      [`/api/sessions/${SESSION}`]: { status: 200, body: FACTS },
      "/api/contexts/site": {
        status: 200,
        body: { ...ENTRY, status: "unchanged", missing: [], skipped: [] },
      },
      ...answers,
    },
  });
  const note = { server: service.url, name: "site", version: VERSION };
  await writeFile(path.join(home, "site/.massgen-edge/context.json"), JSON.stringify(note));
};

beforeEach(async () => {
  home = await realpath(await mkdtemp(path.join(tmpdir(), "again-")));
  await mkdir(path.join(home, "site/.massgen-edge"), { recursive: true });
  await writeFile(path.join(home, "site/index.html"), "mine");
  await writeFile(path.join(home, "a.txt"), "a");
});
afterEach(async () => {
  await service[Symbol.asyncDispose]();
  await rm(home, { recursive: true, force: true });
});

/** Asks in the session, and returns the message of the refusal. */
async function refusalOf(...args: string[]): Promise<string> {
  const words = ["ask", "--session", SESSION, ...args, "--server", service.url];
  const asked = await runAt({ cwd: home }, ...words).catch((error: Error) => error);
  return asked instanceof Error ? asked.message : "";
}

/** The question in a command that the message prints. */
const questionIn = (message: string): string =>
  /ask --session \S+ (.*) --conflicts turn/s.exec(message)?.[1] ?? "";

describe("a turn that conflicts refuse", () => {
  it("prints commands that repeat all options of the question", async () => {
    await start();
    const options = [
      ...["--max-cost", "0.5", "--max-tokens", "1000", "--timeout", "60"],
      ...["--file", "a.txt", "--with", "./site:write", "--json", "-o", "answer.json"],
    ];
    const message = await refusalOf(...options, "--from", "1", "Add a style");
    const command = `npm run ask -- ask --session ${SESSION} --from 1 --with ./site:write --file a.txt --max-cost 0.5 --max-tokens 1000 --orchestrator-timeout 60 --json --output-file answer.json 'Add a style'`;
    for (const side of ["turn", "upload"])
      expect(message).toContain(`  ${command} --conflicts ${side} --server ${service.url}\n`);
  });

  it("prints the commands that decide file by file, for the last turn that has a result", async () => {
    await start();
    const message = await refusalOf("--with", "./site:write", "Add a style");
    const end = `--server ${service.url}`;
    const pull = `npm run ask -- pull ./site --session ${SESSION} --turn 1`;
    expect(message.split("\n").slice(-6)).toEqual([
      "To decide file by file:",
      `  1. ${pull} --apply --skip-conflicts ${end}`,
      `  2. Edit the files above in ./site. To see the turn's changes:`,
      `     ${pull} --patch ${end}`,
      `  3. npm run ask -- push ./site ${end}`,
      `  4. npm run ask -- ask --session ${SESSION} --with ./site:write 'Add a style' --conflicts upload ${end}`,
    ]);
  });

  it("names the folder as FOLDER if the question pushed none, and the turn of --from", async () => {
    await start();
    const message = await refusalOf("--from", "1", "Add a style");
    expect(message).toContain(`pull FOLDER --session ${SESSION} --turn 1 --apply --skip-conflicts`);
    expect(message).toContain("in FOLDER, the folder of the context site.");
  });

  it("prints no question that was not asked: a long one is read from a file", async () => {
    await start();
    const long = `Add ${"x".repeat(900)}`;
    expect(questionIn(await refusalOf(long))).toBe(`'${long}'`);
    for (const text of ["x".repeat(1_500), "two\nlines", "a\u001b[31mred"])
      expect(questionIn(await refusalOf(text))).toBe("- < question.txt");
  });
});

describe("a folder that a later question gives", () => {
  it.each([
    {
      typed: "./site",
      contexts: [
        { name: "docs", permission: "read" },
        { name: "site", permission: "write" },
      ],
    },
    {
      typed: "./site:read",
      contexts: [
        { name: "docs", permission: "read" },
        { name: "site", permission: "read" },
      ],
    },
  ])("$typed joins the contexts that the team has", async ({ typed, contexts }) => {
    const started = {
      type: "turn.started",
      contexts: [{ name: "docs" }, { name: "site" }],
      grants: [
        { name: "docs", permission: "read" },
        { name: "site", permission: "write" },
      ],
    };
    await start({
      [`${TURNS}/2/events?detail=summary&limit=5`]: { status: 200, body: { data: [started] } },
    });
    await refusalOf("--with", typed, "Add a style");
    const asked = service.requests.find(
      ({ method, path: at }) => method === "POST" && at === TURNS,
    );
    expect(JSON.parse(asked?.body ?? "{}")).toEqual({
      ...{ question: "Add a style", contexts, on_busy: "queue" },
    });
  });
});

describe("a question that cannot be asked pushes nothing", () => {
  it.each([
    {
      name: "with a missing config",
      args: ["--config", "none.yaml"],
      message: "Cannot read the config none.yaml",
    },
    {
      name: "with options that contradict each other",
      args: ["--quick", "--max-answers", "2"],
      message: "With --quick each agent answers once",
    },
    {
      name: "with a missing file",
      args: ["--file", "none.txt"],
      message: "Cannot attach none.txt",
    },
    {
      name: "with folders and without contexts",
      args: ["--no-contexts"],
      message: "--no-contexts takes all contexts back: omit --with.",
    },
  ])("$name", async ({ args, message }) => {
    await start();
    expect(await refusalOf("--with", "./site", ...args, "Add a style")).toContain(message);
    expect(service.requests).toEqual([]);
  });

  it("if there is no last session", async () => {
    await start();
    const args = ["ask", "--continue", "--with", "./site", "x", "--server", service.url];
    await expect(runAt({ cwd: home }, ...args)).rejects.toThrow("knows no last session");
    expect(service.requests).toEqual([]);
  });
});

it("--no-contexts ends the grants of earlier turns", async () => {
  await start();
  await refusalOf("--no-contexts", "And now without files?");
  const posts = service.requests.filter(({ method }) => method === "POST");
  expect(posts.map(({ body }) => JSON.parse(body))).toEqual([
    { question: "And now without files?", contexts: [], on_busy: "queue" },
  ]);
});
