import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";

/** The command as users start it: a process of its own, with real signals. */
export class Ask {
  stdout = "";
  stderr = "";
  readonly #child: ChildProcess;

  constructor(args: string[]) {
    const child = spawn(process.execPath, ["scripts/run.mjs", "cli/main.ts", ...args], { stdio: ["ignore", "pipe", "pipe"] });
    child.stdout.on("data", (chunk) => {
      this.stdout += chunk;
    });
    child.stderr.on("data", (chunk) => {
      this.stderr += chunk;
    });
    this.#child = child;
  }

  async ended(): Promise<number | null> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) await once(this.#child, "close");
    return this.#child.exitCode;
  }
  interrupt(): void {
    this.#child.kill("SIGINT");
  }
  closeStdout(): void {
    this.#child.stdout?.destroy();
  }
  /** Waits until stderr holds `text`. */
  async says(text: string): Promise<void> {
    const deadline = Date.now() + 20_000;
    while (!this.stderr.includes(text)) {
      if (Date.now() > deadline) throw new Error(`"${text}" was never said, only: ${this.stderr}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}
