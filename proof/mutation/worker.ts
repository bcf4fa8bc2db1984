import { type ChildProcess, fork } from "node:child_process";
import type { Order } from "./schema";

type TryOrder = Extract<Order, { type: "try" }>;

/** The longest time for loading a process. */
const LOADS_MS = 30_000;
/** Enough for every test. A mutant that fills the memory reaches this limit soon. */
const HEAP_MB = 768;

/**
 * A worker process that tries one mutant after the other. If it dies or does not answer in time, a
 * new process gets the same order once more: on a busy machine a timeout may not be the mutant's
 * fault.
 */
export class Worker {
  readonly #file: string;
  #child: ChildProcess | null = null;

  constructor(file: string) {
    this.#file = file;
  }

  /**
   * The answer of the process; `null` after two failures to answer in time. Throws if it fails to
   * load twice, which no mutant can cause.
   */
  async ask(order: Order, timeoutMs: number): Promise<unknown> {
    return (await this.#askOnce(order, timeoutMs)) ?? this.#askOnce(order, timeoutMs);
  }

  /**
   * The same in a new process that loads with the mutant active. Returns `null` also if it fails to
   * load twice.
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

  #answerOf(child: ChildProcess, timeoutMs: number): Promise<unknown> {
    const { promise, resolve } = Promise.withResolvers<unknown>();
    const late = setTimeout(() => resolve(null), timeoutMs);
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
