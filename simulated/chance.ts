/**
 * Seeded random numbers for a simulated world. The coordination rules have their own generator, and
 * this one is different on purpose.
 */
export class Chance {
  #state: number;

  constructor(seed: number) {
    this.#state = (seed ^ 0x9e3779b9) >>> 0 || 1;
    // The first numbers of similar seeds are similar.
    for (let skipped = 0; skipped < 8; skipped += 1) this.#next();
  }

  /** The next number of the Xorshift32 generator, from 1 to 2^32 - 1. */
  #next(): number {
    let state = this.#state;
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    this.#state = state >>> 0;
    return this.#state;
  }

  /** A random number from 0 (inclusive) to 1 (exclusive). */
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

  /** One of the items, each with the same probability. Throws if there is none. */
  pick<T>(items: readonly T[]): T {
    const item = items[this.int(0, items.length - 1)];
    if (item === undefined) throw new Error("the list to pick from is empty");
    return item;
  }

  /** One of the names, with probability proportional to its weight. */
  weighted<K extends string>(weights: Readonly<Partial<Record<K, number>>>): K {
    const names = keysOf(weights);
    let remaining = this.unit() * names.reduce((sum, name) => sum + (weights[name] ?? 0), 0);
    for (const name of names) {
      remaining -= weights[name] ?? 0;
      if (remaining < 0) return name;
    }
    throw new Error("all weights are zero");
  }

  /** A random delay from `low` to `high`: most delays are short, and a few are very long. */
  latency(low: number, high: number): number {
    return Math.round(low * (high / low) ** (this.unit() ** 2));
  }
}

function keysOf<K extends string>(weights: Readonly<Partial<Record<K, number>>>): K[] {
  const keys: K[] = [];
  for (const key in weights) keys.push(key);
  return keys;
}
