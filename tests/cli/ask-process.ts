import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { statSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { CLI_FILE } from "../../local/bundle/cli-bundle";

export type Start = {
  /**
   * `sources` runs the sources with this Node, as `npm run ask` does. `built` runs the built file,
   * as users do, with the Node on the path.
   */
  program?: "sources" | "built";
  /** The input that is piped into stdin. If it is omitted, stdin is empty. */
  input?: string | Buffer;
  cwd?: string;
  env?: Record<string, string>;
};

/** A folder without a config. */
const FOLDER_WITHOUT_CONFIG = tmpdir();

/** The command line in its own process, with real signals and without a terminal. */
export class Ask {
  stdout = "";
  stderr = "";
  readonly #child: ChildProcess;

  constructor(args: string[], { program = "sources", input, cwd, env }: Start = {}) {
    const { NO_COLOR: _, MASSGEN_EDGE_KEY: __, MASSGEN_EDGE_SERVER: ___, ...rest } = process.env;
    const absolute = (file: string) => path.resolve(file);
    const [file, ...programArgs] =
      program === "built"
        ? [nodeOnPath(), absolute(CLI_FILE)]
        : [process.execPath, absolute("scripts/run.mjs"), absolute("cli/main.ts")];
    const child = spawn(file ?? "node", [...programArgs, ...args], {
      stdio: ["pipe", "pipe", "pipe"],
      env: { ...rest, HOME: FOLDER_WITHOUT_CONFIG, ...env },
      ...(cwd === undefined ? {} : { cwd }),
    });
    child.stdin.on("error", () => undefined); // the process may exit before it has read its input
    child.stdin.end(input ?? "");
    child.stdout.on("data", (chunk) => {
      this.stdout += chunk;
    });
    child.stderr.on("data", (chunk) => {
      this.stderr += chunk;
    });
    this.#child = child;
  }

  /** Waits until the process has ended, and returns its exit code; `null` after a signal. */
  async ended(): Promise<number | null> {
    if (this.#child.exitCode === null && this.#child.signalCode === null)
      await once(this.#child, "close");
    return this.#child.exitCode;
  }
  interrupt(): void {
    this.#child.kill("SIGINT");
  }
  /** Kills the process with SIGKILL, which it cannot handle. */
  kill(): void {
    this.#child.kill("SIGKILL");
  }
  closeStdout(): void {
    this.#child.stdout?.destroy();
  }
  /** Waits until stderr contains `text`. */
  async says(text: string): Promise<void> {
    const deadline = Date.now() + 20_000;
    while (!this.stderr.includes(text)) {
      if (Date.now() > deadline)
        throw new Error(`stderr never contained "${text}", but: ${this.stderr}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

/**
 * The Node on the user's path. The tests themselves may run under a newer Node from the packages.
 */
function nodeOnPath(): string {
  const folders = (process.env["PATH"] ?? "")
    .split(":")
    .filter((folder) => !folder.includes("node_modules"));
  return (
    folders
      .map((folder) => `${folder}/node`)
      .find((file) => statSync(file, { throwIfNoEntry: false })?.isFile()) ?? process.execPath
  );
}
