import type { Readable } from "node:stream";
import type { Output } from "./terminal/output";

export type Input = Readable & {
  readonly isTTY?: boolean;
  setRawMode?: (mode: boolean) => unknown;
};

/** What commands touch besides the network and files. */
export type Io = {
  stdin: Input;
  stdout: Output;
  stderr: Output;
  /** The terminal, for the line editor and prompts. */
  screen: NodeJS.WritableStream;
  env: Readonly<Record<string, string | undefined>>;
  /** The folder the command was called in. */
  cwd: string;
  /** The user's own folder. */
  home: string;
  /** Calls back on each Ctrl+C until the returned function is called. */
  onInterrupt: (listener: () => void) => () => void;
};

/** Whether there is a terminal to ask questions at. */
export const isInteractive = ({ stdin, stderr }: Pick<Io, "stdin" | "stderr">): boolean =>
  stdin.isTTY === true && stderr.isTTY === true;
