import { spawn } from "node:child_process";
import { mkdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { text } from "node:stream/consumers";
import { expect, it } from "vitest";
import { countOf, rotated } from "../counts";
import { bundlerOf } from "../planted-bugs/bundle";
import { play, situationOf } from "./engine/judge";
import type { RunRecord } from "./engine/run-record";
import { nameOf, PLANTED_BUGS, type PlantedBug } from "../planted-bugs/planted-bugs";

/**
 * Number of seeds in the size in force. These tests run the commands as a person does: in separate
 * processes, so that they use every core.
 */
const SEEDS = Number(process.env["SIMULATE_SEEDS"] ?? countOf("simulated_sessions"));
const TIMEOUT_MS = 30 * 60_000;
/**
 * Maximum share of thin pairs: pairs of a transition and a fault that meet less often than once in
 * a hundred seeds. The limit is slightly above the present share, and higher for few seeds, because
 * their shares vary more. A larger share means that an event or a fault has become rare.
 */
const MAX_THIN = SEEDS < 10_000 ? 0.34 : 0.2;

type CommandResult = { code: number | null; output: string };

const run = (script: string, ...args: string[]): Promise<CommandResult> =>
  runProcess("scripts/run.mjs", script, ...args);

async function runProcess(...argv: string[]): Promise<CommandResult> {
  const child = spawn(process.execPath, argv, { stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise<number | null>((resolve) => child.on("exit", resolve));
  const output = await text(child.stdout);
  return { code: await ended, output };
}

const figure = (output: string, name: string): string | undefined =>
  new RegExp(`^${name} +(\\S+)`, "m").exec(output)?.[1];

it(`keeps every invariant in ${SEEDS} simulated sessions of the service`, {
  timeout: TIMEOUT_MS,
}, async () => {
  const { code, output } = await run("proof/simulation/main.ts", "--seeds", String(SEEDS));
  console.log(output);
  expect(figure(output, "failed"), output).toBe("0");
  expect(figure(output, "seeds")).toBe(`${SEEDS},`);
  const [, thin, pairs] = /^thin pairs +(\d+) of (\d+),/m.exec(output) ?? [];
  expect(Number(thin) / Number(pairs)).toBeLessThanOrEqual(MAX_THIN);
  expect(figure(output, "wrongly apart"), output).toBe("0,");
  expect(code).toBe(0);
});

it("gives the same logs in another process, on another number of cores", {
  timeout: TIMEOUT_MS,
}, async () => {
  const outputs = [
    await run("proof/simulation/main.ts", "--seeds", "15", "--jobs", "1"),
    await run("proof/simulation/main.ts", "--seeds", "15", "--jobs", "3"),
  ];
  const [first, second] = outputs.map(({ output }) => figure(output, "hash of logs"));
  expect(first).toMatch(/^[0-9a-f]{16}$/);
  expect(second).toBe(first);
});

/** Runs a command with a planted bug, in a separate process. */
async function withBug(script: string, bug: PlantedBug, ...args: string[]): Promise<CommandResult> {
  const bundler = await bundlerOf(script);
  const bundle = await bundler.bundle(bug);
  await bundler.close();
  const folder = path.resolve(`node_modules/.cache/massgen-edge/planted-${process.pid}`);
  const file = path.join(folder, "simulate.mjs");
  await mkdir(folder, { recursive: true });
  await writeFile(file, bundle);
  return runProcess(file, ...args).finally(() => rm(folder, { recursive: true, force: true }));
}

/** Runs the command with a statement planted in the session of seed 3. */
function withPlantedStatement(statement: string, ...args: string[]): Promise<CommandResult> {
  const find = "const startedAt = this.#time.now;";
  const replace = `if (this.#situation.seed === 3) { ${statement} }\n${find}`;
  return withBug(
    "proof/simulation/main.ts",
    { name: statement, file: "proof/simulation/engine/run.ts", find, replace, invariant: "throws" },
    ...args,
  );
}

it.each([
  { does: "throws", statement: 'throw new Error("planted");', report: "throws: Error: planted" },
  { does: "hangs", statement: "for (;;);", report: "no progress for 15 s" },
  { does: "ends its process", statement: "process.exit(7);", report: "its process exited with 7" },
  {
    does: "ends its process with exit code 0",
    statement: "process.exit(0);",
    report: "its process exited with 0",
  },
])(
  "names a seed that $does, with its commit, and still prints the figures",
  { timeout: TIMEOUT_MS },
  async ({ statement, report }) => {
    const { code, output } = await withPlantedStatement(
      statement,
      "--seeds",
      "4",
      "--jobs",
      "1",
      "--patience",
      "15",
    );
    expect(output).toContain("seeds that failed so far: 3\n");
    expect(output).toContain("Seed 3 fails");
    expect(output).toContain(report);
    expect(output).toMatch(/To repeat it, at commit \S.*: npm run simulate -- --seed 3$/m);
    expect(figure(output, "commit")).toBeDefined();
    expect(figure(output, "failed")).toBe("1");
    expect(code).toBe(1);
  },
);

it("reports that fewer seeds were played than requested", { timeout: TIMEOUT_MS }, async () => {
  const [find, replace] = ["Math.ceil(seeds / size)", "Math.floor(seeds / size)"];
  const bug = {
    name: "the last range is skipped",
    file: "proof/simulation/command/command.ts",
    find,
    replace,
    invariant: "",
  };
  const { code, output } = await withBug(
    "proof/simulation/main.ts",
    bug,
    "--seeds",
    "5",
    "--jobs",
    "2",
  );
  expect(output).toMatch(/^seeds +3, from 1, of 5 that were requested$/m);
  expect(figure(output, "failed")).toBe("0");
  expect(code).toBe(1);
});

/**
 * Finds the first seed with three agents and at least ten crashes that fails because of the bug.
 * Returns the seed, its run without the bug, and the output of the command with the bug.
 */
async function findFailingSeed(
  bug: PlantedBug,
): Promise<CommandResult & { seed: number; run: RunRecord }> {
  for (let seed = 1; seed <= 300; seed += 1) {
    if (situationOf(seed).agents !== 3) continue;
    const run = await play(situationOf(seed));
    if (run.platform.deaths.length < 10) continue;
    const result = await withBug("proof/simulation/main.ts", bug, "--seed", String(seed));
    if (result.output.includes(`Seed ${seed} fails:\n${bug.invariant} at #`))
      return { ...result, seed, run };
  }
  throw new Error(`no seed shows the bug "${bug.name}"`);
}

it("shows a failing seed as a shrunk history with its invariant, agents, strikes and events", {
  timeout: TIMEOUT_MS,
}, async () => {
  const bug = PLANTED_BUGS.find(
    ({ name }) => name === "sequence numbers of deltas are used again after a restart",
  );
  if (!bug) throw new Error("this planted bug does not exist");
  const { code, output, seed, run } = await findFailingSeed(bug);
  const [, agents, strikes, struck] =
    /^shrunk to (\d+) agents, habits \[.*\], (\d+) strikes:\n(.+)$/m.exec(output) ?? [];
  expect(Number(agents), output).toBeLessThan(run.situation.agents);
  expect(Number(strikes), output).toBeLessThan(run.faults.struck.length);
  expect(struck).toMatch(/^ {2}\+\d+ ms, after #\d+: crash_/);
  const history = output.match(/^#\d+ \+\d+ms \S+/gm) ?? [];
  expect(history[0]).toMatch(/^#1 \+0ms session\.created$/);
  expect(history.some((line) => line.endsWith("call.started"))).toBe(true);
  expect(history.length).toBeLessThan(run.log.length);
  expect(output).toMatch(
    new RegExp(`^To repeat it, at commit \\S.*: npm run simulate -- --seed ${seed}$`, "m"),
  );
  expect(code).toBe(1);
});

const BUGS = rotated(PLANTED_BUGS, countOf("planted_bugs"));

it(`catches ${BUGS.length} planted bugs, and reports nothing without a bug`, {
  timeout: TIMEOUT_MS,
}, async () => {
  const chosen = BUGS.flatMap((bug) => ["--only", nameOf(bug)]);
  const { code, output } = await run("proof/planted-bugs/main.ts", ...chosen);
  console.log(output);
  const planted = Number(figure(output, "planted"));
  expect(planted).toBe(BUGS.length);
  expect(figure(output, "caught"), output).toBe(String(planted));
  expect(figure(output, "as meant"), output).toBe(`${planted},`);
  expect(figure(output, "false alarms"), output).toBe("0");
  expect(code).toBe(0);
});

it("reports a planted bug that is not caught because only one session is simulated", {
  timeout: TIMEOUT_MS,
}, async () => {
  const { code, output } = await run(
    "proof/planted-bugs/main.ts",
    "--only",
    "I8 ",
    "--sessions",
    "1",
  );
  expect(output).toContain("NOT CAUGHT");
  expect(figure(output, "caught")).toBe("0");
  expect(code).toBe(1);
});

it("reports a planted bug that was caught by another invariant than the intended one", {
  timeout: TIMEOUT_MS,
}, async () => {
  const [find, replace] = ['invariant: "I3",', 'invariant: "I18",'];
  const table = {
    name: "with another invariant",
    file: "proof/planted-bugs/of-endings.ts",
    find,
    replace,
    invariant: "",
  };
  const { code, output } = await withBug(
    "proof/planted-bugs/main.ts",
    table,
    "--only",
    "I18 ",
    "--jobs",
    "1",
  );
  expect(figure(output, "caught"), output).toBe("1");
  expect(figure(output, "as meant")).toBe("0,");
  expect(code).toBe(1);
});
