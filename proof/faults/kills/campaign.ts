import { setTimeout as sleep } from "node:timers/promises";
import { Chance } from "../../../simulated/chance";
import { FaultyService } from "../faulty-service";
import { type Outcome, type Plan, play, randomPlan } from "./case";
import { keepStorage } from "../runs/evidence";
import { keysOnDisk } from "../runs/left-on-disk";
import { commandOf as caseCommandOf, keepEvidence } from "./evidence";
import { startSurroundings } from "../runs/surroundings";
import { PLACES, type Place } from "./points";
import { recoveryTimes } from "./recovery";
import { type Played, TOLD_WITHIN_MS, toPlayed, unsettled } from "../runs/tenant-books";

export type CampaignOptions = {
  seed: number;
  /** At least so many kills at random moments of a run and at places together. */
  kills: number;
  /** At least so many of them at random moments; absent: as it comes. */
  atRandom?: number;
  /** How often each of the places. */
  eachPlace: number;
  /** The named places to kill at; absent: all of them. */
  places?: readonly Place[];
  /** Kills at a named place, and at another while or after the service comes back: so many, as far as they can be come to. */
  pairs: number;
  /** Services side by side. */
  lanes: number;
  /** Told of each case as it ends. */
  onCase?: (outcome: Outcome) => void;
};

export type Figures = {
  seed: number;
  /** `random`: at a moment when a run was seen to be on; `idle`: at one when none was, not yet or not any more. */
  kills: { random: number; idle: number; atPlaces: number };
  /** Kills by the name of the place. */
  atPlace: Readonly<Record<string, number>>;
  places: { wanted: number; reached: number; missed: string[] };
  /** Pairs of places that were tried, and those of which both places were come to. */
  pairs: { wanted: number; tried: number; reached: number };
  runs: Readonly<Record<string, number>>;
  healthyMs: number[];
  recoveryMs: number[];
  /** What was wrong, and how to repeat it. */
  failures: { problems: readonly string[]; folder: string; command: string }[];
  /** Why not all that was asked for was played; null: it was. */
  endedEarly: string | null;
  seconds: number;
};

/** Which of its visits to a place the process may be killed at. */
const LATEST_VISIT = 4;
/** What a run comes to depends a little on the machine's pace. */
const TRIES = 3;
/** Pairs are drawn without knowing whether both places can be come to; three in four can. */
const TRIES_OF_A_PAIR = 6;
/** A service on which so many cases fail is broken, and each of them keeps its evidence. */
const MOST_FAILURES = 20;
/** Kills count only if something was on. Most plans have one that counts, and of a service that none can hit there are so many at most. */
const plansFor = (kills: number): number => 20 + 4 * kills;

/** Plays all that was asked for. Throws only if the service cannot even be started. */
export async function campaign(options: CampaignOptions): Promise<Figures> {
  const figures = noFigures(options.seed);
  const plans = plansOf(options, figures);
  return played(
    plans,
    { figures, onCase: options.onCase, command: commandOf(options), tries: TRIES },
    options.lanes,
  );
}

/** Plays one plan again, once, just as it is; `places.missed`: those of its places that it did not come to. */
export async function replay(plan: Plan, onCase?: CampaignOptions["onCase"]): Promise<Figures> {
  const figures = noFigures(plan.seed);
  figures.places.wanted = plan.kills.some((kill) => "point" in kill) ? 1 : 0;
  const plans = [{ ...plan, isWanted: true }].values();
  return played(plans, { figures, onCase, command: caseCommandOf(plan), tries: 1 }, 1);
}

/** Of a campaign that has not begun. */
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

/** What all lanes share. `command`: plays all of it again. `tries`: how often a plan is played that does not come to its places. */
type Playing = {
  figures: Figures;
  onCase: CampaignOptions["onCase"];
  command: string;
  tries: number;
};

async function played(plans: Iterator<Plan>, playing: Playing, lanes: number): Promise<Figures> {
  const startedAt = performance.now();
  const services: FaultyService[] = []; // one after the other, because each takes over the environment while it is made
  for (let made = 0; made < lanes; made += 1) services.push(await FaultyService.prepare());
  await Promise.all(services.map((service) => lane(service, plans, playing)));
  playing.figures.seconds = (performance.now() - startedAt) / 1_000;
  return playing.figures;
}

/**
 * One service, which plays plan after plan until none is left. Of what is over only that is kept which its books shall tell; then it
 * lies still, and all that it has written is looked at.
 */
async function lane(
  service: FaultyService,
  plans: Iterator<Plan>,
  playing: Playing,
): Promise<void> {
  const { figures, command } = playing;
  try {
    await service.start();
    const played: Played[] = [];
    for (let next = plans.next(); !next.done; next = plans.next()) {
      played.push(...(await playUntilThere(next.value, { ...playing, service })));
    }
    await sleep(TOLD_WITHIN_MS);
    await service.kill();
    // First the keys: reading a database writes its log into it.
    const problems =
      played.length > 0
        ? [...(await keysOnDisk(service.storage)), ...unsettled(service.storage, played)]
        : [];
    const again = { storage: service.storage, seed: figures.seed, command };
    if (problems.length > 0)
      figures.failures.push({ problems, ...(await keepStorage(problems, again)) });
  } finally {
    await service.stop();
  }
}

/** Books are of all the runs together: so is what repeats them, as far as lanes that share the plans can. */
export const commandOf = ({
  seed,
  kills,
  atRandom = 0,
  eachPlace,
  pairs,
  lanes,
}: CampaignOptions): string =>
  `npm run faults -- --seed ${seed} --kills ${kills} --at-random ${atRandom} --points ${eachPlace} --pairs ${pairs} --lanes ${lanes}`;

type Lane = Playing & { service: FaultyService };

/** Plays a plan again if it did not come to a place that it shall, then at the first visit: not every run comes there often. */
async function playUntilThere(plan: Plan, lane: Lane): Promise<Played[]> {
  const played: Played[] = [];
  for (;;) {
    const { outcome, books } = await playWithProviders(
      played.length === 0 ? plan : atFirstVisit(plan),
      lane,
    );
    played.push(books);
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
): Promise<{ outcome: Outcome; books: Played }> {
  const providers = await startSurroundings(); // with a record of this case alone
  try {
    const outcome = await play(plan, service, providers);
    await note(outcome, figures, service);
    onCase?.(outcome);
    if (outcome.problems.length > 0) await service.beginAgain();
    return { outcome, books: toPlayed(outcome) };
  } finally {
    await providers.close();
  }
}

const atFirstVisit = (plan: Plan): Plan => ({
  ...plan,
  kills: plan.kills.map((kill) => ("point" in kill ? { ...kill, nth: 1 } : kill)),
});

/** Plans until enough was played, or until it is plain that this will never be: then `figures.endedEarly` says why. */
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

/** Named places first, because they are wanted all; then kills of any sort, until there are enough. */
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
    figures.endedEarly = `${nth} cases came to ${inAll()} of ${kills} kills, ${atMoments()} of ${atRandom} at random moments`;
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
  // Whoever begins again there has something to take up.
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

/** The second place is come to by the restarted service, or not at all. */
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

async function note(outcome: Outcome, figures: Figures, service: FaultyService): Promise<void> {
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
