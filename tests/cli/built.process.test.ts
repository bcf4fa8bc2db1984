import { execFile, spawnSync } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { version } from "../../package.json";
import { storeConsent } from "../../cli/asking/consent";
import { buildCli, CLI_FILE } from "../../local/bundle/cli-bundle";
import * as b from "../protocol/builders";
import { Ask, type Start } from "./ask-process";
import { problem, Service, type ServiceOptions } from "./service";

/** These tests run the built file, as users do, with the Node on the path. */
const events = b.log(b.story);
const start = (options: Partial<ServiceOptions> = {}) => Service.start({ events, ...options });

let root = "";
beforeAll(async () => {
  await mkdir("dist", { recursive: true });
  await writeFile("dist/package.json", '{"type":"commonjs"}\n');
  await writeFile(CLI_FILE, await buildCli());
});
beforeEach(async () => {
  root = await mkdtemp(path.join(tmpdir(), "built-"));
  await mkdir(path.join(root, "home"));
});
afterEach(() => rm(root, { recursive: true }));

const run = (args: string[], otherOptions: Start = {}) =>
  new Ask(args, {
    program: "built",
    cwd: root,
    ...otherOptions,
    env: { HOME: path.join(root, "home"), ...otherOptions.env },
  });
const inShell = (script: string) =>
  new Promise<{ stdout: string; stderr: string; code: number }>((resolve) => {
    execFile("bash", ["-c", script], (error, stdout, stderr) =>
      resolve({ stdout, stderr, code: Number(error?.code ?? 0) }),
    );
  });
const resultOf = async (ask: Ask) => [await ask.ended(), ask.stdout, ask.stderr] as const;

