import { PassThrough } from "node:stream";
import type { ExitCode } from "../../../cli/exit-codes";
import type { Io } from "../../../cli/io";
import { commandLine } from "../../../cli/program";

/**
 * A user in the folder `cwd`, whose home folder is `home` (default: `cwd`). Without `keys`, there
 * is no terminal. Each entry of `keys` is pressed once the text `after` is on the screen.
 */
export type TerminalUser = {
  cwd: string;
  home?: string;
  keys?: readonly (readonly [after: string, press: string])[];
};
export type CommandResult = { code: ExitCode | null; stdout: string; screen: string };

/** Input and output without a terminal and without a user. */
export function ioWithoutUser(cwd = "."): Io {
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
  { cwd, home = cwd, keys }: TerminalUser,
  ...args: string[]
): Promise<CommandResult> {
  const isTTY = keys !== undefined;
  const stdin = Object.assign(new PassThrough(), { isTTY, setRawMode: () => stdin });
  const screen = new PassThrough();
  const result: CommandResult = { code: null, stdout: "", screen: "" };
  const remainingKeys = [...(keys ?? [])];
  const show = (text: string) => {
    result.screen += text;
    const [after, press] = remainingKeys[0] ?? [];
    if (after === undefined || press === undefined || !result.screen.includes(after)) return;
    remainingKeys.shift();
    setTimeout(() => stdin.write(press), 20); // a prompt reads keys only after it was drawn
  };
  screen.on("data", (chunk) => show(String(chunk)));
  const print = (text: string | Uint8Array) => {
    result.stdout += typeof text === "string" ? text : Buffer.from(text).toString("latin1");
  };
  const io: Io = {
    ...ioWithoutUser(cwd),
    stdin,
    stdout: { write: print, isTTY },
    stderr: { write: show, isTTY },
    screen,
    env: { NO_COLOR: "1" },
    home,
  };
  const command = commandLine({
    io,
    end: (code) => {
      result.code = code;
    },
  });
  await command.parseAsync(args, { from: "user" });
  return result;
}
