import type { Orders, Observations } from "../build/orders";

/** Checks that the orders of one fault had an effect: orders that nothing met tested nothing. */
export class Effects {
  readonly #unmet: string[] = [];
  /**
   * For wrong clocks and late alarms one effect is enough: some orders are in force only for a
   * moment.
   */
  readonly #wanted = { wrongTimes: false, lateAlarms: false };
  readonly #seen = { wrongTimes: 0, lateAlarms: 0 };

  /** Records the observations made while these orders were in force. */
  record(orders: Orders, { met, wrongTimes, lateAlarms }: Observations): void {
    this.#unmet.push(...unmetOf(orders, met));
    this.#wanted.wrongTimes ||= orders.isFrozen === true || (orders.skewMs ?? 0) !== 0;
    this.#wanted.lateAlarms ||= (orders.alarmLateMs ?? 0) > 0;
    this.#seen.wrongTimes += wrongTimes;
    this.#seen.lateAlarms += lateAlarms;
  }

  /** The orders that nothing met, in sentences. */
  problems(): string[] {
    const isUnmet = (what: "wrongTimes" | "lateAlarms") =>
      this.#wanted[what] && this.#seen[what] === 0;
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
