import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { toTurn } from "../../src/protocol/view/status";
import { runLinks } from "../../src/protocol/paths";
import * as b from "../protocol/builders";
import { Ask } from "./ask-process";
import { problem, Service, type ServiceOptions } from "./service";

const events = b.log(b.story);
const start = (options: Partial<ServiceOptions> = {}) => Service.start({ events, ...options });

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "ask-"));
});
afterAll(() => rm(folder, { recursive: true }));
const writeTestFile = async (name: string, text: string): Promise<string> => {
  const file = path.join(folder, name);
  await writeFile(file, text);
  return file;
};

describe("asking", () => {
  it("prints only the final answer on stdout, everything else on stderr, and ends with 0", async () => {
    await using service = await start();
    const ask = new Ask([
      "why",
      "is the sky blue?",
      "--server",
      service.url,
      "--budget",
      "0.5",
      "--timeout",
      "60",
      "--verbose",
    ]);
    expect(await ask.ended()).toBe(0);
    expect(ask.stdout).toBe("Use quicksort.\n");
    expect(ask.stderr).toContain("00:01  anna answers: agent1.1 (15 characters)\n");
    expect(ask.stderr).toContain(
      "vote    ben → agent1.1: because of agent1.1\nwinner  anna with agent1.1, 2 of 2 votes, unanimous\n",
    );
    expect(ask.stderr).toContain(
      `$2.50 at most: calls that were cut off report nothing\nrun     ${service.url}/api/sessions/${b.SESSION}\n`,
    );
    expect(ask.stderr).not.toContain("\x1b");
    expect(service.requests[0]).toMatchObject({ method: "POST", path: "/api/runs" });
    expect(JSON.parse(service.requests[0]?.body ?? "")).toEqual({
      question: "why is the sky blue?",
      budget: { max_cost_usd: 0.5 },
      timeout_seconds: 60,
    });
  });

  it("sends the text of the config, so that errors point into the file", async () => {
    const yaml = "agents:\n  - id: a\n    backend: {type: opnai}\n";
    const team = await writeTestFile("team.yaml", yaml);
    const errors = [
      {
        pointer: "/agents/0/backend/type",
        line: 3,
        column: 21,
        detail: "unknown backend opnai; did you mean openai?\x1b[2J",
      },
    ];
    const facts = {
      title: "The config cannot be run",
      code: "config_invalid",
      detail: `line 3: ${errors[0]?.detail}`,
    };
    const answer = problem(422, { ...facts, request_id: "req_1", errors });
    await using service = await start({ answers: { "/api/runs": answer } });
    const ask = new Ask(["q", "--config", team, "--server", service.url]);
    expect(await ask.ended()).toBe(1);
    expect(JSON.parse(service.requests[0]?.body ?? "")).toEqual({
      question: "q",
      config_yaml: yaml,
    });
    expect([ask.stdout, ask.stderr]).toEqual([
      "",
      [
        "The config cannot be run (422 config_invalid)",
        `  ${team}:3:21  /agents/0/backend/type  unknown backend opnai; did you mean openai?`,
        "    3 |     backend: {type: opnai}",
        "      |                     ^",
        "Correct this and retry. Request id: req_1",
        "",
      ].join("\n"),
    ]);
  });

  it.each([
    { name: "the answer", flags: [], stdout: "Use quicksort.\n" },
    {
      name: "the stream",
      flags: ["--json-stream"],
      stdout: events.map((event) => `${JSON.stringify(event)}\n`).join(""),
    },
  ])("prints warnings about the config on stderr before $name", async ({ flags, stdout }) => {
    const warnings = [
      {
        code: "no_effect",
        pointer: "/agents/0/cwd",
        line: 4,
        column: 5,
        detail: "cwd has no effect here.\x1b[2J",
      },
      {
        code: "no_key",
        pointer: "/agent/backend",
        line: null,
        column: null,
        detail: "No key is known.",
      },
    ];
    const body = {
      session_id: b.SESSION,
      turn: 1,
      status: "running",
      links: runLinks(b.SESSION, 1),
      warnings,
    };
    await using service = await start({ answers: { "/api/runs": { status: 202, body } } });
    const ask = new Ask(["q", ...flags, "--server", service.url]);
    expect([await ask.ended(), ask.stdout]).toEqual([0, stdout]);
    expect(ask.stderr).toMatch(
      /^warning {2}line 4: cwd has no effect here\.\nwarning {2}\/agent\/backend: No key is known\.\n/,
    );
  });

  it("prints every event as one JSON line with --json-stream, even after a lost connection", async () => {
    await using service = await start({ connections: [{ send: 9, ends: "torn" }] });
    const ask = new Ask(["q", "--json-stream", "--server", service.url]);
    expect(await ask.ended()).toBe(0);
    expect(ask.stdout).toBe(events.map((event) => `${JSON.stringify(event)}\n`).join(""));
    expect(ask.stderr).toContain("connection lost, the run continues");
  });

  it("attaches to a session and replays it", async () => {
    await using service = await start();
    const ask = new Ask(["--attach", b.SESSION, "--server", service.url]);
    expect([await ask.ended(), ask.stdout]).toEqual([0, "Use quicksort.\n"]);
    expect(service.requests.map(({ method }) => method)).toEqual(["GET", "GET"]);
  });

  const outputFlags: { flags: string[] }[] = [
    "",
    "--verbose",
    "--json",
    "--json-stream",
    "--automation",
    "-o answer.md",
  ].map((words) => ({
    flags: words === "" ? [] : words.split(" "),
  }));
  it.each(outputFlags)(
    "warns on stderr of an agent that dropped out, with $flags (A1)",
    async ({ flags }) => {
      const story = [
        ...[
          b.created("good", "other"),
          b.turnStarted("good", "other"),
          b.attemptStarted(),
          b.agentFailed("other"),
        ],
        ...[b.answered("good", "agent1.1", 1), b.voted("good", "agent1.1")],
        ...[
          b.settled("good", "agent1.1", "consensus", { "agent1.1": 1 }),
          b.completed("good", "SQLite."),
        ],
      ];
      const log = b.log(story);
      const turn = { status: 200, body: toTurn(b.view(log), 1) };
      await using service = await start({
        events: log,
        answers: { [`/api/sessions/${b.SESSION}/turns/1`]: turn },
      });
      const ask = new Ask(["q", ...flags, "--server", service.url], { cwd: folder });
      expect(await ask.ended()).toBe(0);
      expect(ask.stderr).toMatch(
        /^warning +other dropped out: It cannot go on\. 1 of 2 agents took part\.$/m,
      );
      if (flags.includes("--automation"))
        expect(ask.stdout).toContain(
          "WARNING: other dropped out: It cannot go on. 1 of 2 agents took part.\n",
        );
      if (flags.includes("--json"))
        expect(JSON.parse(ask.stdout).agents).toEqual([
          expect.objectContaining({ agent: "good", took_part: true, error: null }),
          expect.objectContaining({
            agent: "other",
            took_part: false,
            error: expect.objectContaining({ code: "bad_credentials" }),
          }),
        ]);
    },
  );

  it("removes control sequences from the answer and from all other output", async () => {
    const evil = "safe\x1b]52;c;ZXZpbA==\x07\x1b[2J\x9b31m\r\n\tend";
    const story = [
      b.created("anna"),
      b.turnStarted("anna"),
      b.attemptStarted(),
      b.voted("anna", "agent1.1", 1, evil),
      b.completed("anna", evil),
    ];
    await using service = await start({ events: b.log(story) });
    const ask = new Ask(["q", "--verbose", "--server", service.url]);
    expect([await ask.ended(), ask.stdout]).toEqual([0, "safe\n\tend\n"]);
    expect(ask.stderr).toContain("anna votes for agent1.1: safe end\n");
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the output must not contain control characters
    expect(ask.stderr).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/);
  });
});

