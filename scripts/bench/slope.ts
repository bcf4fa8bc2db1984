import { now } from "../simulated-providers/play";
import { criticalPathMs, slopeOf, type Spread, spread } from "./arithmetic";
import { type Figure, type Measurement, range } from "./figure";
import { post, replayOf, servedSince, watchRun, watchTurn } from "./run-client";
import type { Runtime } from "./runtime";
import { idealCalls, runRequest, startTeam, teamOf } from "./team";

/** Whether a round costs more the longer the session's log is. */
type SlopeFigure = {
  rounds: number;
  /** What a turn took besides its providers, per call, in ms: at the beginning and at the end of the session. */
  first: Spread;
  last: Spread;
  /** By which the overhead of a call grows with each round, in µs. */
  slopeMicros: number;
  bareSlopeMicros: number;
};

const LOAD = { answerTokens: 20, voteTokens: 20, presentationTokens: 20, pace: null };
const AGENTS = 2;
/** Two rounds of each agent and the presentation. */
const ROUNDS_PER_TURN = 2 * AGENTS + 1;
const TURNS = 300 / ROUNDS_PER_TURN;
const EDGE = 15;

/**
 * One session, turn after turn, each going on from the first: what models are sent stays the same, and only the log grows. The
 * bare loop makes the same calls as often.
 */
export const SLOPE: Measurement = {
  name: "slope",
  about: "Overhead of a call over 300 rounds of one session",
  async measure(machines): Promise<Figure> {
    const data = await measureSlope(await machines.disk());
    const micros = (value: number) => `${value.toFixed(1)} µs`;
    return {
      lines: [
        ["overhead per call, rounds 1 – 75 and 226 – 300", `${range(data.first, 2)} ms, ${range(data.last, 2)} ms`, "", ""],
        ["  growth with each round", micros(data.slopeMicros), `bare loop ${micros(data.bareSlopeMicros)}`, "none"],
      ],
      data,
    };
  },
};

async function measureSlope({ service, bare }: Runtime): Promise<SlopeFigure> {
  const members = teamOf(AGENTS);
  const providers = await startTeam(LOAD, members);
  const timed = async (run: () => Promise<unknown>) => {
    const before = providers.requests().length;
    const startedAt = now();
    await run();
    const wallMs = now() - startedAt;
    return (wallMs - criticalPathMs(servedSince(providers, before))) / idealCalls(AGENTS);
  };
  try {
    await watchRun(service, runRequest(providers, members));
    const job = JSON.stringify(replayOf(providers, providers.requests().slice()));
    const { sessionId } = await watchRun(service, runRequest(providers, members));
    const ours: number[] = [];
    const theirs: number[] = [];
    for (let turn = 1; turn < TURNS; turn += 1) {
      ours.push(await timed(() => watchTurn(service, sessionId, { question: "Once more?", parent_turn: 1 })));
      theirs.push(await timed(async () => (await post(`${bare}/loop`, job)).text()));
    }
    return {
      rounds: TURNS * ROUNDS_PER_TURN,
      first: spread(ours.slice(0, EDGE)),
      last: spread(ours.slice(-EDGE)),
      slopeMicros: (slopeOf(ours) / ROUNDS_PER_TURN) * 1_000,
      bareSlopeMicros: (slopeOf(theirs) / ROUNDS_PER_TURN) * 1_000,
    };
  } finally {
    await providers.close();
  }
}
