import type { SettledTurn } from "../../../durable-objects/tenant/tenant-api";
import type { Faults } from "./faults";
import type { VirtualTime } from "./virtual-time";

/**
 * Receives the cost of each turn. May be unreachable, or record a settlement and lose the response.
 */
export class Tenant {
  /** All settlements in order of arrival. */
  readonly settlements: SettledTurn[] = [];
  readonly #time: VirtualTime;
  readonly #faults: Faults;
  /** Resolves when everything written so far is on disk. Nothing may leave an object earlier. */
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
      (arrived) => void this.#time.timeline.schedule(this.#time.now + afterMs, arrived),
    );
    if (this.#faults.strikes("tenant_deaf")) throw new Error("Network connection lost.");
    this.settlements.push(turn);
    if (this.#faults.strikes("tenant_answer_lost")) throw new Error("Network connection lost.");
  }
}
