type ScheduledEvent = { at: number; order: number; run: () => void };

/** Simulated time: runs scheduled events in a fixed order. */
export class Timeline {
  /** A realistic date, so that logs look like real ones. */
  now = 1_790_000_000_000;
  #order = 0;
  #scheduled: ScheduledEvent[] = [];

  /** Returns a function that cancels the event. */
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
