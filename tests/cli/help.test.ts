import type { Command } from "commander";
import { expect, it } from "vitest";
import { commandLine } from "../../cli/program";
import { ioWithoutUser } from "./commands/terminal";

const COLUMNS = 80;

const withSubcommands = (command: Command): Command[] => [
  command,
  ...command.commands.flatMap(withSubcommands),
];

/** The help of a command on a terminal of 80 columns. */
function helpOf(command: Command): string {
  const parts: string[] = [];
  command.configureOutput({
    writeOut: (part) => void parts.push(part),
    getOutHelpWidth: () => COLUMNS,
  });
  command.outputHelp();
  return parts.join("");
}

it.each(
  withSubcommands(commandLine({ io: ioWithoutUser(), end: () => undefined })).map((command) => ({
    name: command.name(),
    command,
  })),
)("the help of $name fits into 80 columns", ({ command }) => {
  const lines = helpOf(command).split("\n");
  expect(lines.length).toBeGreaterThan(3);
  expect(lines.filter((line) => line.length > COLUMNS)).toEqual([]);
});
