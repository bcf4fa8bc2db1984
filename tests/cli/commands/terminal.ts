import { PassThrough } from "node:stream";
import type { ExitCode } from "../../../cli/exit-codes";
import type { Io } from "../../../cli/io";
import { commandLine } from "../../../cli/program";

/**
 * The user: `null`, or a user who presses these keys, each group once its text is on the screen.
 */
export type TerminalUser = {
  cwd: string;
  keys?: readonly (readonly [after: string, press: string])[];
};
export type CommandResult = { code: ExitCode | null; stdout: string; screen: string };

/** An environment without a user. */
export function nobody(cwd = "."): Io {
  const write = () => undefined;
  const stdin = new PassThrough();
  return {
    stdin,
    stdout: { write },
    stderr: { write },
    screen: new PassThrough(),
    env: {},
    cwd,
    home: cwd,
    onInterrupt: () => write,
  };
}

/**
 * Runs a command line in this process. Throws a CliError with the message that the program would
 * print.
 */
export async function runAt(
  { cwd, keys }: TerminalUser,
  ...args: string[]
): Promise<CommandResult> {
  const isTTY = keys !== undefined;
  const stdin = Object.assign(new PassThrough(), { isTTY, setRawMode: () => stdin });
  const screen = new PassThrough();
  const ran: CommandResult = { code: null, stdout: "", screen: "" };
  const left = [...(keys ?? [])];
  const show = (text: string) => {
    ran.screen += text;
    const [after, press] = left[0] ?? [];
    if (after === undefined || press === undefined || !ran.screen.includes(after)) return;
    left.shift();
    setTimeout(() => stdin.write(press), 20); // the prompt listens once it has been drawn
  };
  screen.on("data", (chunk) => show(String(chunk)));
  const print = (text: string) => {
    ran.stdout += text;
  };
  const io: Io = {
    ...nobody(cwd),
    stdin,
    stdout: { write: print, isTTY },
    stderr: { write: show, isTTY },
    screen,
    env: { NO_COLOR: "1" },
  };
  const command = commandLine({
    io,
    end: (code) => {
      ran.code = code;
    },
  });
  await command.parseAsync(args, { from: "user" });
  return ran;
}
