import { type ChildProcess, fork } from "node:child_process";
import type { Order } from "./schema";

type TryOrder = Extract<Order, { type: "try" }>;

/** Longest that a process may take to load. */
const LOADS_MS = 30_000;
/** Enough for every test; a mutant that fills the memory meets this early. */
const HEAP_MB = 768;

/**
 * A process that tries one mutant after the other. One that dies or does not answer in time is replaced by a new one, which is asked
 * the same once more: on a busy machine a silence is no mutant's doing.
 */
export class Hand {
  readonly #file: string;
  #child: ChildProcess | null = null;

  constructor(file: string) {
    this.#file = file;
  }

  /**
   * What the process answers; null if twice it did not, in time or at all. Throws if it does not load, twice: there is no mutant in it
   * that could be the cause.
   */
  async ask(order: Order, patienceMs: number): Promise<unknown> {
    return (await this.#askOnce(order, patienceMs)) ?? this.#askOnce(order, patienceMs);
  }

  /** The same in a process of its own, which is loaded with the mutant already there; null also if twice it did not load. */
  async askFresh(order: TryOrder, patienceMs: number): Promise<unknown> {
    return (await this.#askFreshOnce(order, patienceMs)) ?? this.#askFreshOnce(order, patienceMs);
  }

  async #askOnce(order: Order, patienceMs: number): Promise<unknown> {
    const child = this.#child ?? (await this.#start({})) ?? (await this.#start({}));
    if (!child)
      throw new Error(
        `The tests did not load within ${LOADS_MS / 1_000} s, twice, with nothing changed. Is the machine busy?`,
      );
    return this.#tell(child, order, patienceMs);
  }

  async #askFreshOnce(order: TryOrder, patienceMs: number): Promise<unknown> {
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