describe("without a terminal", () => {
  it("stdout contains only the answer, and stderr is empty", async () => {
    await using service = await start();
    expect(await resultOf(run(["why?", "--server", service.url]))).toEqual([
      0,
      "Use quicksort.\n",
      "",
    ]);
    expect(JSON.parse(service.requests[0]?.body ?? "")).toEqual({ question: "why?" });
  });

  it.each([
    { name: "if there are no words", args: ["ask"], input: "why\nso?\n", question: "why\nso?" },
    { name: "if the only word is a dash", args: ["ask", "-"], input: "why?", question: "why?" },
    {
      name: "after the words if the last word is a dash",
      args: ["sum up", "-"],
      input: "long\ntext\n",
      question: "sum up\n\nlong\ntext",
    },
  ])("piped text is the question $name", async ({ args, input, question }) => {
    await using service = await start();
    const [code, stdout] = await resultOf(run([...args, "--server", service.url], { input }));
    expect([code, stdout, JSON.parse(service.requests[0]?.body ?? "").question]).toEqual([
      0,
      "Use quicksort.\n",
      question,
    ]);
  });

  it.each([
    {
      name: "a failure",
      options: { events: b.log([...b.story.slice(0, 13), b.failed("anna")]) },
      code: 2,
      message: "failed  No agent gave an answer.\n        anna: 500\n",
    },
    {
      name: "a refusal of the key",
      options: {
        answers: { "/api/runs": problem(401, { title: "No key", code: "unauthorized" }) },
      },
      code: 5,
      message:
        "No key (401 unauthorized)\nStore a key with `massgen-edge login --server SERVER`, or set MASSGEN_EDGE_KEY.\n",
    },
    {
      name: "a running turn",
      options: { answers: { "/api/runs": problem(409, { title: "Busy", code: "turn_running" }) } },
      code: 7,
      message: "Busy (409 turn_running)\nWait for the running turn, attach to it, or cancel it.\n",
    },
  ])("$name is reported, and the exit code is $code", async ({ options, code, message }) => {
    await using service = await start(options);
    expect(await resultOf(run(["q", "--server", service.url]))).toEqual([
      code,
      "",
      message.replace("SERVER", service.url),
    ]);
  });

  it("the program ends silently if the reader closes the pipe", async () => {
    await using service = await start();
    const file = path.resolve(CLI_FILE);
    const script = `node ${file} ask q --json-stream --server ${service.url} | head -1; exit \${PIPESTATUS[0]}`;
    const { stdout, stderr, code } = await inShell(script);
    expect([code, stdout, stderr]).toEqual([0, `${JSON.stringify(events[0])}\n`, ""]);
  });

  it("Ctrl+C is reported, and the exit code is 4", async () => {
    await using service = await start({ events: events.slice(0, 13) });
    const ask = run(["q", "--server", service.url]);
    while (service.resumes.length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    await new Promise((resolve) => setTimeout(resolve, 100));
    ask.interrupt();
    expect(await ask.ended()).toBe(4);
    expect(ask.stderr).toContain(`massgen-edge attach ${b.SESSION} --server ${service.url}\n`);
  });
});

describe("the forms of output", () => {
  const turn = {
    session_id: b.SESSION,
    turn: 1,
    status: "completed",
    question: "q",
    answer: "A\x9b31m",
    winner: "anna",
    usage: { input_tokens: 1, output_tokens: 1 },
    cost_usd: 0,
  };
  const answers = { [`/api/sessions/${b.SESSION}/turns/1`]: { status: 200, body: turn } };

  it("--json prints the turn of the service, safe for terminals", async () => {
    await using service = await start({ answers });
    const [code, stdout] = await resultOf(run(["q", "--json", "--server", service.url]));
    expect([
      code,
      JSON.parse(stdout),
      stdout.includes("\x9b"),
      stdout.trim().split("\n").length,
    ]).toEqual([0, turn, false, 1]);
  });

  it("--automation prints MassGen's lines, and -o writes the answer to a file", async () => {
    await using service = await start();
    const [code, stdout] = await resultOf(
      run(["why?", "--automation", "-o", "answer.md", "--server", service.url]),
    );
    expect([code, await readFile(path.join(root, "answer.md"), "utf8")]).toEqual([
      0,
      "Use quicksort.\n",
    ]);
    expect(stdout.split("\n").slice(0, 8)).toEqual([
      `SESSION: ${b.SESSION}`,
      `STATUS_URL: ${service.url}/api/sessions/${b.SESSION}`,
      "QUESTION: why?",
      "[Coordination in progress - ask STATUS_URL for real-time updates]",
      "",
      "WINNER: anna",
      "VOTES: 2 of 2 votes, unanimous",
      "ANSWER_FILE: answer.md",
    ]);
  });

  it("-o alone leaves stdout empty", async () => {
    await using service = await start();
    expect(await resultOf(run(["q", "-o", "a.md", "--server", service.url]))).toEqual([0, "", ""]);
  });

  it("a file that cannot be written is reported before the run starts", async () => {
    await using service = await start();
    const [code, , stderr] = await resultOf(
      run(["q", "-o", "no/such/a.md", "--server", service.url]),
    );
    expect([code, stderr, service.requests]).toEqual([
      1,
      "Cannot write the answer to no/such/a.md: there is no such file.\n",
      [],
    ]);
  });

  it("--detach prints the id of the session and ends", async () => {
    await using service = await start({ events: events.slice(0, 13) });
    expect(await resultOf(run(["q", "--detach", "--server", service.url]))).toEqual([
      0,
      `${b.SESSION}\n`,
      "",
    ]);
    expect(service.resumes).toEqual([]);
  });
});

describe("a config in the folder", () => {
  const yaml = "agents:\n  - id: a\n    backend: {type: opnai, api_key: sk-verysecret}\n";
  const error = {
    pointer: "/agents/0/backend/type",
    line: 3,
    column: 21,
    detail: "Did you mean openai?",
  };
  beforeEach(async () => {
    await mkdir(path.join(root, ".massgen"));
    await writeFile(path.join(root, ".massgen/config.yaml"), yaml);
  });

  it("is sent unchanged, and its error is shown with the line and a caret, but without the key", async () => {
    const answer = problem(422, {
      title: "The config cannot be run",
      code: "config_invalid",
      errors: [error],
    });
    await using service = await start({ answers: { "/api/runs": answer } });
    const file = path.join(root, ".massgen/config.yaml");
    await storeConsent({ file, text: yaml }, { cwd: root, home: path.join(root, "home") });
    const [code, stdout, stderr] = await resultOf(run(["q", "--server", service.url]));
    expect(JSON.parse(service.requests[0]?.body ?? "")).toEqual({
      question: "q",
      config_yaml: yaml,
    });
    expect([code, stdout, stderr]).toEqual([
      1,
      "",
      [
        "The config cannot be run (422 config_invalid)",
        "  .massgen/config.yaml:3:21  /agents/0/backend/type  Did you mean openai?",
        "    3 |     backend: {type: opnai, api_key: *************}",
        "      |                     ^",
        "Correct this and retry.",
        "",
      ].join("\n"),
    ]);
  });

  it("is not sent without consent, and the message contains the command to type (H6)", async () => {
    await using service = await start({});
    const [code, stdout, stderr] = await resultOf(run(["q", "--server", service.url]));
    expect([code, stdout, service.requests]).toEqual([1, "", []]);
    expect(stderr).toContain('massgen-edge --config .massgen/config.yaml "your question"');
  });

  it("is checked by config validate, which ends with 1 if it cannot run", async () => {
    const verdict = { runnable: false, errors: [error], refusals: [], warnings: [] };
    await using service = await start({
      answers: { "/api/configs/validate": { status: 200, body: verdict } },
    });
    const [code, stdout] = await resultOf(run(["config", "validate", "--server", service.url]));
    expect(JSON.parse(service.requests[0]?.body ?? "")).toEqual({ config_yaml: yaml });
    expect([code, stdout.split("\n")[0]]).toEqual([1, ".massgen/config.yaml cannot run here."]);
  });

  it("is not overwritten by config init", async () => {
    const [code, , stderr] = await resultOf(run(["config", "init", "--model", "gpt-6.1-terra"]));
    expect([code, stderr]).toEqual([
      1,
      "Cannot write .massgen/config.yaml: it already exists; --force overwrites it.\n",
    ]);
  });
});

describe("an invalid command line", () => {
  it.each([
    {
      name: "a misspelt command",
      args: ["sesions"],
      expected: "Did you mean massgen-edge sessions?",
    },
    {
      name: "a command after an option",
      args: ["--verbose", "show", b.SESSION],
      expected: "Options come after the command: massgen-edge show",
    },
    {
      name: "two forms of output",
      args: ["q", "--json", "--automation"],
      expected: "Use only one of --json",
    },
    { name: "no models for a new config", args: ["config", "init"], expected: "Name models" },
    {
      name: "no terminal for a confirmation",
      args: ["keys", "revoke", "01kb0000000000000000000000"],
      expected: "Add --yes",
    },
    {
      name: "a key over an unencrypted network",
      args: ["q", "--server", "http://far.example", "--key", "k"],
      expected: "is not encrypted",
    },
  ])("ends with exit code 1: $name", async ({ args, expected }) => {
    const [code, stdout, stderr] = await resultOf(run(args));
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toContain(expected);
  });
});

it("refuses a Node that is too old, and names both versions", () => {
  const old = `data:text/javascript,${encodeURIComponent('Object.defineProperty(process, "versions", { value: { ...process.versions, node: "18.20.0" } })')}`;
  const { status, stderr } = spawnSync(process.execPath, ["--import", old, CLI_FILE, "--version"], {
    encoding: "utf8",
  });
  expect([status, stderr]).toEqual([
    1,
    "massgen-edge needs Node 20.12 or newer; this is 18.20.0.\n",
  ]);
});

it("runs without other files", async () => {
  await writeFile(path.join(root, "massgen-edge.js"), await readFile(CLI_FILE));
  const { status, stdout } = spawnSync(process.execPath, ["massgen-edge.js", "--version"], {
    cwd: root,
    encoding: "utf8",
  });
  expect([status, stdout]).toEqual([0, `${version}\n`]);
});
