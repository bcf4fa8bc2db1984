import { PassThrough } from "node:stream";
import type { Command } from "commander";
import { EXIT_MEANINGS, exitCodeLines } from "../../cli/exit-codes";
import { commandLine } from "../../cli/program";
import { slashCommandUsages } from "../../cli/conversation/slash-commands";
import { code, page, sentence, table } from "./markdown";

const INTRO = `Every command and option of \`massgen-edge\`. \`npm run build:cli\` builds it as one file, and \`npm link\` puts it on
your path. From the sources, write \`npm run ask --\` in place of \`massgen-edge\`.

A command without a name is \`ask\`: \`massgen-edge "question"\`. Options come after the command.`;

const VARIABLES: readonly (readonly [name: string, meaning: string])[] = [
  ["MASSGEN_EDGE_SERVER", "Address of the service, if `--server` is not given."],
  ["MASSGEN_EDGE_KEY", "Key of the service, if `--key` is not given."],
  ["NO_COLOR", "Any value switches colours off."],
];

const SILENT = {
  stdin: new PassThrough(),
  stdout: { write: () => undefined },
  stderr: { write: () => undefined },
  screen: new PassThrough(),
  env: {},
  cwd: ".",
  home: ".",
  onInterrupt: () => () => undefined,
};

export function cliPage(): string {
  const program = commandLine({ io: SILENT, end: () => undefined });
  return page(
    "# Command line",
    INTRO,
    ...leavesOf(program).flatMap(commandBlocks),
    "## In a conversation",
    "`massgen-edge` without a question opens a conversation. These commands work there:",
    table(
      ["Command", "Meaning"],
      slashCommandUsages().map(([usage = "", says = ""]) => [code(usage), sentence(says)]),
    ),
    "## Environment",
    table(
      ["Variable", "Meaning"],
      VARIABLES.map(([name, meaning]) => [code(name), meaning]),
    ),
    "## Exit codes",
    "Codes 0 to 4 are MassGen's.",
    table(["Code", "Meaning"], exitRows()),
  );
}

const exitRows = (): string[][] =>
  Object.values(EXIT_MEANINGS).map((meaning, nth) => [
    /\d+/.exec(exitCodeLines()[nth] ?? "")?.[0] ?? "",
    sentence(meaning),
  ]);

type Leaf = { path: string; command: Command };

/** `keys create`, not `keys`, which is only a group. */
function leavesOf(command: Command, path: readonly string[] = []): Leaf[] {
  const inner = command.commands.filter((each) => each.name() !== "help");
  if (inner.length === 0) return [{ path: path.join(" "), command }];
  return inner.flatMap((each) => leavesOf(each, [...path, each.name()]));
}

function commandBlocks({ path, command }: Leaf): string[] {
  const args = command.registeredArguments.map((argument) => {
    const name = `${argument.name()}${argument.variadic ? "..." : ""}`;
    return argument.required ? `<${name}>` : `[${name}]`;
  });
  const options = command.options.filter(({ hidden }) => !hidden);
  return [
    `## ${code(path)}`,
    sentence(command.description()),
    `\`\`\`\nmassgen-edge ${[path, ...args, "[options]"].join(" ")}\n\`\`\``,
    ...(command.registeredArguments.length === 0
      ? []
      : [
          table(
            ["Argument", "Meaning"],
            command.registeredArguments.map((argument, nth) => [
              code(args[nth] ?? ""),
              sentence(argument.description),
            ]),
          ),
        ]),
    table(
      ["Option", "Meaning"],
      options.map(({ flags, description }) => [code(flags), sentence(description)]),
    ),
  ];
}
