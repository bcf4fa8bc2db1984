import { setTimeout as sleep } from "node:timers/promises";
import { Chance } from "../../../simulated/chance";
import { FaultyService } from "../faulty-service";
import { type Outcome, type Plan, playCase, randomPlan } from "./case";
import { keepStorage } from "../runs/evidence";
import { keysOnDisk } from "../runs/left-on-disk";
import { commandOf as caseCommandOf, keepEvidence } from "./evidence";
import { startRunServers } from "../runs/run-servers";
import { PLACES, type Place } from "./points";
import { recoveryTimes } from "./recovery";
import {
  type FinishedRuns,
  SETTLED_WITHIN_MS,
  toFinishedRuns,
  ledgerProblems,
} from "../runs/tenant-ledger";

type CampaignOptions = {
  seed: number;
  /** The fewest kills in total: at random moments of a run and at places. */
  kills: number;
  /** The fewest of these kills at random moments. Omitted: no minimum. */
  atRandom?: number;
  /** Number of kills at each place. */
  eachPlace: number;
  /** The named places to kill at. Omitted: all. */
  places?: readonly Place[];
  /**
   * Number of pairs of places to reach: a kill at a named place, then a kill at a second place
   * during or after recovery. A pair counts only if both places are reached.
   */
  pairs: number;
  /** Number of services that run side by side. */
  lanes: number;
  /** Called at the end of each case. */
  onCase?: (outcome: Outcome) => void;
};

export type Figures = {
  seed: number;
  /** `random`: at a random moment when a run was active. `idle`: when no run was active. */
  kills: { random: number; idle: number; atPlaces: number };
  /** Kills by place name. */
  atPlace: Readonly<Record<string, number>>;
  places: { wanted: number; reached: number; missed: string[] };
  /** `tried`: number of drawn pairs. `reached`: number of pairs with both places reached. */
  pairs: { wanted: number; tried: number; reached: number };
  runs: Readonly<Record<string, number>>;
  healthyMs: number[];
  recoveryMs: number[];
  /** Problems, and how to repeat each case. */
  failures: { problems: readonly string[]; folder: string; command: string }[];
  /** Why the campaign ended early; `null` if it played everything. */
  endedEarly: string | null;
  seconds: number;
};

/** A kill at a place happens at one of the place's first visits. This is the last of them. */
const LATEST_NTH = 4;
/** Tries of a plan with required places: the places that a run reaches depend on its speed. */
const TRIES_PER_PLAN = 3;
/** The most draws per wanted pair. In about one of four drawn pairs, a place cannot be reached. */
const DRAWS_PER_PAIR = 6;
/** Number of failed cases that ends the campaign. Each failed case keeps its evidence on disk. */
const MOST_FAILURES = 20;
/**
 * The most plans for so many kills. A kill counts only if a run was active, and most plans have
 * such a kill. The limit ends a campaign in which no kill counts.
 */
const mostPlansFor = (kills: number): number => 20 + 4 * kills;

/** Plays all kills that the options request. Throws only if the service cannot be started. */
export async function playKillCampaign(options: CampaignOptions): Promise<Figures> {
  const figures = noFigures(options.seed);
  const plans = plansOf(options, figures);
  return playPlans(
    plans,
    { figures, onCase: options.onCase, command: commandOf(options), tries: TRIES_PER_PLAN },
    options.lanes,
  );
}

/** Repeats one plan once. `places.missed` lists its places that were not reached. */
export async function replay(plan: Plan, onCase?: CampaignOptions["onCase"]): Promise<Figures> {
  const figures = noFigures(plan.seed);
  figures.places.wanted = plan.kills.some((kill) => "point" in kill) ? 1 : 0;
  const plans = [{ ...plan, isWanted: true }].values();
  return playPlans(plans, { figures, onCase, command: caseCommandOf(plan), tries: 1 }, 1);
}

/** Figures of a campaign that has not begun. */
export const noFigures = (seed: number): Figures => ({
  seed,
  kills: { random: 0, idle: 0, atPlaces: 0 },
  atPlace: {},
  places: { wanted: 0, reached: 0, missed: [] },
  pairs: { wanted: 0, tried: 0, reached: 0 },
  runs: {},
  healthyMs: [],
  recoveryMs: [],
  failures: [],
  endedEarly: null,
  seconds: 0,
});

/**
 * Data that all lanes share. `command`: repeats the campaign. `tries`: how often a plan is played
 * at most until it reaches its places.
 */
