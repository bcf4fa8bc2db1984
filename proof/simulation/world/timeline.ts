type Happening = { at: number; order: number; run: () => void };

/** Simulated time: runs scheduled events in a fixed order. */
export class Timeline {
  /** A realistic date, so that logs look like real ones. */
  now = 1_790_000_000_000;
  #order = 0;
  #happenings: Happening[] = [];

  /** Returns a function that cancels the event. */
  schedule(at: number, run: () => void): () => void {
    if (at === Number.POSITIVE_INFINITY) return () => {};
    const happening = { at: Math.max(at, this.now), order: this.#order, run };
    this.#order += 1;
    this.#happenings.push(happening);
    return () => {
      this.#happenings = this.#happenings.filter((other) => other !== happening);
    };
  }

  nextAt(): number | null {
    return this.#first()?.at ?? null;
  }

  runNext(): void {
    const next = this.#first();
    if (!next) return;
    this.#happenings = this.#happenings.filter((other) => other !== next);
    this.advanceTo(next.at);
    next.run();
  }

  advanceTo(at: number): void {
    this.now = Math.max(this.now, at);
  }

  clear(): void {
    this.#happenings = [];
  }

  #first(): Happening | undefined {
    let first: Happening | undefined;
    for (const other of this.#happenings) {
      if (!first || other.at < first.at || (other.at === first.at && other.order < first.order))
        first = other;
    }
    return first;
  }
}
