import { Chance } from "../../../simulated/chance";

/** Everything that can go wrong around a session. Each run draws its own subset, each with a rate of its own. */
export const FAULTS = [
  // The process dies: at a point of its work, or at any moment.
  ...[
    "crash_before_commit",
    "crash_after_commit",
    "crash_when_durable",
    "crash_before_send",
    "crash_after_headers",
  ],
  ...["crash_in_stream", "crash_in_alarm", "crash_in_boot", "crash_at_random"],
  // The platform.
  ...["disk_error", "slow_disk", "alarm_late", "alarm_twice", "clock_forward", "clock_back"],
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
  // Those around it.
  ...["tenant_deaf", "tenant_answer_lost", "tenant_slow"],
  ...["client_vanishes", "client_slow"],
] as const;
export type Fault = (typeof FAULTS)[number];

/** What only runs with tools give an occasion. */
export const OF_TOOLS: ReadonlySet<Fault> = new Set<Fault>([
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
/** Of what is told when a turn has ended. */
export const OF_TENANT: ReadonlySet<Fault> = new Set([
  "tenant_deaf",
  "tenant_answer_lost",
  "tenant_slow",
]);

/** One strike: when, how far the log was, and until when it lasted (null: while the run lasts). */
export type Strike = { nth: number; fault: Fault; at: number; until: number; head: number };

export type FaultPlan = {
  seed: number;
  faults: readonly Fault[];
  /** How long trouble lasts, in ms from the beginning. */
  calmAfterMs: number;
  /**
   * Whether most trouble waits until what the run goes after is about to come about, and strikes oftener then. What providers do to
   * the first agent is left out: it shall come that far.
   */
  isLate: boolean;
  /** Strikes that are allowed, by number; null: all. A failing run is shrunk by leaving strikes out. */
  strikes: readonly number[] | null;
};

const RATES: readonly number[] = [0.02, 0.06, 0.15, 0.4];
/** Trouble that lasts must leave the session on its feet. */
const RATES_OF_LASTING: readonly number[] = [0.004, 0.02, 0.06];
const LASTING_MS = 400_000;
/** A process that died so often only repeats itself, and each new one reads the whole log. */
const MOST_CRASHES = 60;
/** Shortly before what seldom comes about, faults strike oftener. */
const CLOSE = { times: 2, most: 0.3 };
const LATE = { crashes: 4, others: 0.3 };

/** What the faults see of the world. */
export type World = {
  readonly now: number;
  /** Where the log ends. */
  readonly head: number;
  /** Whether what this run goes after is about to come about. */
  readonly isClose: boolean;
};
/** What has few occasions in a run strikes at most of them. */
const RATES_OF_SELDOM: readonly number[] = [0.3, 0.6, 0.9];
const SELDOM: ReadonlySet<Fault> = new Set([
  "alarm_twice",
  "crash_in_alarm",
  ...OF_TENANT,
  ...OF_TOOLS,
]);

/** What is told after a turn is tried again less and less often: it must go on failing to meet what comes late in the next one. */
const RATE_OF_LATE_TELLING = 0.97;

/** Decides when which fault strikes. Each kind has its own source of chance, so that leaving one out leaves the others as they were. */
export class Faults {
  readonly struck: Strike[] = [];
  readonly #plan: FaultPlan;
  readonly #calmAt: number;
  readonly #world: World;
  readonly #kinds = new Map<Fault, { chance: Chance; rate: number }>();
  readonly #allowed: ReadonlySet<number> | null;
  #spares = false;
  #drawn = 0;
  #crashes = 0;

  constructor(plan: FaultPlan, world: World) {
    this.#plan = plan;
    this.#world = world;
    this.#calmAt = world.now + plan.calmAfterMs;
    this.#allowed = plan.strikes && new Set(plan.strikes);
    const common = plan.calmAfterMs > LASTING_MS ? RATES_OF_LASTING : RATES;
    for (const fault of plan.faults) {
      const chance = new Chance(plan.seed ^ hash(fault));
      const rates =
        plan.isLate && OF_TENANT.has(fault)
          ? [RATE_OF_LATE_TELLING]
          : SELDOM.has(fault)
            ? RATES_OF_SELDOM
            : common;
      this.#kinds.set(fault, { chance, rate: chance.pick(rates) });
    }
  }

  /** Whether it strikes here and now. */
  strikes(fault: Fault, lastsMs = 0): boolean {
    const kind = this.#kinds.get(fault);
    if (
      !kind ||
      this.#spares ||
      this.#world.now >= this.#calmAt ||
      !kind.chance.is(this.#rate(fault, kind.rate))
    )
      return false;
    this.#drawn += 1;
    if (this.#allowed && !this.#allowed.has(this.#drawn)) return false;
    if (fault.startsWith("crash_")) {
      if (this.#crashes >= MOST_CRASHES) return false;
      this.#crashes += 1;
    }
    const { now, head } = this.#world;
    this.struck.push({ nth: this.#drawn, fault, at: now, until: now + lastsMs, head });
    return true;
  }

  /** What a provider draws for an agent, which is spared in a run with late trouble if it is the first. */
  replyingTo<T>(agent: number, draw: () => T): T {
    this.#spares = this.#plan.isLate && agent === 0;
    try {
      return draw();
    } finally {
      this.#spares = false;
    }
  }

  #rate(fault: Fault, usual: number): number {
    const close = (times: number): number => Math.max(usual, Math.min(CLOSE.most, usual * times));
    if (!this.#plan.isLate) return this.#world.isClose ? close(CLOSE.times) : usual;
    if (!this.#world.isClose) return SELDOM.has(fault) ? usual : 0;
    return fault.startsWith("crash_") ? close(LATE.crashes) : Math.max(usual, LATE.others);
  }

  /** A source of chance of the fault's own, for how it strikes. */
  chance(fault: Fault): Chance {
    return this.#kinds.get(fault)?.chance ?? new Chance(this.#plan.seed);
  }

  has(fault: Fault): boolean {
    return this.#kinds.has(fault);
  }

  get calmAt(): number {
    return this.#calmAt;
  }

  /** The process died, and the log on disk ends there: what it had beyond that was never logged, so it comes after each of them. */
  takeBack(head: number): void {
    for (const strike of this.struck) strike.head = Math.min(strike.head, head);
  }

  /** The last strike lasts until now. */
  extend(fault: Fault, until: number): void {
    const strike = this.struck.findLast((one) => one.fault === fault);
    if (strike) strike.until = Math.max(strike.until, until);
  }
}

/** A number of a text, the same everywhere (FNV-1a). */
export function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1)
    value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
  return value >>> 0;
}