type CampaignRun = {
  figures: Figures;
  onCase: CampaignOptions["onCase"];
  command: string;
  tries: number;
};

async function playPlans(plans: Iterator<Plan>, run: CampaignRun, lanes: number): Promise<Figures> {
  const startedAt = performance.now();
  // Prepared one after the other, because `prepare` changes the environment.
  const services: FaultyService[] = [];
  for (let prepared = 0; prepared < lanes; prepared += 1)
    services.push(await FaultyService.prepare());
  await Promise.all(services.map((service) => playLane(service, plans, run)));
  run.figures.seconds = (performance.now() - startedAt) / 1_000;
  return run.figures;
}

/**
 * Plays plans on one service until no plan is left. Keeps only those data of finished runs that the
 * check of the ledger needs. At the end, the service is killed and everything that it wrote is
 * checked.
 */
async function playLane(
  service: FaultyService,
  plans: Iterator<Plan>,
  run: CampaignRun,
): Promise<void> {
  const { figures, command } = run;
  try {
    await service.start();
    const finished: FinishedRuns[] = [];
    for (let next = plans.next(); !next.done; next = plans.next()) {
      finished.push(...(await playUntilReached(next.value, { ...run, service })));
    }
    await sleep(SETTLED_WITHIN_MS);
    await service.kill();
    // Keys first: reading a database merges its write-ahead log into it.
    const problems =
      finished.length > 0
        ? [...(await keysOnDisk(service.storage)), ...ledgerProblems(service.storage, finished)]
        : [];
    const repeat = { storage: service.storage, seed: figures.seed, command };
    if (problems.length > 0)
      figures.failures.push({ problems, ...(await keepStorage(problems, repeat)) });
  } finally {
    await service.stop();
  }
}

/**
 * The command that repeats the whole campaign, because the ledger covers all runs. Lanes share the
 * plans, so their division among the lanes may differ.
 */
export const commandOf = ({
  seed,
  kills,
  atRandom = 0,
  eachPlace,
  pairs,
  lanes,
}: CampaignOptions): string =>
  `npm run faults -- --seed ${seed} --kills ${kills} --at-random ${atRandom} --points ${eachPlace} --pairs ${pairs} --lanes ${lanes}`;

type Lane = CampaignRun & { service: FaultyService };

/**
 * Plays a plan, and repeats it if it missed a required place. A repetition kills at the first visit
 * of each place, because some runs reach a place only once.
 */
async function playUntilReached(plan: Plan, lane: Lane): Promise<FinishedRuns[]> {
  const played: FinishedRuns[] = [];
  for (;;) {
    const nextPlan = played.length === 0 ? plan : withFirstVisits(plan);
    const { outcome, ledger } = await playWithProviders(nextPlan, lane);
    played.push(ledger);
    if (!plan.isWanted || outcome.missed.length === 0) return played;
    if (played.length === lane.tries) {
      lane.figures.places.missed.push(...outcome.missed);
      return played;
    }
  }
}

async function playWithProviders(
  plan: Plan,
  { service, figures, onCase }: Lane,
): Promise<{ outcome: Outcome; ledger: FinishedRuns }> {
  const providers = await startRunServers(); // New servers, so that they record only this case.
  try {
    const outcome = await playCase(plan, service, providers);
    await recordOutcome(outcome, figures, service);
    onCase?.(outcome);
    if (outcome.problems.length > 0) await service.restart();
    return { outcome, ledger: toFinishedRuns(outcome) };
  } finally {
    await providers.close();
  }
}

/** The plan with each kill at the first visit of its place. */
const withFirstVisits = (plan: Plan): Plan => ({
  ...plan,
  kills: plan.kills.map((kill) => ("point" in kill ? { ...kill, nth: 1 } : kill)),
});

/**
 * Yields plans until the requested kills have been played. If that is not possible, stops early and
 * sets `figures.endedEarly` to the reason.
 */
export function* plansOf(options: CampaignOptions, figures: Figures): Generator<Plan, undefined> {
  for (const plan of allPlans(options, figures)) {
    if (figures.failures.length >= MOST_FAILURES) {
      figures.endedEarly ??= `${figures.failures.length} cases failed`;
      return undefined;
    }
    yield plan;
  }
  return undefined;
}

/**
 * Yields plans for named places first, because all places are required. Then yields plans for
 * pairs, and for kills of any kind until there are enough kills.
 */
