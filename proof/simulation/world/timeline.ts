/** `order`: the order of scheduling, which decides between events at the same time. */
type ScheduledEvent = { at: number; order: number; run: () => void };

/** The simulated time. Runs scheduled events by their time, then in the order of scheduling. */
export class Timeline {
  /** The present time in ms. It begins with a realistic date, so that logs look like real logs. */
  now = 1_790_000_000_000;
  #order = 0;
  #scheduled: ScheduledEvent[] = [];

  /** Schedules an event; never, if `at` is infinite. Returns a function that cancels the event. */
  schedule(at: number, run: () => void): () => void {
    if (at === Number.POSITIVE_INFINITY) return () => {};
    const scheduled = { at: Math.max(at, this.now), order: this.#order, run };
    this.#order += 1;
    this.#scheduled.push(scheduled);
    return () => {
      this.#scheduled = this.#scheduled.filter((other) => other !== scheduled);
    };
  }

  nextAt(): number | null {
    return this.#first()?.at ?? null;
  }

  runNext(): void {
    const next = this.#first();
    if (!next) return;
    this.#scheduled = this.#scheduled.filter((other) => other !== next);
    this.advanceTo(next.at);
    next.run();
  }

  advanceTo(at: number): void {
    this.now = Math.max(this.now, at);
  }

  clear(): void {
    this.#scheduled = [];
  }

  #first(): ScheduledEvent | undefined {
    let first: ScheduledEvent | undefined;
    for (const other of this.#scheduled) {
      if (!first || other.at < first.at || (other.at === first.at && other.order < first.order))
        first = other;
    }
    return first;
  }
}
