import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { countOf, rotated } from "../counts";
import { CLIENTS, commandOf as clientsCommand } from "./clients/campaign";
import { toClientReport } from "./clients/report";
import type { Kill } from "./kills/case";
import { commandOf } from "./kills/evidence";
import { toReport } from "./kills/report";
import { commandOf as storageFaultCommand } from "./storage-faults/campaign";
import { toStorageFaultReport } from "./storage-faults/report";

/**
 * Runs the commands that reports print for failures, in a shell. Each command must repeat exactly
 * its failure.
 */
const SEED = 5;
const FAILED = { problems: ["I13: not finished"], folder: "kept" };

/** The command that a report prints for this failure. */
const printedCommandIn = (report: string): string => /^ {2}again: (.+)$/m.exec(report)?.[1] ?? "";

function commandForKill(kill: Kill): string {
  const command = commandOf({ seed: SEED, kinds: ["story"], kills: [kill], isWanted: false });
  return printedCommandIn(
    toReport({
      seed: SEED,
      kills: { random: 0, idle: 0, atPlaces: 1 },
      atPlace: {},
      places: { wanted: 0, reached: 0, missed: [] },
      pairs: { wanted: 0, tried: 0, reached: 0 },
      runs: {},
      healthyMs: [],
      recoveryMs: [],
      failures: [{ ...FAILED, command }],
      endedEarly: null,
      seconds: 1,
    }),
  );
}

const commandForStorageFault = (name: string): string =>
  printedCommandIn(
    toStorageFaultReport({
      seed: 1,
      rows: [],
      failures: [{ ...FAILED, name, command: storageFaultCommand(SEED, name) }],
      seconds: 1,
    }),
  );

const CLIENT_OPTIONS = { histories: 1, seed: SEED, loudAgents: 8 };
const commandForClients = (name: string): string =>
  printedCommandIn(
    toClientReport({
      ...CLIENT_OPTIONS,
      scenes: [{ name, problems: ["I1"], notes: [], seconds: 1 }],
      loud: null,
      seconds: 1,
    }),
  );

async function runInShell(line: string): Promise<{ code: number | null; output: string }> {
  const child = spawn("sh", ["-c", line], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise<number | null>((resolve) => child.on("exit", resolve));
  const output = await text(child.stdout);
  return { code: await ended, output };
}

/** The figures at the end of a command's output, by name. */
const figuresIn = (output: string): Record<string, string> =>
  Object.fromEntries(
    [...output.matchAll(/^(\S.*?) {2,}(.+)$/gm)].map(([, name = "", what = ""]) => [name, what]),
  );

/** Failures. `check` runs the command of a failure and checks the output. */
const FAILURES: readonly { name: string; check: () => Promise<void> }[] = [
  {
    name: "a kill at a place",
    check: async () => {
      const line = commandForKill({ point: "send.sent", nth: 1 });
      expect(line).toBe(`npm run faults -- --seed ${SEED} --runs story --at send.sent:1`);
      const { code, output } = await runInShell(line);
      expect(figuresIn(output), output).toMatchObject({
        Kills: "1: 0 at random moments of runs, 1 at named places",
        "Places reached": "1 of 1",
        Runs: "1: 1 story",
        "Broken promises": "0",
      });
      expect(output).toMatch(/\nSeed, time +5, \d+ s\n$/);
      expect(code).toBe(0);
    },
  },
  {
    name: "a kill at a random moment",
    check: async () => {
      const { code, output } = await runInShell(commandForKill({ afterMs: 700 }));
      const { Runs, "Broken promises": broken, ...others } = figuresIn(output);
      expect({ Runs, broken }, output).toEqual({ Runs: "1: 1 story", broken: "0" });
      expect(others).not.toHaveProperty("Places reached");
      expect(code).toBe(0);
    },
  },
  {
    name: "a kill at a place that is not reached, with exit code 1",
    check: async () => {
      const { code, output } = await runInShell(commandForKill({ point: "send.sent", nth: 999 }));
      expect(figuresIn(output), output).toMatchObject({
        "Places reached": "0 of 1; not reached: send.sent:999",
        "Broken promises": "0",
      });
      expect(code).toBe(1);
    },
  },
  {
    name: "a storage fault, and no other whose name has the same beginning",
    check: async () => {
      const { code, output } = await runInShell(
        commandForStorageFault("the clock jumps an hour back"),
      );
      expect(figuresIn(output), output).toMatchObject({
        Clock: expect.stringMatching(/^1 faults, \d+ runs, 0 wrong$/),
      });
      expect(output).toMatch(/\nSeed, time +5, \d+ s\n$/);
      expect(code).toBe(0);
    },
  },
  {
    name: "a kind of client",
    check: async () => {
      const [name = ""] = CLIENTS.flatMap((one) => (one.name.startsWith("ids ") ? [one.name] : []));
      expect(commandForClients(name)).toBe(clientsCommand({ ...CLIENT_OPTIONS, name }));
      const { code, output } = await runInShell(commandForClients(name));
      expect(output.split("\n").filter((line) => /^[✓✗]/.test(line))).toEqual([
        expect.stringMatching(/^✓ ids from the future, /),
      ]);
      expect(output).toMatch(/\nSeed, time +5, \d+ s\n$/);
      expect(code).toBe(0);
    },
  },
];

describe("the command that a report prints repeats the failure:", () => {
  it.each(rotated(FAILURES, countOf("printed_commands")))("$name", ({ check }) => check());
});
