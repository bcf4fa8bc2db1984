import { Chance } from "../../../simulated/chance";

/** All faults around a session. Each run draws a subset of them, and a rate for each fault. */
export const FAULTS = [
  // Crashes of the process: at a certain point of its work, or at a random time.
  ...[
    "crash_before_commit",
    "crash_after_commit",
    "crash_when_durable",
    "crash_before_send",
    "crash_after_headers",
  ],
  ...["crash_in_stream", "crash_in_alarm", "crash_in_boot", "crash_at_random"],
  // Platform.
  ...["disk_error", "slow_disk", "alarm_late", "alarm_twice", "clock_forward", "clock_back"],
  // A relay of the session ends, with all its requests. The session itself goes on.
  "relay_lost",
  // Providers.
  ...[
    "connect_refused",
    "rate_limited",
    "server_error",
    "quota",
    "bad_key",
    "bad_request",
    "context_too_long",
  ],
  ...[
    "lost_unanswered",
    "no_headers",
    "silence",
    "cut_reset",
    "cut_clean",
    "garbage",
    "empty_reply",
    "web_page",
    "slow_reply",
  ],
  ...["cut_short", "content_filter", "no_usage", "odd_chunks"],
  // Tools and files.
  ...[
    "crash_in_tool",
    "tool_fails",
    "tool_lost",
    "tool_slow",
    "r2_fails",
    "r2_answer_lost",
    "r2_slow",
  ],
  // Tenant and clients.
  ...["tenant_deaf", "tenant_answer_lost", "tenant_slow"],
  ...["client_vanishes", "client_slow"],
] as const;
export type Fault = (typeof FAULTS)[number];

/** Faults that can strike only in runs with tools. */
export const TOOL_FAULTS: ReadonlySet<Fault> = new Set<Fault>([
  ...([
    "crash_in_tool",
    "tool_fails",
    "tool_lost",
    "tool_slow",
    "r2_fails",
    "r2_answer_lost",
    "r2_slow",
  ] as const),
]);
/** Faults of the settlement at the end of a turn. */
export const SETTLEMENT_FAULTS: ReadonlySet<Fault> = new Set([
  "tenant_deaf",
  "tenant_answer_lost",
  "tenant_slow",
]);

/**
 * An injected fault. `nth`: its number. `at` and `until`: its begin and end, as wall time. `head`:
 * the log's head when it began.
 */
type Strike = { nth: number; fault: Fault; at: number; until: number; head: number };

type FaultPlan = {
  seed: number;
  faults: readonly Fault[];
  /** No fault strikes later than this many ms after the start. */
  calmAfterMs: number;
  /**
   * Whether most faults strike only when the event at which the run aims is near, and then more
   * often. The first agent has no provider faults, so that it reaches this event.
   */
  isLate: boolean;
  /** Numbers of the allowed strikes; `null` means all. Shrinking a failing run removes strikes. */
  strikes: readonly number[] | null;
};

/** The rates from which the rate of a fault is drawn: its probability at each occasion. */
const RATES: readonly number[] = [0.02, 0.06, 0.15, 0.4];
/** The rates if faults last longer than `LASTING_MS`: so low that the session makes progress. */
const LASTING_RATES: readonly number[] = [0.004, 0.02, 0.06];
const LASTING_MS = 400_000;
/** Further crashes show nothing new, and each restart takes time because it reads the whole log. */
const MAX_CRASHES = 60;
/** Shortly before rare events, rates are multiplied by `times`, up to `most`. */
const NEAR = { times: 2, most: 0.3 };
/**
 * The same in runs with late faults. `crashes`: the factor of the rates of crashes. `others`: the
 * least rate of other faults.
 */
const LATE = { crashes: 4, others: 0.3 };

/** The state of the simulation on which faults depend. */
export type World = {
  readonly now: number;
  /** Head of the log. */
  readonly head: number;
  /** Whether the event that this run aims at is near. */
  readonly isNear: boolean;
};
/** The rates of faults with few occasions per run, so that they strike at most occasions. */
const RARE_RATES: readonly number[] = [0.3, 0.6, 0.9];
const RARE: ReadonlySet<Fault> = new Set([
  "alarm_twice",
  "crash_in_alarm",
  ...SETTLEMENT_FAULTS,
  ...TOOL_FAULTS,
]);

