import type { Orders, Observations } from "../build/orders";

/** Checks that the orders of one fault had an effect: orders that nothing met tested nothing. */
export class Effects {
  readonly #unmet: string[] = [];
  /**
   * Whether some orders changed the clock or delayed alarms. One effect of all these orders is
   * enough, because some orders are in force only for a moment.
   */
  readonly #isExpected = { wrongTimes: false, lateAlarms: false };
  readonly #counts = { wrongTimes: 0, lateAlarms: 0 };

  /** Records the observations made while these orders were in force. */
  record(orders: Orders, { met, wrongTimes, lateAlarms }: Observations): void {
    this.#unmet.push(...unmetOf(orders, met));
    this.#isExpected.wrongTimes ||= orders.isFrozen === true || (orders.skewMs ?? 0) !== 0;
    this.#isExpected.lateAlarms ||= (orders.alarmLateMs ?? 0) > 0;
    this.#counts.wrongTimes += wrongTimes;
    this.#counts.lateAlarms += lateAlarms;
  }

  /** The orders that nothing met, in sentences. */
  problems(): string[] {
    const isUnmet = (effect: "wrongTimes" | "lateAlarms") =>
      this.#isExpected[effect] && this.#counts[effect] === 0;
    return [
      ...this.#unmet,
      ...(isUnmet("wrongTimes") ? ["the time was not read while it was wrong"] : []),
      ...(isUnmet("lateAlarms") ? ["no late alarm was set"] : []),
    ];
  }
}

/** The failures of these orders that nothing met. */
const unmetOf = ({ failures = [] }: Orders, met: readonly number[]): string[] =>
  failures
    .filter((_, nth) => !met[nth])
    .map(
      ({ seam, how, match }) =>
        `nothing met the ordered failure: ${seam}${match && ` "${match}"`} ${how}`,
    );
