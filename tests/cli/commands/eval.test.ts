import { PassThrough, Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { Command } from "commander";
import { registerEval } from "../../../cli/commands/eval";
import { CliError } from "../../../cli/exit-codes";
import type { Io } from "../../../cli/io";
import { problem, Service, type ServiceOptions } from "../service";

const RUNS = "/api/evals/smoke/runs";
const ID = "run_20261130t060000z_abc";

const result = (fields: object) => ({
  case: "capital",
  question: "?",
  outcome: "passed",
  detail: 'contains "Canberra"',
  session_id: "session_0000000001",
  cost_usd: 0.0071,
  duration_ms: 9_400,
  ...fields,
});

const run = (fields: object = {}) => ({
  id: ID,
  suite: "smoke",
  status: "completed",
  scheduled_at: 100,
  started_at: 100,
  ended_at: 160,
  cases: 2,
  passed: 1,
  failed: 1,
  errored: 0,
  cost_usd: 0.0142,
  results: [
    result({}),
    result({
      case: "product",
      outcome: "failed",
      detail: "its last number is 41, not \u001b[2J408",
    }),
  ],
  ...fields,
});

const answers = (runState: object): NonNullable<ServiceOptions["answers"]> => ({
  [RUNS]: { status: 202, body: { id: ID, suite: "smoke", status: "running", links: {} } },
  [`${RUNS}/${ID}`]: { status: 200, body: runState },
});

/** Calls the command as `main` does. Returns its output and exit code, or throws its error. */
async function call(args: string[], options: Partial<ServiceOptions>, interruptAfterMs?: number) {
  await using service = await Service.start({ events: [], ...options });
  const outcome = {
    stdout: "",
    stderr: "",
    code: -1,
    error: null as unknown,
    requests: service.requests,
  };
  const io: Io = {
    stdin: Readable.from([]),
    stdout: { write: (text) => Object.assign(outcome, { stdout: outcome.stdout + text }) },
    stderr: { write: (text) => Object.assign(outcome, { stderr: outcome.stderr + text }) },
    screen: new PassThrough(),
    env: {},
    cwd: "/nowhere",
    home: "/nowhere",
    onInterrupt: (listener) => {
      const timer =
        interruptAfterMs === undefined ? undefined : setTimeout(listener, interruptAfterMs);
      return () => clearTimeout(timer);
    },
  };
  const program = new Command().exitOverride();
  registerEval(program, { io, end: (code) => void Object.assign(outcome, { code }) });
  await program
    .parseAsync(["eval", ...args, "--server", service.url], { from: "user" })
    .catch((error: unknown) => Object.assign(outcome, { error }));
  return outcome;
}

describe("eval run", () => {
  it("starts the suite, waits, and prints a line for each case, safe for a terminal", async () => {
    const { stdout, stderr, code, requests } = await call(["run", "smoke"], {
      answers: answers(run()),
    });
    expect(requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      `POST ${RUNS}`,
      `GET ${RUNS}/${ID}`,
    ]);
    expect(stdout.split("\n")).toEqual([
      'capital\tpassed\t$0.0071\t00:09\tsession_0000000001\tcontains "Canberra"',
      "product\tfailed\t$0.0071\t00:09\tsession_0000000001\tits last number is 41, not 408",
      "",
    ]);
    expect([stderr, code]).toEqual([`smoke ${ID}: 1 of 2 passed, 1 failed, $0.0142, 01:00\n`, 0]);
  });

  it.each([
    {
      name: "2 if a case has no answer (A20)",
      args: [],
      runState: run({ passed: 1, failed: 0, errored: 1 }),
      code: 2,
    },
    {
      name: "2 if no case has an answer (A20)",
      args: [],
      runState: run({ passed: 0, failed: 0, errored: 2 }),
      code: 2,
    },
    { name: "0 if a case failed", args: [], runState: run(), code: 0 },
    { name: "2 if a case failed, with --strict", args: ["--strict"], runState: run(), code: 2 },
    {
      name: "0 if all cases passed, with --strict",
      args: ["--strict"],
      runState: run({ passed: 2, failed: 0 }),
      code: 0,
    },
    {
      name: "2 if a case has no answer, with --strict",
      args: ["--strict"],
      runState: run({ failed: 0, errored: 1 }),
      code: 2,
    },
  ])("ends with the exit code $name", async ({ args, runState, code }) => {
    expect((await call(["run", "smoke", ...args], { answers: answers(runState) })).code).toBe(code);
  });

  it("prints the response of the service with --json", async () => {
    const { stdout } = await call(["run", "smoke", "--json"], { answers: answers(run()) });
    expect(JSON.parse(stdout)).toEqual(run());
  });

  it("does not stop the run on Ctrl+C, and prints the run's id", async () => {
    const runState = run({ status: "running", ended_at: null });
    const { error, requests } = await call(["run", "smoke"], { answers: answers(runState) }, 300);
    expect(error).toBeInstanceOf(CliError);
    expect(error).toMatchObject({ exitCode: 4, message: `smoke continues as ${ID}.` });
    expect(requests.filter(({ method }) => method === "POST")).toHaveLength(1);
  });

  it("waits for a run that the service does not list yet", async () => {
    const { [RUNS]: started } = answers(run());
    const { error } = await call(
      ["run", "smoke"],
      { answers: started ? { [RUNS]: started } : {} },
      1_500,
    );
    expect(error).toMatchObject({ exitCode: 4 });
  });

  it("reports an unknown suite", async () => {
    const refusal = problem(404, {
      code: "eval_not_found",
      title: "eval not found",
      detail: "There is no such suite. On offer: smoke.",
    });
    const { error } = await call(["run", "nothing"], {
      answers: { "/api/evals/nothing/runs": refusal },
    });
    expect(error).toMatchObject({
      exitCode: 1,
      message: expect.stringContaining("On offer: smoke."),
    });
  });
});

describe("eval list", () => {
  const { results: _, ...last_run } = run();
  const suite = {
    name: "smoke",
    description: "Three questions.",
    cases: 3,
    cron: "0 6 * * MON",
    last_run,
  };
  const list = (data: object[]) => ({
    "/api/evals": { status: 200, body: { object: "list", data } },
  });

  it("prints a line for each suite", async () => {
    const { stdout, code } = await call(["list"], {
      answers: list([suite, { ...suite, name: "own", cron: null, last_run: null }]),
    });
    const lines = stdout
      .trim()
      .split("\n")
      .map((line) => line.split("\t"));
    expect(lines[0]).toEqual([
      "smoke",
      "3",
      "0 6 * * MON",
      expect.stringMatching(/: 1 of 2 passed, 1 failed, \$0.0142, 01:00$/),
      "Three questions.",
    ]);
    expect(lines[1]).toEqual(["own", "3", "by hand", "never", "Three questions."]);
    expect(code).toBe(0);
  });

  it("reports an empty list", async () => {
    expect((await call(["list"], { answers: list([]) })).stderr).toContain("no evaluation suites");
  });
});
