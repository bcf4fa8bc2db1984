import { now } from "../../simulated/providers/play";
import { criticalPathMs, grows, slopeOf, type Spread, spread } from "./arithmetic";
import { descriptionOf } from "./descriptions";
import { type Figure, type Measurement, micros, millis, verdict } from "./figure";
import { post, replayOf, servedSince, watchRun, watchTurn } from "./run-client";
import type { Runtime } from "./runtime";
import { idealCalls, runRequest, startTeam, teamOf } from "./simulated-team";

/** Shows whether a round costs more if the session's log is longer. */
type SlopeFigure = {
  rounds: number;
  /**
   * The overhead per call in ms, of the first and the last turns of all sessions. Overhead is the
   * time of a turn without the time of its providers.
   */
  first: Spread;
  last: Spread;
  /** The same for the bare loop, which has no log. */
  bareFirst: Spread;
  bareLast: Spread;
  /** Growth of the overhead per call and round, in µs; one value per session. */
  slopeMicros: Spread;
  bareSlopeMicros: Spread;
  /** For each session, its growth minus the growth of its bare loop. */
  differenceMicros: number[];
};

const LOAD = { answerTokens: 20, voteTokens: 20, presentationTokens: 20, pace: null };
const AGENTS = 2;
/** Two rounds of each agent and the presentation. */
const ROUNDS_PER_TURN = 2 * AGENTS + 1;
const TURNS = 300 / ROUNDS_PER_TURN;
const SMALL_TURNS = 8;
/** Number of first turns, and of last turns, that are compared. */
const EDGE = 15;
/**
 * Allowed growth of the median session beyond the bare loop, in µs, on a quiet machine. There,
 * sessions without growth vary by 2 or 3 µs.
 */
const MOST_MICROS = 10;
/**
 * On a busy machine, the allowed growth is this multiple of the bare loops' variation. Sessions
 * vary up to four times as much as bare loops; the median of five sessions varies less.
 */
const VARIATION_FACTOR = 3;
/** Number of measured sessions. A shorter warm-up session runs first, to compile the code. */
const SERIES = 5;
const WARM_UP_TURNS = 20;

/**
 * Plays many turns of a session. Every turn is a child of the first turn, so the models' input
 * stays the same and only the log grows. After each turn the bare loop makes the same calls.
 */
export const SLOPE: Measurement = {
  ...descriptionOf("slope"),
  async measure(bench): Promise<Figure> {
    const data = await measureSlope(
      await bench.machines.disk(),
      bench.isSmall ? SMALL_TURNS : TURNS,
    );
    const edges = (first: Spread, last: Spread) => `${millis(first, 2)}, ${millis(last, 2)}`;
    return {
      lines: [
        {
          figure: `turn without its providers, per call, first and last ${Math.min(EDGE * ROUNDS_PER_TURN, data.rounds)} of ${data.rounds} rounds`,
          measured: edges(data.first, data.last),
          runs: `${data.slopeMicros.runs} sessions of ${data.rounds} rounds`,
          bound: `bare loop ${edges(data.bareFirst, data.bareLast)}`,
        },
        {
          figure: "  growth per round",
          measured: micros(data.slopeMicros),
          runs: `${data.slopeMicros.runs} sessions`,
          bound: `bare loop ${micros(data.bareSlopeMicros)}`,
          aim: judgeGrowth({
            differences: data.differenceMicros,
            bare: [data.bareSlopeMicros.min, data.bareSlopeMicros.max],
          }),
        },
      ],
      data,
    };
  },
};

/**
 * Whether a round costs more if the log is longer. `differences`: each session's growth minus the
 * growth of its bare loop. `bare`: the growth of the bare loops. Both are in µs. Bare loops have no
 * log, so their growth comes from the machine.
 */
export function judgeGrowth({
  differences,
  bare,
}: {
  differences: readonly number[];
  bare: readonly number[];
}): string {
  const variation = Math.max(...bare.map(Math.abs));
  const most = Math.ceil(Math.max(MOST_MICROS, VARIATION_FACTOR * variation));
  const wanted = `not above the bare loop in every session, nor by more than ${most} µs in the median`;
  return verdict(wanted, !grows(differences, most));
}

async function measureSlope({ service, bare }: Runtime, turns: number): Promise<SlopeFigure> {
  const members = teamOf(AGENTS);
  const providers = await startTeam(LOAD, members);
  const overheadOf = async (run: () => Promise<unknown>) => {
    const before = providers.requests().length;
    const startedAt = now();
    await run();
    const wallMs = now() - startedAt;
    return (wallMs - criticalPathMs(servedSince(providers, before))) / idealCalls(AGENTS);
  };
  try {
    await watchRun(service, runRequest(providers, members));
    const job = JSON.stringify(replayOf(providers, providers.requests().slice()));
    const playSession = async (turns: number): Promise<Series> => {
      const { sessionId } = await watchRun(service, runRequest(providers, members));
      const series: Series = { ours: [], bare: [] };
      for (let turn = 1; turn < turns; turn += 1) {
        series.ours.push(
          await overheadOf(() =>
            watchTurn(service, sessionId, { question: "Once more?", parent_turn: 1 }),
          ),
        );
        series.bare.push(await overheadOf(async () => (await post(`${bare}/loop`, job)).text()));
      }
      return series;
    };
    await playSession(WARM_UP_TURNS);
    const all: Series[] = [];
    while (all.length < SERIES) all.push(await playSession(turns));
    return { rounds: turns * ROUNDS_PER_TURN, ...toFigure(all) };
  } finally {
    await providers.close();
  }
}

/** The overhead per call in ms, of each turn. */
type Series = Record<"ours" | "bare", number[]>;

function toFigure(all: readonly Series[]): Omit<SlopeFigure, "rounds"> {
  const first = (whose: keyof Series) =>
    spread(all.flatMap((series) => series[whose].slice(0, EDGE)));
  const last = (whose: keyof Series) => spread(all.flatMap((series) => series[whose].slice(-EDGE)));
  const slopes = (whose: keyof Series) =>
    all.map((series) => (slopeOf(series[whose]) / ROUNDS_PER_TURN) * 1_000);
  const [ours, bare] = [slopes("ours"), slopes("bare")];
  return {
    first: first("ours"),
    last: last("ours"),
    bareFirst: first("bare"),
    bareLast: last("bare"),
    slopeMicros: spread(ours),
    bareSlopeMicros: spread(bare),
    differenceMicros: ours.map((slope, at) => slope - (bare[at] ?? Number.NaN)),
  };
}
