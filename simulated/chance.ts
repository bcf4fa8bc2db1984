/** Seeded random numbers for a simulated world; deliberately not the generator of the rules. */
export class Chance {
  #state: number;

  constructor(seed: number) {
    this.#state = (seed ^ 0x9e3779b9) >>> 0 || 1;
    for (let warm = 0; warm < 8; warm += 1) this.#next();
  }

  /** Xorshift32. */
  #next(): number {
    let state = this.#state;
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    this.#state = state >>> 0;
    return this.#state;
  }

  /** Uniform in [0, 1). */
  unit(): number {
    return (this.#next() - 1) / 0xffffffff;
  }

  /** A whole number from `low` to `high`, inclusive. */
  int(low: number, high: number): number {
    return low + Math.floor(this.unit() * (high - low + 1));
  }

  /** True with probability `p`. */
  is(p: number): boolean {
    return this.unit() < p;
  }

  pick<T>(items: readonly T[]): T {
    const item = items[this.int(0, items.length - 1)];
    if (item === undefined) throw new Error("the list to pick from is empty");
    return item;
  }

  /** One of the names, with probability proportional to its weight. */
  weighted<K extends string>(weights: Readonly<Partial<Record<K, number>>>): K {
    const names = keysOf(weights);
    let left = this.unit() * names.reduce((sum, name) => sum + (weights[name] ?? 0), 0);
    for (const name of names) {
      left -= weights[name] ?? 0;
      if (left < 0) return name;
    }
    throw new Error("all weights are zero");
  }

  /**
   * Between `low` and `high`, skewed to small values: most delays are short, a few are very long.
   */
  latency(low: number, high: number): number {
    return Math.round(low * (high / low) ** (this.unit() ** 2));
  }
}

function keysOf<K extends string>(weights: Readonly<Partial<Record<K, number>>>): K[] {
  const keys: K[] = [];
  for (const key in weights) keys.push(key);
  return keys;
}
