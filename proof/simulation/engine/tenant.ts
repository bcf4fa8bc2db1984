import type { SettledTurn } from "../../../durable-objects/tenant/tenant-api";
import type { Faults } from "./faults";
import type { VirtualTime } from "./virtual-time";

/**
 * The tenant's object, which receives the cost of each turn. It may be unreachable, or its response
 * may be lost after it recorded a settlement.
 */
export class Tenant {
  /** All settlements in order of arrival. */
  readonly settlements: SettledTurn[] = [];
  readonly #time: VirtualTime;
  readonly #faults: Faults;
  /** Resolves when all earlier writes are on disk. An object sends nothing before that. */
  readonly #gate: () => Promise<void>;

  constructor({
    time,
    faults,
    gate,
  }: { time: VirtualTime; faults: Faults; gate: () => Promise<void> }) {
    this.#time = time;
    this.#faults = faults;
    this.#gate = gate;
  }

  async settle(turn: SettledTurn): Promise<void> {
    await this.#gate();
    const isSlow = this.#faults.strikes("tenant_slow", 20_000);
    const afterMs = isSlow ? this.#faults.chance("tenant_slow").latency(500, 20_000) : 5;
    await new Promise<void>(
      (resolve) => void this.#time.timeline.schedule(this.#time.now + afterMs, resolve),
    );
    if (this.#faults.strikes("tenant_deaf")) throw new Error("Network connection lost.");
    this.settlements.push(turn);
    if (this.#faults.strikes("tenant_answer_lost")) throw new Error("Network connection lost.");
  }
}