function* allPlans(
  { seed, kills, atRandom = 0, eachPlace, places = PLACES, pairs }: CampaignOptions,
  figures: Figures,
): Generator<Plan, undefined> {
  const chance = new Chance(seed);
  let nth = 0;
  for (let visit = 1; visit <= eachPlace; visit += 1) {
    for (const place of places) {
      figures.places.wanted += 1;
      const latestNth = place.visits ?? (eachPlace === 1 ? 1 : LATEST_NTH);
      yield placePlan(seed + nth++, place, chance.int(1, latestNth));
    }
  }
  figures.pairs.wanted = pairs;
  for (let pair = 0; pair < pairs * DRAWS_PER_PAIR && figures.pairs.reached < pairs; pair += 1) {
    yield pairPlan(seed + nth++, chance);
  }
  const totalKills = () => figures.kills.random + figures.kills.atPlaces;
  for (let left = mostPlansFor(kills); left > 0 && totalKills() < kills; left -= 1)
    yield anyPlan(seed + nth++);
  const randomKills = () => figures.kills.random;
  for (let left = mostPlansFor(atRandom); left > 0 && randomKills() < atRandom; left -= 1)
    yield randomPlan(seed + nth++);
  if (totalKills() < kills || randomKills() < atRandom) {
    figures.endedEarly = `${nth} cases reached ${totalKills()} of ${kills} kills, ${randomKills()} of ${atRandom} at random moments`;
  }
  return undefined;
}

function anyPlan(seed: number): Plan {
  const chance = new Chance(seed);
  switch (chance.weighted({ moments: 6, place: 3, pair: 2 })) {
    case "moments":
      return randomPlan(seed);
    case "place":
      return { ...anyPlacePlan(seed, chance), isWanted: false };
    case "pair":
      return pairPlan(seed, chance);
  }
}

function anyPlacePlan(seed: number, chance: Chance): Plan {
  const place = chance.pick(PLACES);
  return placePlan(seed, place, chance.int(1, place.visits ?? LATEST_NTH));
}

function placePlan(seed: number, { point, kind, restarted, first }: Place, nth: number): Plan {
  // A first kill during any call, so that the restarted service has a call to recover.
  const anyCall = {
    point: "commit.durable/call.started",
    nth: new Chance(seed).int(1, LATEST_NTH),
  };
  const earlierKills = restarted ? [first ?? anyCall] : [];
  return {
    seed,
    kinds: [kind, "cancelled"],
    kills: [...earlierKills, { point, nth: first ? 1 : nth }],
    isWanted: true,
  };
}

/** Draws two places. Only the restarted service can reach the second place. */
function pairPlan(seed: number, chance: Chance): Plan {
  const first = chance.pick(PLACES.filter(({ restarted }) => !restarted));
  const second = chance.pick(
    PLACES.filter(
      ({ kind, restarted, first: needed }) => (restarted && !needed) || kind === first.kind,
    ),
  );
  return {
    seed,
    kinds: [first.kind, "story"],
    kills: [
      { point: first.point, nth: 1 },
      { point: second.point, nth: 1 },
    ],
    isWanted: false,
    isPair: true,
  };
}

async function recordOutcome(
  outcome: Outcome,
  figures: Figures,
  service: FaultyService,
): Promise<void> {
  const { plan, killed, missed, problems, runs } = outcome;
  const points = plan.kills
    .slice(0, killed.length)
    .flatMap((kill) => ("point" in kill ? [kill.point] : []));
  const moments = killed.filter((_, at) => "afterMs" in (plan.kills[at] ?? {}));
  figures.kills.atPlaces += points.length;
  figures.kills.random += moments.filter(({ activeRuns }) => activeRuns.length > 0).length;
  figures.kills.idle += moments.filter(({ activeRuns }) => activeRuns.length === 0).length;
  figures.atPlace = addCounts(figures.atPlace, points);
  if (plan.isWanted && missed.length === 0) figures.places.reached += 1;
  if (plan.isPair) figures.pairs.tried += 1;
  if (plan.isPair && killed.length === plan.kills.length) figures.pairs.reached += 1;
  figures.healthyMs.push(...killed.map(({ healthyMs }) => healthyMs));
  figures.recoveryMs.push(...recoveryTimes(killed));
  figures.runs = addCounts(
    figures.runs,
    runs.map(({ name }) => name),
  );
  if (problems.length > 0)
    figures.failures.push({ problems, ...(await keepEvidence(outcome, service)) });
}

/** The counts with one more for each of these names. */
function addCounts(
  previous: Readonly<Record<string, number>>,
  names: readonly string[],
): Record<string, number> {
  const counts = { ...previous };
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}
