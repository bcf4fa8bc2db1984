import { SessionEventSchema } from "../../../src/protocol/events";
import { FAULTS, type Fault } from "./faults";
import type { RunRecord } from "./run-record";

/**
 * A transition meets a fault if the transition is among this many events after the strike, without
 * deltas. The service then still handles the fault, even if the fault did not affect this event.
 */
const WINDOW = 20;

/** Counts how often each transition met each kind of fault. */
export class Coverage {
  /** The number of meetings, by `{transition} {fault}`. */
  readonly pairs = new Map<string, number>();
  /** How often each transition occurred. */
  readonly events = new Map<string, number>();
  /** How often each kind of fault struck. */
  readonly strikes = new Map<string, number>();

  add({
    log,
    faults,
  }: {
    log: RunRecord["log"];
    faults: Pick<RunRecord["faults"], "struck">;
  }): void {
    for (const { fault } of faults.struck) increment(this.strikes, fault);
    for (const { type } of log) increment(this.events, type);
    const facts = log.filter(({ type }) => type !== "stream.delta");
    for (const { fault, head } of faults.struck) {
      const from = facts.findIndex(({ sequence_number }) => sequence_number > head);
      if (from < 0) continue;
      const met = new Set(facts.slice(from, from + WINDOW).map(({ type }) => type));
      for (const type of met) increment(this.pairs, `${type} ${fault}`);
    }
  }

  merge(other: CoverageCounts): void {
    for (const [mine, theirs] of [
      [this.pairs, other.pairs],
      [this.events, other.events],
      [this.strikes, other.strikes],
    ] as const) {
      for (const [name, count] of theirs) mine.set(name, (mine.get(name) ?? 0) + count);
    }
  }

  counted(): CoverageCounts {
    return { pairs: [...this.pairs], events: [...this.events], strikes: [...this.strikes] };
  }

  /** Possible pairs that met fewer than `least` times. */
  thin(least: number): PairCount[] {
    return this.#filterPairs(({ seen }, why) => why === null && seen < least);
  }

  /** Pairs that met although `whyImpossible` declares them impossible, so it is wrong. */
  disproved(): PairCount[] {
    return this.#filterPairs(({ seen }, why) => why !== null && seen > 0);
  }

  #filterPairs(isWanted: (pair: PairCount, why: string | null) => boolean): PairCount[] {
    const pairs = transitions().flatMap((type) =>
      FAULTS.map((fault) => ({ type, fault, seen: this.pairs.get(`${type} ${fault}`) ?? 0 })),
    );
    return pairs.filter((pair) => isWanted(pair, whyImpossible(pair.type, pair.fault)));
  }
}

/** `seen`: how often the transition and the fault met. */
export type PairCount = { type: string; fault: Fault; seen: number };

/** The counts of a `Coverage` as JSON data. */
export type CoverageCounts = {
  pairs: [string, number][];
  events: [string, number][];
  strikes: [string, number][];
};

const EVENT_TYPES = SessionEventSchema.options.map((option) => option.shape.type.value);

/** The counted transitions: every event type that a session can log, except deltas. */
export const transitions = (): string[] => EVENT_TYPES.filter((type) => type !== "stream.delta");

/** Why a transition and a kind of fault cannot meet; `null` if they can. */
export const whyImpossible = (type: string, fault: Fault): string | null =>
  type !== "session.created" || BEFORE_FIRST.has(fault)
    ? null
    : "occurs before anything that the fault could affect";

/**
 * Faults that can strike before the session's first event is durable, or that can undo this event.
 * Before it is durable, the object sends nothing and sets no alarm, so other faults have no
 * occasion. `crash_in_boot` is possible, because a client may revive an object that crashed during
 * its first write.
 */
const BEFORE_FIRST: ReadonlySet<Fault> = new Set<Fault>([
  ...([
    "crash_before_commit",
    "crash_after_commit",
    "crash_when_durable",
    "crash_before_send",
    "crash_in_boot",
    "crash_at_random",
  ] as const),
  ...([
    "disk_error",
    "slow_disk",
    "clock_forward",
    "clock_back",
    "client_vanishes",
    "client_slow",
  ] as const),
]);

function increment(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}
