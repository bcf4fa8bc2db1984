import type { Readable } from "node:stream";
import type { Output } from "./terminal/output";

export type Input = Readable & {
  readonly isTTY?: boolean;
  setRawMode?: (mode: boolean) => unknown;
};

/** Input, output and environment of commands. Commands use the network and files directly. */
export type Io = {
  stdin: Input;
  stdout: Output;
  stderr: Output;
  /** The terminal, for the line editor and prompts. */
  screen: NodeJS.WritableStream;
  env: Readonly<Record<string, string | undefined>>;
  /** The current folder. */
  cwd: string;
  /** The user's home folder. */
  home: string;
  /** Calls `listener` on each Ctrl+C, until the returned function is called. */
  onInterrupt: (listener: () => void) => () => void;
};

/** Whether questions can be asked at a terminal. */
export const isInteractive = ({ stdin, stderr }: Pick<Io, "stdin" | "stderr">): boolean =>
  stdin.isTTY === true && stderr.isTTY === true;
