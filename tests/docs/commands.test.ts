import { existsSync, readdirSync, readFileSync } from "node:fs";
import type { Command } from "commander";
import { describe, expect, it } from "vitest";
import { COMMANDS } from "../../cli/commands/likely-commands";
import { commandLine } from "../../cli/program";
import { ioWithoutUser } from "../cli/commands/terminal";
import { codeOf, DOCUMENTS, isRecord } from "./documents";
import { SCRIPTS, sourceOf, takesOption } from "./script-sources";

/** Commands that do something themselves: `files`, `files cat`, `keys create`, but not `keys`. */
const leavesOf = (
  command: Command,
  path: readonly string[] = [],
): { path: string; command: Command }[] => {
  const subcommands = command.commands.filter((subcommand) => subcommand.name() !== "help");
  const isGroup = subcommands.length > 0 && command.registeredArguments.length === 0;
  const own = isGroup ? [] : [{ path: path.join(" "), command }];
  const others = subcommands.flatMap((subcommand) =>
    leavesOf(subcommand, [...path, subcommand.name()]),
  );
  return [...own, ...others];
};
const program = commandLine({ io: ioWithoutUser(), end: () => undefined });
const leaves = leavesOf(program);
const optionsOf = (command: Command) =>
  command.options.flatMap(({ hidden, long, short }) => (hidden ? [] : [long ?? "", short ?? ""]));
const ASK = leaves.find(({ path }) => path === "ask");
const COMMON_OPTIONS = ["--help", "--version", "-h"];

const pages = DOCUMENTS.filter((document) => !isRecord(document));

/** The words of a line of shell. Quoted text is one word. */
const wordsOf = (line: string): string[] =>
  [...line.replace(/(^|\s)#.*$/, "").matchAll(/"[^"]*"|'[^']*'|[^\s|;)&]+/g)].map(([word]) => word);
const isOption = (word: string): boolean => /^--?[a-z]/.test(word);

/** The error in a call of the command line; null if there is none. */
function faultOfCall(line: string): string | null {
  const words = wordsOf(line);
  const named = words.filter((word) => /^[a-z][a-z-]*$/.test(word));
  const [first = "", second = ""] = named;
  const isNamed = words[0] === first && first !== "";
  const leaf = isNamed
    ? (leaves.find(({ path }) => path === `${first} ${second}`) ??
      leaves.find(({ path }) => path === first))
    : ASK;
  const isGroup =
    isNamed && second === "" && leaves.some(({ path }) => path.startsWith(`${first} `));
  if (!leaf) return isGroup && !words.some(isOption) ? null : `no command: ${line}`;
  const known = [...COMMON_OPTIONS, ...optionsOf(leaf.command)];
  const unknown = words
    .filter(isOption)
    .filter((word) => !known.includes(word.split("=")[0] ?? ""));
  return unknown.length === 0 ? null : `no option ${unknown.join(", ")}: ${line}`;
}

/** The error in a call of an npm script; null if there is none. */
function faultOfScript(name: string, rest: string): string | null {
  if (SCRIPTS[name] === undefined) return `no script: ${name}`;
  const [, passed = ""] = /^\s*-- (.*)$/.exec(rest) ?? [];
  if (name === "ask") return passed === "" ? null : faultOfCall(passed);
  const source = sourceOf(name);
  if (source === "") return null;
  const options = wordsOf(passed).filter((word) => word.startsWith("--") && word !== "--help");
  const unknown = options.filter((option) => !takesOption(source, option.split("=")[0] ?? ""));
  return unknown.length === 0 ? null : `npm run ${name}: no option ${unknown.join(", ")}`;
}

const NPM = /\bnpm (?:run (?:-s |--silent )?([a-z][a-z:-]*)|(start|test))((?: -- [^`\n]*)?)/g;

describe.each(pages)("$file", ({ text }) => {
  const lines = codeOf(text);

  it("calls only commands and options of massgen-edge that exist", () => {
    const calls = lines.flatMap((line) =>
      [...line.matchAll(/(?:^|[\s(|])massgen-edge(?: ([^`\n]*)|$)/g)].flatMap(
        ([, call]) => call ?? [],
      ),
    );
    expect(calls.flatMap((call) => faultOfCall(call) ?? [])).toEqual([]);
  });

  it("calls only npm scripts and options that exist", () => {
    const faults = lines.flatMap((line) =>
      [...line.matchAll(NPM)].flatMap(
        ([, named, short, rest = ""]) => faultOfScript(named ?? short ?? "", rest) ?? [],
      ),
    );
    expect(faults).toEqual([]);
  });

  it("runs only test files that exist", () => {
    const files = [...text.matchAll(/npx vitest run ([^`\n]*)/g)].flatMap(([, rest = ""]) =>
      rest.split(" ").filter((word) => /\.test\.ts$/.test(word)),
    );
    expect(files.filter((file) => !existsSync(file))).toEqual([]);
  });
});

it("the checks of calls find errors", () => {
  expect(faultOfCall("keys make laptop")).toContain("no command");
  expect(faultOfCall("show SESSION --nothing")).toContain("--nothing");
  expect(faultOfCall('"why?" --config team.yaml')).toBeNull();
  expect(faultOfScript("simulate", " -- --seeds 3")).toBeNull();
  expect(faultOfScript("simulate", " -- --sedes 3")).toContain("--sedes");
  expect(faultOfScript("dance", "")).toContain("no script");
});

it("the list of likely commands has every command", () => {
  expect([...COMMANDS].sort()).toEqual(program.commands.map((command) => command.name()).sort());
});

describe("AGENTS.md", () => {
  const agents = readFileSync("AGENTS.md", "utf8");
  /** Steps that `npm run check` contains. */
  const PARTS = /^(lint|types|check:.*)$/;

  it("has every script", () => {
    const missing = Object.keys(SCRIPTS).filter(
      (name) => !PARTS.test(name) && !new RegExp(`npm (run )?${name}\\b`).test(agents),
    );
    expect(missing).toEqual([]);
  });
});

it("the reference page has the variables that the command line reads", () => {
  const sources = readdirSync("cli", { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => readFileSync(`cli/${file}`, "utf8"))
    .join("\n");
  const read = [...sources.matchAll(/\benv\["([A-Z_]+)"\]/g)].map(([, name = ""]) => name);
  const page = readFileSync("docs/reference/cli.md", "utf8");
  const missing = read.filter((name) => name !== "TERM" && !page.includes(`\`${name}\``));
  expect(read.length).toBeGreaterThan(2);
  expect(missing).toEqual([]);
});

it("the guide to troubleshooting explains only codes that exist", () => {
  const [guide = "", ...references] = [
    "guides/troubleshooting",
    "reference/errors",
    "reference/events",
  ].map((name) => readFileSync(`docs/${name}.md`, "utf8"));
  const named = [...guide.matchAll(/^\| (.*?) \|/gm)].flatMap(([, cell = ""]) => [
    ...cell.matchAll(/`([a-z]+(?:_[a-z]+)+)`/g),
  ]);
  // No table lists the codes of calls, so the source is searched.
  const sources = readdirSync("durable-objects", { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => readFileSync(`durable-objects/${file}`, "utf8"));
  expect(named.length).toBeGreaterThan(8);
  const unknown = named
    .map(([, code = ""]) => code)
    .filter((code) => ![...references, ...sources].some((page) => page.includes(code)));
  expect(unknown).toEqual([]);
});