describe("exit codes and messages", () => {
  const endedTurn = (lastEvent: b.Body, eventsBefore: b.Body[] = []) => ({
    events: b.log([...b.story.slice(0, 13), ...eventsBefore, lastEvent]),
  });
  const deadline = {
    ...b.settled("anna", "agent1.1", "deadline"),
    winner: null,
    label: null,
    tally: {},
  } as b.Body;
  it.each<{ name: string; options: Partial<ServiceOptions>; code: number; message: string }>([
    {
      name: "2 if the turn failed",
      options: endedTurn(b.failed("anna")),
      code: 2,
      message: "failed  No agent gave an answer.\n        anna: 500\n",
    },
    {
      name: "3 if the turn's time was up and there was no answer",
      options: endedTurn(b.failed("anna"), [deadline]),
      code: 3,
      message: "failed",
    },
    {
      name: "3 if the time of the only agent was up",
      options: endedTurn({
        ...b.failed("anna"),
        agents: [{ agent: "anna", code: "deadline", message: "Time is up." }],
      } as b.Body),
      code: 3,
      message: "failed",
    },
    {
      name: "4 if the turn was cancelled",
      options: endedTurn(b.cancelled("so far")),
      code: 4,
      message: "Partial answer:\nso far\n",
    },
    {
      name: "2 if the service has an internal error",
      options: {
        answers: { "/api/runs": problem(500, { title: "Internal error", code: "internal" }) },
      },
      code: 2,
      message: "Internal error (500 internal)\nInternal error of the service.",
    },
    {
      name: "2 if another server answers",
      options: {
        answers: { "/api/runs": { status: 200, type: "text/html", body: "<h1>hi</h1>" } },
      },
      code: 2,
      message: "Check the address.",
    },
  ])("$name", async ({ options, code, message }) => {
    await using service = await start(options);
    const ask = new Ask(["q", "--server", service.url]);
    expect([await ask.ended(), ask.stdout]).toEqual([code, ""]);
    expect(ask.stderr).toContain(message);
  });

  it("6 if no service runs, with the command that starts it", async () => {
    const service = await start();
    const { url } = service;
    await service[Symbol.asyncDispose]();
    const ask = new Ask(["q", "--server", url]);
    expect([await ask.ended(), ask.stderr]).toEqual([
      6,
      `Cannot reach ${url}. Start it with \`npm start\`, or name another with --server.\n`,
    ]);
  });

  it.each([
    { name: "no question", args: [], message: "The question is empty." },
    { name: "a blank question", args: ["  "], message: "The question is blank." },
    {
      name: "a config that does not exist",
      args: ["q", "--config", "no/such.yaml"],
      message: "Cannot read the config no/such.yaml: there is no such file.",
    },
    {
      name: "a server that is not an address",
      args: ["q", "--server", "file:///etc"],
      message: "Give an address like http://127.0.0.1:8787.",
    },
    {
      name: "a negative budget",
      args: ["q", "--budget", "-1"],
      message: "Give US dollars, like 0.50.",
    },
    {
      name: "a timeout of 0",
      args: ["q", "--timeout", "0"],
      message: "Give seconds, from 1 to 86400.",
    },
    {
      name: "an invalid id",
      args: ["--attach", "../other"],
      message: "Session ids look like session_01jd….",
    },
    {
      name: "a question for a run that was started before",
      args: ["q", "--attach", b.SESSION],
      message: "--attach watches an existing run",
    },
    {
      name: "an unknown option",
      args: ["q", "--modle", "x"],
      message: "unknown option '--modle'",
    },
  ])("1 for $name, without a request", async ({ args, message }) => {
    await using service = await start();
    const ask = new Ask(args.includes("--server") ? args : [...args, "--server", service.url]);
    expect([await ask.ended(), ask.stdout]).toEqual([1, ""]);
    expect([ask.stderr.includes(message) || ask.stderr, service.requests]).toEqual([true, []]);
  });

  it("0 for --help, which names the exit codes", async () => {
    const ask = new Ask(["--help"]);
    expect([
      await ask.ended(),
      ask.stdout.includes("Exit codes:\n  0  success: there is an answer"),
    ]).toEqual([0, true]);
  });

  it("0 without a message if the reader closes the pipe", async () => {
    await using service = await start({ events: events.slice(0, 13) });
    const ask = new Ask(["q", "--json-stream", "--server", service.url]);
    while (service.resumes.length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    ask.closeStdout();
    for (let piece = 0; piece < 20; piece++) {
      service.push(b.delta("anna", { call: "call_a1", offset: piece, text: "x" }));
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect([await ask.ended(), ask.stderr]).toEqual([0, ""]);
  });
});