/**
 * The rate of settlement faults in runs with late faults. A failed settlement is retried with
 * growing delays, so it must fail many times until late events of the next turn.
 */
const LATE_SETTLEMENT_RATE = 0.97;

/**
 * Decides when each fault strikes. Each kind of fault has its own random generator, so removing a
 * kind does not change the other kinds.
 */
export class Faults {
  readonly struck: Strike[] = [];
  readonly #plan: FaultPlan;
  readonly #calmAt: number;
  readonly #world: World;
  readonly #kinds = new Map<Fault, { chance: Chance; rate: number }>();
  readonly #allowed: ReadonlySet<number> | null;
  /** Whether the faults of the present provider are suppressed. */
  #isSpared = false;
  /** Number of strikes so far, with those that are not allowed. */
  #drawn = 0;
  #crashes = 0;

  constructor(plan: FaultPlan, world: World) {
    this.#plan = plan;
    this.#world = world;
    this.#calmAt = world.now + plan.calmAfterMs;
    this.#allowed = plan.strikes && new Set(plan.strikes);
    const common = plan.calmAfterMs > LASTING_MS ? LASTING_RATES : RATES;
    for (const fault of plan.faults) {
      const chance = new Chance(plan.seed ^ hash(fault));
      const rates =
        plan.isLate && SETTLEMENT_FAULTS.has(fault)
          ? [LATE_SETTLEMENT_RATE]
          : RARE.has(fault)
            ? RARE_RATES
            : common;
      this.#kinds.set(fault, { chance, rate: chance.pick(rates) });
    }
  }

  /** Draws whether the fault strikes now. `lastsMs`: how long it then lasts. */
  strikes(fault: Fault, lastsMs = 0): boolean {
    const kind = this.#kinds.get(fault);
    if (
      !kind ||
      this.#isSpared ||
      this.#world.now >= this.#calmAt ||
      !kind.chance.is(this.#rate(fault, kind.rate))
    )
      return false;
    this.#drawn += 1;
    if (this.#allowed && !this.#allowed.has(this.#drawn)) return false;
    if (fault.startsWith("crash_")) {
      if (this.#crashes >= MAX_CRASHES) return false;
      this.#crashes += 1;
    }
    const { now, head } = this.#world;
    this.struck.push({ nth: this.#drawn, fault, at: now, until: now + lastsMs, head });
    return true;
  }

  /**
   * Calls `draw`, which draws a provider's behaviour for an agent. In runs with late faults, no
   * fault strikes for the first agent.
   */
  replyingTo<T>(agent: number, draw: () => T): T {
    this.#isSpared = this.#plan.isLate && agent === 0;
    try {
      return draw();
    } finally {
      this.#isSpared = false;
    }
  }

  #rate(fault: Fault, usual: number): number {
    const increase = (times: number): number => Math.max(usual, Math.min(NEAR.most, usual * times));
    if (!this.#plan.isLate) return this.#world.isNear ? increase(NEAR.times) : usual;
    if (!this.#world.isNear) return RARE.has(fault) ? usual : 0;
    return fault.startsWith("crash_") ? increase(LATE.crashes) : Math.max(usual, LATE.others);
  }

  /** The random generator of this fault, to draw the details of a strike. */
  chance(fault: Fault): Chance {
    return this.#kinds.get(fault)?.chance ?? new Chance(this.#plan.seed);
  }

  has(fault: Fault): boolean {
    return this.#kinds.has(fault);
  }

  get calmAt(): number {
    return this.#calmAt;
  }

  /**
   * Must be called when the process crashes; the log on disk then ends at `head`. Later events were
   * lost, so strikes after them now count as strikes before the next event.
   */
  rewindTo(head: number): void {
    for (const strike of this.struck) strike.head = Math.min(strike.head, head);
  }

  /** Extends the last strike of this fault. */
  extend(fault: Fault, until: number): void {
    const strike = this.struck.findLast((one) => one.fault === fault);
    if (strike) strike.until = Math.max(strike.until, until);
  }
}

/** FNV-1a hash of a text, the same on every machine. */
export function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1)
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  return value >>> 0;
}
