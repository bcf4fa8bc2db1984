import { type ChildProcess, fork } from "node:child_process";
import type { Order } from "./schema";

type TryOrder = Extract<Order, { type: "try" }>;

/** Time limit for a process to load. */
const LOADS_MS = 30_000;
/** Heap size of a process: enough for every test. A mutant that fills the memory ends it soon. */
const HEAP_MB = 768;

/**
 * Tries mutants one after another in a process. If the process exits or does not answer in time, a
 * new process gets the same order once more, because a busy machine can also cause a timeout.
 */
export class Worker {
  readonly #file: string;
  #child: ChildProcess | null = null;

  constructor(file: string) {
    this.#file = file;
  }

  /**
   * Returns the answer of the process; `null` if the second process gives no answer either. Throws
   * if both processes fail to load: here no mutant is active while they load.
   */
  async ask(order: Order, timeoutMs: number): Promise<unknown> {
    return (await this.#askOnce(order, timeoutMs)) ?? this.#askOnce(order, timeoutMs);
  }

  /**
   * Like `ask`, but in a new process in which the mutant is active while it loads. Returns `null`
   * also if both processes fail to load.
   */
  async askFresh(order: TryOrder, timeoutMs: number): Promise<unknown> {
    return (await this.#askFreshOnce(order, timeoutMs)) ?? this.#askFreshOnce(order, timeoutMs);
  }

  async #askOnce(order: Order, timeoutMs: number): Promise<unknown> {
    const child = this.#child ?? (await this.#start({})) ?? (await this.#start({}));
    if (!child)
      throw new Error(
        `The tests did not load within ${LOADS_MS / 1_000} s, twice, with nothing changed. Is the machine busy?`,
      );
    return this.#send(child, order, timeoutMs);
  }

  async #askFreshOnce(order: TryOrder, timeoutMs: number): Promise<unknown> {
    this.stop();
    const child = await this.#start({ __STRYKER_ACTIVE_MUTANT__: order.mutant });
    const answer = child && (await this.#send(child, order, timeoutMs));
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

  #send(child: ChildProcess, order: Order, timeoutMs: number): Promise<unknown> {
    child.send(order);
    return this.#answerOf(child, timeoutMs);
  }

  /** The next message of the process; `null` after a timeout or if the process exits. */
  #answerOf(child: ChildProcess, timeoutMs: number): Promise<unknown> {
    const { promise, resolve } = Promise.withResolvers<unknown>();
    const timeout = setTimeout(() => resolve(null), timeoutMs);
    const onExit = (): void => resolve(null);
    child.once("message", resolve);
    child.once("exit", onExit);
    return promise.then((answer) => {
      clearTimeout(timeout);
      child.off("message", resolve);
      child.off("exit", onExit);
      if (answer === null) this.stop();
      return answer;
    });
  }
}
