import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";

/**
 * What is typed to a command that looks for faults, as a person types it: what cannot be meant is told in a sentence and ends the command
 * with 2, before anything is played. None of them may do nothing and call that a success.
 */
const SCRIPTS = {
  simulate: "scripts/simulate.ts",
  "planted-bugs": "scripts/planted-bugs.ts",
  "mutation-score": "scripts/mutation-score.ts",
  faults: "scripts/faults/main.ts",
};
type Name = keyof typeof SCRIPTS;

async function typed(name: Name, args: readonly string[]): Promise<{ code: number | null; output: string; complaints: string }> {
  const child = spawn(process.execPath, ["scripts/run.mjs", SCRIPTS[name], ...args], { stdio: ["ignore", "pipe", "pipe"] });
  const ended = new Promise<number | null>((resolve) => child.on("exit", resolve));
  const [output, complaints] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { code: await ended, output, complaints };
}

const NO_NUMBERS: readonly { name: Name; args: string[]; says: string }[] = [
  { name: "simulate", args: ["--seeds", "10k"], says: '--seeds is a whole number from 1, not "10k".\n' },
  { name: "simulate", args: ["--jobs", "x"], says: '--jobs is a whole number from 1, not "x".\n' },
  { name: "simulate", args: ["--seeds", "0"], says: '--seeds is a whole number from 1, not "0".\n' },
  { name: "planted-bugs", args: ["--jobs", "x"], says: '--jobs is a whole number from 1, not "x".\n' },
  { name: "mutation-score", args: ["--sample", "few"], says: '--sample is a whole number from 1, not "few".\n' },
  { name: "mutation-score", args: ["--jobs", "0"], says: '--jobs is a whole number from 1, not "0".\n' },
  { name: "faults", args: ["--kills", "many"], says: '--kills is a whole number, not "many".\n' },
  { name: "faults", args: ["--kills", "0"], says: "There is nothing to play: ask for a kill at least.\n" },
  { name: "faults", args: ["--storage", "0"], says: '--storage is a whole number from 1, not "0".\n' },
];

const MEAN_NOTHING: readonly { name: Name; args: string[]; says: string }[] = [
  { name: "faults", args: ["--runs", "story"], says: "--runs goes with --at, which says where they are killed.\n" },
  { name: "faults", args: ["--only", "D1"], says: "--only goes with --storage or --clients.\n" },
];

const CHOOSE_NOTHING: readonly { name: Name; args: string[]; says: string }[] = [
  { name: "planted-bugs", args: ["--only", "typo"], says: 'Nothing matches "typo", there are:\n  I' },
  { name: "mutation-score", args: ["--file", "typo"], says: 'Nothing matches "typo", there are:\n  src/coordination/' },
  { name: "mutation-score", args: ["--of", "chequer"], says: 'Nothing matches "chequer", there are:\n  rules\n  checker\n' },
  { name: "faults", args: ["--storage", "--only", "typo"], says: 'Nothing matches "typo", there are:\n  D1 fails three times' },
  { name: "faults", args: ["--clients", "--only", "typo"], says: 'Nothing matches "typo", there are:\n  675 connections vanish' },
  { name: "faults", args: ["--runs", "storey", "--at", "send.sent:1"], says: 'Nothing matches "storey", there are:\n  story\n' },
];

describe("a command that looks for faults", () => {
  it.each([...NO_NUMBERS, ...MEAN_NOTHING, ...CHOOSE_NOTHING])(
    "refuses $name $args, and says why",
    async ({ name, args, says }) => {
      const { code, output, complaints } = await typed(name, args);
      expect({ code, output }).toEqual({ code: 2, output: "" });
      expect(complaints.slice(0, says.length)).toBe(says);
    },
  );

  it.each(Object.keys(SCRIPTS).filter((name): name is Name => name in SCRIPTS))(
    "named %s tells with --help what it takes, and takes nothing else",
    async (name) => {
      const { code, output } = await typed(name, ["--help"]);
      expect(output).toMatch(new RegExp(`^npm run ${name} -- |^npm run ${name} \\[-- `));
      expect(code).toBe(0);
      const unknown = await typed(name, ["--sedes", "5"]);
      expect(unknown).toMatchObject({ code: 2, output: "", complaints: expect.stringContaining("'--sedes'") });
    },
  );
});
