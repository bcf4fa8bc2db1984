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

/** Input and output for a program that is only inspected and never run. */
const SILENT_IO = {
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
  const program = commandLine({ io: SILENT_IO, end: () => undefined });
  return page(
    "# Command line",
    INTRO,
    ...runnableCommands(program).flatMap(commandBlocks),
    "## In a conversation",
    "`massgen-edge` without a question opens a conversation. These commands work there:",
    table(
      ["Command", "Meaning"],
      slashCommandUsages().map(([usage = "", meaning = ""]) => [code(usage), sentence(meaning)]),
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
  Object.values(EXIT_MEANINGS).map((meaning, index) => [
    /\d+/.exec(exitCodeLines()[index] ?? "")?.[0] ?? "",
    sentence(meaning),
  ]);

type RunnableCommand = { path: string; command: Command };

/**
 * The commands that can be run, such as `keys create`. Omits groups of commands, such as `keys`. A
 * command with subcommands can be run itself if it has arguments.
 */
function runnableCommands(command: Command, path: readonly string[] = []): RunnableCommand[] {
  const subcommands = command.commands.filter((subcommand) => subcommand.name() !== "help");
  if (subcommands.length === 0) return [{ path: path.join(" "), command }];
  const isRunnable = path.length > 0 && command.registeredArguments.length > 0;
  const itself = isRunnable ? [{ path: path.join(" "), command }] : [];
  const others = subcommands.flatMap((subcommand) =>
    runnableCommands(subcommand, [...path, subcommand.name()]),
  );
  return [...itself, ...others];
}

function commandBlocks({ path, command }: RunnableCommand): string[] {
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
            command.registeredArguments.map((argument, index) => [
              code(args[index] ?? ""),
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
