import { type ChildProcess, fork } from "node:child_process";
import type { Order } from "./schema";

/** Longest that a process may take to load. */
const LOADS_MS = 30_000;
/** Enough for every test; a mutant that fills the memory meets this early. */
const HEAP_MB = 768;

/** A process that tries one mutant after the other. One that dies or does not answer in time is replaced by a new one. */
export class Hand {
  readonly #file: string;
  #child: ChildProcess | null = null;

  constructor(file: string) {
    this.#file = file;
  }

  /** What the process answers; null if it did not, in time or at all. */
  async ask(order: Order, patienceMs: number): Promise<unknown> {
    const child = this.#child ?? (await this.#start({}));
    return child && this.#tell(child, order, patienceMs);
  }

  /** The same in a process of its own, which is loaded with the mutant already there. */
  async askFresh(order: Extract<Order, { type: "try" }>, patienceMs: number): Promise<unknown> {
    this.stop();
    const child = await this.#start({ __STRYKER_ACTIVE_MUTANT__: order.mutant });
    const answer = child && (await this.#tell(child, order, patienceMs));
    this.stop();
    return answer;
  }

  stop(): void {
    this.#child?.kill("SIGKILL");
    this.#child = null;
  }

  async #start(env: Record<string, string>): Promise<ChildProcess | null> {
    const child = fork(this.#file, {
      env: { ...process.env, ...env },
      execArgv: [`--max-old-space-size=${HEAP_MB}`],
      stdio: "ignore",
    });
    this.#child = child;
    return (await this.#answerOf(child, LOADS_MS)) === null ? null : child;
  }

  #tell(child: ChildProcess, order: Order, patienceMs: number): Promise<unknown> {
    child.send(order);
    return this.#answerOf(child, patienceMs);
  }

  #answerOf(child: ChildProcess, patienceMs: number): Promise<unknown> {
    const { promise, resolve } = Promise.withResolvers<unknown>();
    const late = setTimeout(() => resolve(null), patienceMs);
    const gone = (): void => resolve(null);
    child.once("message", resolve);
    child.once("exit", gone);
    return promise.then((answer) => {
      clearTimeout(late);
      child.off("message", resolve);
      child.off("exit", gone);
      if (answer === null) this.stop();
      return answer;
    });
  }
}
