import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";

/**
 * Developers' commands with invalid arguments. The command must do nothing, print a reason, and
 * exit with 2.
 */
const SCRIPTS = {
  simulate: "proof/simulation/main.ts",
  "planted-bugs": "proof/planted-bugs/main.ts",
  "mutation-score": "proof/mutation/main.ts",
  faults: "proof/faults/main.ts",
  bench: "proof/bench/main.ts",
  check: "scripts/check.ts",
  setup: "scripts/setup.ts",
  "build:cli": "scripts/build-cli.ts",
  docs: "scripts/docs.ts",
  bridge: "scripts/bridge.ts",
  keys: "scripts/keys.ts",
};
type Name = keyof typeof SCRIPTS;

/** Runs the command. `complaints`: its output on stderr. */
async function runCommand(
  name: Name,
  args: readonly string[],
): Promise<{ code: number | null; output: string; complaints: string }> {
  const child = spawn(process.execPath, ["scripts/run.mjs", SCRIPTS[name], ...args], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = new Promise<number | null>((resolve) => child.on("exit", resolve));
  const [output, complaints] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { code: await ended, output, complaints };
}

/**
 * At least one refusal of each command, and refusals that depend on more than the arguments. The
 * tests of the argument parsers contain all other refusals.
 */
const REFUSED: readonly { name: Name; args: string[]; says: string }[] = [
  {
    name: "simulate",
    args: ["--seeds", "10k"],
    says: '--seeds is a whole number from 1, not "10k".\n',
  },
  {
    name: "planted-bugs",
    args: ["--only", "typo"],
    says: 'No name matches "typo". Names:\n  I',
  },
  {
    name: "mutation-score",
    args: ["--seed", "5"],
    says: "--seed goes with --sample, which it draws.\n",
  },
  {
    name: "mutation-score",
    args: ["--file", "typo"],
    says: 'No name matches "typo". Names:\n  src/coordination/',
  },
  {
    name: "faults",
    args: ["--kills", "0"],
    says: "There is nothing to play: ask for a kill at least.\n",
  },
  {
    name: "faults",
    args: ["--storage", "--only", "typo"],
    says: 'No name matches "typo". Names:\n  D1 fails three times',
  },
  {
    name: "faults",
    args: ["--clients", "--only", "typo"],
    says: 'No name matches "typo". Names:\n  675 connections vanish',
  },
  {
    name: "faults",
    args: ["--runs", "storey", "--at", "send.sent:1"],
    says: 'No name matches "storey". Names:\n  story\n',
  },
  {
    name: "bench",
    args: ["--only", "bundle,beauty"],
    says: 'No name matches "beauty". Names:\n  first-event\n',
  },
  {
    name: "bench",
    args: ["--only", "bundle", "--json", "tests"],
    says: "--json tests cannot be written: EISDIR",
  },
  { name: "bridge", args: [], says: "Name one config.\n\nnpm run bridge -- team.yaml" },
  { name: "keys", args: [], says: "Usage: keys [options] [command]\n" },
  {
    name: "keys",
    args: ["limit", "--tenant", "acme", "--turns", "1.5"],
    says: "error: option '--turns <number>' argument '1.5' is invalid. A whole number; 0 for no limit.\n",
  },
];

describe("a developers' command", () => {
  it.each(REFUSED)("prints a reason when it refuses $name $args", async ({ name, args, says }) => {
    const { code, output, complaints } = await runCommand(name, args);
    expect({ code, output }).toEqual({ code: 2, output: "" });
    expect(complaints.slice(0, says.length)).toBe(says);
  });

  it.each(Object.keys(SCRIPTS).filter((name): name is Name => name in SCRIPTS))(
    "%s lists its options with --help in 80 columns, and refuses unknown options",
    async (name) => {
      const { code, output } = await runCommand(name, ["--help"]);
      expect(output).toMatch(new RegExp(`^(npm run ${name}( -- | \\[-- |\n)|Usage: ${name} )`));
      expect(output.split("\n").filter((line) => line.length > 80)).toEqual([]);
      expect(code).toBe(0);
      const unknown = await runCommand(name, ["--sedes", "5"]);
      expect(unknown).toMatchObject({
        code: 2,
        output: "",
        complaints: expect.stringContaining("'--sedes'"),
      });
    },
  );
});
