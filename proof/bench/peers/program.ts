import { type ChildProcess, fork } from "node:child_process";
import { LONGEST_RUN_MS } from "../run-client";
import { AnswerSchema } from "./schema";

/** A program in a process of its own. It answers one message after another. */
export class Program {
  readonly #child: ChildProcess;
  readonly #file: string;
  readonly #kill = () => void this.#child.kill("SIGKILL");

  constructor(file: string, args: readonly string[]) {
    this.#file = file;
    this.#child = fork(file, args, {
      env: { ...process.env, LANGSMITH_TRACING: "false" },
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    process.once("exit", this.#kill);
  }

  /**
   * Sends a message and returns the answer. Throws the program's error, or if the program exits or
   * does not answer in time.
   */
  async ask(message: Record<string, unknown>): Promise<unknown> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const onExit = () => reject(new Error(`${this.#file} has ended.`));
    const onTimeout = () =>
      reject(new Error(`${this.#file} did not answer within ${LONGEST_RUN_MS / 1_000} s.`));
    const timeout = setTimeout(onTimeout, LONGEST_RUN_MS);
    this.#child.once("message", resolve).once("exit", onExit);
    this.#child.send(message);
    try {
      const answer = AnswerSchema.parse(await promise);
      if ("error" in answer) throw new Error(answer.error);
      return answer.value;
    } finally {
      clearTimeout(timeout);
      this.#child.off("message", resolve).off("exit", onExit);
    }
  }

  stop(): void {
    process.off("exit", this.#kill);
    this.#kill();
  }
}
