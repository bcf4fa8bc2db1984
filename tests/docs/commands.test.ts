import { readdirSync, readFileSync } from "node:fs";
import type { Command } from "commander";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { COMMANDS } from "../../cli/commands/slips";
import { DEFAULT_SERVER } from "../../cli/invocation";
import { commandLine } from "../../cli/program";
import { KEY_NAMES } from "../../src/providers/hosts";
import { nobody } from "../cli/commands/terminal";

const page = readFileSync("cli/README.md", "utf8");
const readme = readFileSync("README.md", "utf8");
const DOCUMENTS = [
  { document: "cli/README.md", text: page },
  { document: "README.md", text: readme },
];

/** `keys create`, not `keys`, which by itself does nothing. */
const leavesOf = (
  command: Command,
  path: readonly string[] = [],
): { path: string; command: Command }[] => {
  const inner = command.commands.filter((each) => each.name() !== "help");
  if (inner.length === 0) return [{ path: path.join(" "), command }];
  return inner.flatMap((each) => leavesOf(each, [...path, each.name()]));
};
const program = commandLine({ io: nobody(), end: () => undefined });
const leaves = leavesOf(program);
const optionsOf = (command: Command) =>
  command.options.filter(({ hidden }) => !hidden).map(({ long }) => long ?? "");

/** What stands in the first column of a table, between backticks, without `massgen-edge` before it. */
const firstColumn = (text: string): string[] =>
  [...text.matchAll(/^\| (.*?) \|/gm)]
    .flatMap(([, cell = ""]) => [...cell.matchAll(/`([^`]+)`/g)])
    .map(([, code = ""]) => code.replace(/^massgen-edge /, ""));
const startsWith = (path: string) => (code: string) => code === path || code.startsWith(`${path} `);

describe.each(DOCUMENTS)("the table of commands in $document", ({ text }) => {
  it("has every command there is", () => {
    const asking = (code: string) => code.startsWith('"');
    const named = firstColumn(text);
    const missing = leaves.filter(
      ({ path }) => !named.some(path === "ask" ? asking : startsWith(path)),
    );
    expect(missing.map(({ path }) => path)).toEqual([]);
  });

  it("has no command and no option there is not, wherever one is printed", () => {
    const called = [...text.matchAll(/massgen-edge ([a-z]+)(?: ([a-z]+))?([^`\n|#]*)/g)];
    expect(called.length).toBeGreaterThan(0);
    const options = new Set(leaves.flatMap(({ command }) => optionsOf(command)));
    const paths = new Set(leaves.map(({ path }) => path));
    const wrong = called.filter(([, first = "", second = "", rest = ""]) => {
      const isGroup = second === "" && leaves.some(({ path }) => path.startsWith(`${first} `));
      const known = isGroup || paths.has(first) || paths.has(`${first} ${second}`);
      return !known || (rest.match(/--[a-z-]+/g) ?? []).some((option) => !options.has(option));
    });
    expect(wrong.map(([whole]) => whole)).toEqual([]);
  });
});

it("cli/README.md has every option there is", () => {
  const missing = leaves.flatMap(({ path, command }) =>
    optionsOf(command)
      .filter((option) => !new RegExp(`\`${option}[ \`]`).test(page))
      .map((option) => `${path} ${option}`),
  );
  expect(missing).toEqual([]);
});

it("a word that is a command is known as one where it stands in the wrong place", () => {
  expect([...COMMANDS].sort()).toEqual(program.commands.map((command) => command.name()).sort());
});

describe("the README", () => {
  const scripts = z
    .object({ scripts: z.record(z.string(), z.string()) })
    .parse(JSON.parse(readFileSync("package.json", "utf8"))).scripts;
  /** Steps of `npm run check`, which stands for them. */
  const PARTS = /^(format|lint|types|check:.*)$/;

  it("needs no script of a package to be run at its installation, and none of ours before or after another", () => {
    expect(readFileSync(".npmrc", "utf8")).toMatch(/^ignore-scripts=true$/m);
    // npm then leaves these out too, without a word.
    expect(Object.keys(scripts).filter((name) => /^(pre|post)/.test(name))).toEqual([]);
  });

  it("has every script for people", () => {
    const missing = Object.keys(scripts).filter(
      (name) => !PARTS.test(name) && !new RegExp(`npm (run (-s )?)?${name}\\b`).test(readme),
    );
    expect(missing).toEqual([]);
  });

  it("has every variable that is no provider's key, and docs/providers.md has the keys", () => {
    const known = [
      ...readFileSync(".dev.vars.example", "utf8").matchAll(/^(?:# )?([A-Z_]+)="/gm),
    ].map(([, name = ""]) => name);
    const providers = readFileSync("docs/providers.md", "utf8");
    const homeOf = (name: string) => (KEY_NAMES.some((key) => key === name) ? providers : readme);
    expect(known.length).toBeGreaterThan(30);
    expect(known.filter((name) => !new RegExp(`\\b${name}\\b`).test(homeOf(name)))).toEqual([]);
  });

  it("has the variables of the command line with it", () => {
    const read = ["cli/credentials/connection.ts", "cli/terminal/output.ts"]
      .map((file) => readFileSync(file, "utf8"))
      .join("\n");
    const variables = new Set(
      [...read.matchAll(/env\["([A-Z_]+)"\]/g)].map(([, name = ""]) => name),
    );
    expect(
      [...variables].filter((name) => name !== "TERM" && !page.includes(`\`${name}\``)),
    ).toEqual([]);
  });

  it("explains only error codes there are", () => {
    const [, table = ""] = /^## When something is wrong\n(.*?)^## /ms.exec(readme) ?? [];
    const named = [...table.matchAll(/^\| (.*?) \|/gm)].flatMap(([, cell = ""]) => [
      ...cell.matchAll(/`([a-z]+(?:_[a-z]+)+)`/g),
    ]);
    const sources = ["src", "durable-objects", "d1"].flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: "utf8" })
        .filter((file) => file.endsWith(".ts"))
        .map((file) => readFileSync(`${folder}/${file}`, "utf8")),
    );
    expect(named.length).toBeGreaterThan(8);
    const unknown = named
      .map(([, code = ""]) => code)
      .filter((code) => !sources.some((text) => new RegExp(`\\b${code}\\b`).test(text)));
    expect(unknown).toEqual([]);
  });

  it("calls the service where it is", () => {
    expect(readme).toContain(`SERVICE=${DEFAULT_SERVER}\n`);
  });
});
