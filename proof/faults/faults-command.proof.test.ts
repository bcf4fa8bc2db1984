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
 * The command that a report prints for a failure repeats exactly this failure when typed into a
 * shell.
 */
const SEED = 5;
const FAILED = { problems: ["I13: not finished"], folder: "kept" };

/** The command that a report prints for this failure. */
const printedIn = (report: string): string => /^ {2}again: (.+)$/m.exec(report)?.[1] ?? "";

function ofKill(kill: Kill): string {
  const command = commandOf({ seed: SEED, kinds: ["story"], kills: [kill], isWanted: false });
  return printedIn(
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

const ofStorageFault = (name: string): string =>
  printedIn(
    toStorageFaultReport({
      seed: 1,
      rows: [],
      failures: [{ ...FAILED, name, command: storageFaultCommand(SEED, name) }],
      seconds: 1,
    }),
  );

const OF_CLIENTS = { histories: 1, seed: SEED, loudAgents: 8 };
const ofClients = (name: string): string =>
  printedIn(
    toClientReport({
      ...OF_CLIENTS,
      scenes: [{ name, problems: ["I1"], notes: [], seconds: 1 }],
      loud: null,
      seconds: 1,
    }),
  );

async function typed(line: string): Promise<{ code: number | null; output: string }> {
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

/** Each failure whose command is typed, and what its run shows. */
const FAILURES: readonly { name: string; check: () => Promise<void> }[] = [
  {
    name: "a kill at a place",
    check: async () => {
      const line = ofKill({ point: "send.sent", nth: 1 });
      expect(line).toBe(`npm run faults -- --seed ${SEED} --runs story --at send.sent:1`);
      const { code, output } = await typed(line);
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
      const { code, output } = await typed(ofKill({ afterMs: 700 }));
      const { Runs, "Broken promises": broken, ...others } = figuresIn(output);
      expect({ Runs, broken }, output).toEqual({ Runs: "1: 1 story", broken: "0" });
      expect(others).not.toHaveProperty("Places reached");
      expect(code).toBe(0);
    },
  },
  {
    name: "a kill at a place that is not reached ends with 1",
    check: async () => {
      const { code, output } = await typed(ofKill({ point: "send.sent", nth: 999 }));
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
      const { code, output } = await typed(ofStorageFault("the clock jumps an hour back"));
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
      expect(ofClients(name)).toBe(clientsCommand({ ...OF_CLIENTS, name }));
      const { code, output } = await typed(ofClients(name));
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
