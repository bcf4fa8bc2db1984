import { setTimeout as sleep } from "node:timers/promises";
import { Chance } from "../../../simulated/chance";
import { FaultyService } from "../faulty-service";
import { type Outcome, type Plan, play, randomPlan } from "./case";
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
  /** At least so many kills, at random moments of a run and at places together. */
  kills: number;
  /** At least so many of them at random moments. Omitted: no minimum. */
  atRandom?: number;
  /** Kills at each place. */
  eachPlace: number;
  /** The named places to kill at. Omitted: all. */
  places?: readonly Place[];
  /**
   * So many kills at a named place and at a second place during or after recovery, as far as both
   * can be reached.
   */
  pairs: number;
  /** Number of services that run side by side. */
  lanes: number;
  /** Called at the end of each case. */
  onCase?: (outcome: Outcome) => void;
};

export type Figures = {
  seed: number;
  /** `random`: at a moment when a run was active. `idle`: at a moment when no run was active. */
  kills: { random: number; idle: number; atPlaces: number };
  /** Kills by place name. */
  atPlace: Readonly<Record<string, number>>;
  places: { wanted: number; reached: number; missed: string[] };
  /** `tried` counts drawn pairs, `reached` pairs of which both places were reached. */
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

/** The process is killed at one of the first visits of a place, up to this one. */
const LATEST_VISIT = 4;
/** Which places a run reaches depends a little on the machine's speed. */
const TRIES = 3;
/** Pairs are drawn without knowing whether both places can be reached; three in four can. */
const TRIES_OF_A_PAIR = 6;
/** So many failed cases mean a broken service, and each keeps its evidence on disk. */
const MOST_FAILURES = 20;
/**
 * Kills count only if a run was active. Most plans have such a kill; the limit ends a campaign
 * against a service that no kill can hit.
 */
const plansFor = (kills: number): number => 20 + 4 * kills;

/** Plays everything that the options ask for. Throws only if the service cannot be started. */
export async function campaign(options: CampaignOptions): Promise<Figures> {
  const figures = noFigures(options.seed);
  const plans = plansOf(options, figures);
  return playPlans(
    plans,
    { figures, onCase: options.onCase, command: commandOf(options), tries: TRIES },
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
 * Shared by all lanes. `command`: repeats the campaign. `tries`: how often a plan is played if it
 * does not reach its places.
 */
type CampaignRun = {
  figures: Figures;
  onCase: CampaignOptions["onCase"];
  command: string;
  tries: number;
};

async function playPlans(plans: Iterator<Plan>, run: CampaignRun, lanes: number): Promise<Figures> {
  const startedAt = performance.now();
  const services: FaultyService[] = []; // One after the other: `prepare` changes the environment.
  for (let made = 0; made < lanes; made += 1) services.push(await FaultyService.prepare());
  await Promise.all(services.map((service) => playLane(service, plans, run)));
  run.figures.seconds = (performance.now() - startedAt) / 1_000;
  return run.figures;
}

/**
 * One service that plays plans until none is left. Keeps of finished runs only the entries that its
 * ledger is checked against. At the end the service is stopped and everything it wrote is checked.
 */
async function playLane(
  service: FaultyService,
  plans: Iterator<Plan>,
  run: CampaignRun,
): Promise<void> {
  const { figures, command } = run;
  try {
    await service.start();
    const played: FinishedRuns[] = [];
    for (let next = plans.next(); !next.done; next = plans.next()) {
      played.push(...(await playUntilThere(next.value, { ...run, service })));
    }
    await sleep(SETTLED_WITHIN_MS);
    await service.kill();
    // Keys first: reading a database merges its write-ahead log into it.
    const problems =
      played.length > 0
        ? [...(await keysOnDisk(service.storage)), ...ledgerProblems(service.storage, played)]
        : [];
    const again = { storage: service.storage, seed: figures.seed, command };
    if (problems.length > 0)
      figures.failures.push({ problems, ...(await keepStorage(problems, again)) });
  } finally {
    await service.stop();
  }
}

/**
 * The ledger covers all runs, so the command repeats the whole campaign, as far as lanes that share
 * plans allow.
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
 * Repeats a plan that missed a required place, then at the first visit: not every run reaches the
 * place often.
 */
async function playUntilThere(plan: Plan, playLane: Lane): Promise<FinishedRuns[]> {
  const played: FinishedRuns[] = [];
  for (;;) {
    const { outcome, ledger } = await playWithProviders(
      played.length === 0 ? plan : atFirstVisit(plan),
      playLane,
    );
    played.push(ledger);
    if (!plan.isWanted || outcome.missed.length === 0) return played;
    if (played.length === playLane.tries) {
      playLane.figures.places.missed.push(...outcome.missed);
      return played;
    }
  }
}

async function playWithProviders(
  plan: Plan,
  { service, figures, onCase }: Lane,
): Promise<{ outcome: Outcome; ledger: FinishedRuns }> {
  const providers = await startRunServers(); // Its ledger records this case alone.
  try {
    const outcome = await play(plan, service, providers);
    await record(outcome, figures, service);
    onCase?.(outcome);
    if (outcome.problems.length > 0) await service.restart();
    return { outcome, ledger: toFinishedRuns(outcome) };
  } finally {
    await providers.close();
  }
}

const atFirstVisit = (plan: Plan): Plan => ({
  ...plan,
  kills: plan.kills.map((kill) => ("point" in kill ? { ...kill, nth: 1 } : kill)),
});

/**
 * Yields plans until enough was played, or until that is clearly impossible: then
 * `figures.endedEarly` says why.
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
 * Named places first, because all of them are required; then kills of any kind, until there are
 * enough.
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
      yield placePlan(
        seed + nth++,
        place,
        chance.int(1, place.visits ?? (eachPlace === 1 ? 1 : LATEST_VISIT)),
      );
    }
  }
  figures.pairs.wanted = pairs;
  for (let pair = 0; pair < pairs * TRIES_OF_A_PAIR && figures.pairs.reached < pairs; pair += 1) {
    yield pairPlan(seed + nth++, chance);
  }
  const inAll = () => figures.kills.random + figures.kills.atPlaces;
  for (let left = plansFor(kills); left > 0 && inAll() < kills; left -= 1)
    yield anyPlan(seed + nth++);
  const atMoments = () => figures.kills.random;
  for (let left = plansFor(atRandom); left > 0 && atMoments() < atRandom; left -= 1)
    yield randomPlan(seed + nth++);
  if (inAll() < kills || atMoments() < atRandom) {
    figures.endedEarly = `${nth} cases reached ${inAll()} of ${kills} kills, ${atMoments()} of ${atRandom} at random moments`;
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
  return placePlan(seed, place, chance.int(1, place.visits ?? LATEST_VISIT));
}

function placePlan(seed: number, { point, kind, restarted, first }: Place, nth: number): Plan {
  // So that the restarted service has a call to recover.
  const anyCall = {
    point: "commit.durable/call.started",
    nth: new Chance(seed).int(1, LATEST_VISIT),
  };
  const before = restarted ? [first ?? anyCall] : [];
  return {
    seed,
    kinds: [kind, "cancelled"],
    kills: [...before, { point, nth: first ? 1 : nth }],
    isWanted: true,
  };
}

/** The second place is reached by the restarted service, or not at all. */
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

async function record(outcome: Outcome, figures: Figures, service: FaultyService): Promise<void> {
  const { plan, killed, missed, problems, runs } = outcome;
  const points = plan.kills
    .slice(0, killed.length)
    .flatMap((kill) => ("point" in kill ? [kill.point] : []));
  const moments = killed.filter((_, at) => "afterMs" in (plan.kills[at] ?? {}));
  figures.kills.atPlaces += points.length;
  figures.kills.random += moments.filter(({ hit }) => hit.length > 0).length;
  figures.kills.idle += moments.filter(({ hit }) => hit.length === 0).length;
  figures.atPlace = counted(figures.atPlace, points);
  if (plan.isWanted && missed.length === 0) figures.places.reached += 1;
  if (plan.isPair) figures.pairs.tried += 1;
  if (plan.isPair && killed.length === plan.kills.length) figures.pairs.reached += 1;
  figures.healthyMs.push(...killed.map(({ healthyMs }) => healthyMs));
  figures.recoveryMs.push(...recoveryTimes(killed));
  figures.runs = counted(
    figures.runs,
    runs.map(({ name }) => name),
  );
  if (problems.length > 0)
    figures.failures.push({ problems, ...(await keepEvidence(outcome, service)) });
}

function counted(
  before: Readonly<Record<string, number>>,
  names: readonly string[],
): Record<string, number> {
  const counts = { ...before };
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}
