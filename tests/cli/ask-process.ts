import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { statSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { CLI_FILE } from "../../local/bundle/cli-bundle";

export type Start = {
  /**
   * The program: the sources through npm's runner, or the built file of users, under any Node
   * version.
   */
  program?: "sources" | "built";
  /** Piped into stdin. Omitted if there is nothing to read. */
  input?: string | Buffer;
  cwd?: string;
  env?: Record<string, string>;
};

/** A folder without a config. */
const NOWHERE = tmpdir();

/** The command in its own process, with real signals and without a terminal. */
export class Ask {
  stdout = "";
  stderr = "";
  readonly #child: ChildProcess;

  constructor(args: string[], { program = "sources", input, cwd, env }: Start = {}) {
    const { NO_COLOR: _, MASSGEN_EDGE_KEY: __, MASSGEN_EDGE_SERVER: ___, ...rest } = process.env;
    const here = (file: string) => path.resolve(file);
    const [file, ...before] =
      program === "built"
        ? [nodeOnPath(), here(CLI_FILE)]
        : [process.execPath, here("scripts/run.mjs"), here("cli/main.ts")];
    const child = spawn(file ?? "node", [...before, ...args], {
      stdio: ["pipe", "pipe", "pipe"],
      env: { ...rest, HOME: NOWHERE, ...env },
      ...(cwd === undefined ? {} : { cwd }),
    });
    child.stdin.on("error", () => undefined); // it may be gone before it has read all
    child.stdin.end(input ?? "");
    child.stdout.on("data", (chunk) => {
      this.stdout += chunk;
    });
    child.stderr.on("data", (chunk) => {
      this.stderr += chunk;
    });
    this.#child = child;
  }

  async ended(): Promise<number | null> {
    if (this.#child.exitCode === null && this.#child.signalCode === null)
      await once(this.#child, "close");
    return this.#child.exitCode;
  }
  interrupt(): void {
    this.#child.kill("SIGINT");
  }
  /** Like `kill -9`: the process cannot handle it. */
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
      if (Date.now() > deadline) throw new Error(`"${text}" was never said, only: ${this.stderr}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

/** The Node of the user. The tests themselves may run under a newer one from the packages. */
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
