import { setTimeout as sleep } from "node:timers/promises";
import { LOCAL_VARIABLES } from "../../simulated/service/local-variables";
import { ServiceProcess } from "../../simulated/service/service-process";
import { quantile, type Spread, spread } from "./arithmetic";
import { BareProcess } from "./bare-process";
import { chanceFor } from "./chance";
import { descriptionOf } from "./descriptions";
import { aim, type Figure, type Measurement, millis, times } from "./figure";
import { Reader } from "./reader";
import { endOf, startRun } from "./run-client";
import { runRequest, startTeam, teamOf } from "./simulated-team";

/**
 * Recovery times after SIGKILL of the whole runtime and an immediate restart, in ms from the
 * signal. A client watches the run.
 */
type KillFigure = {
  kills: number;
  /** Time until a bare Worker answers, which is killed and restarted as often. */
  bareMs: Spread;
  /** Time until the service responds to `GET /healthz`. */
  healthyMs: Spread;
  /** Time until the client receives a new frame. */
  eventMs: Spread;
  /** Time until the client receives a chunk of a model's text. */
  textMs: Spread;
  textP99Ms: number;
};

const KILLS = 15;
const AIM_MS = 2_000;
const LOAD = {
  answerTokens: 150,
  voteTokens: 40,
  presentationTokens: 40,
  pace: { ttftMs: 100, tokensPerSecond: 100 },
};

export const KILL: Measurement = {
  ...descriptionOf("kill"),
  async measure(bench): Promise<Figure> {
    const { seed } = bench;
    const data = await measureKills(seed, times(KILLS, bench));
    const runs = `${data.kills} kills, seed ${seed}`;
    const bound = `bare Worker of one line ${millis(data.bareMs)}`;
    return {
      lines: [
        {
          figure: "kill to the next event at a watcher",
          measured: millis(data.eventMs),
          runs,
          bound,
        },
        {
          figure: "  to the service's first answer, GET /healthz",
          measured: millis(data.healthyMs),
          runs,
          bound,
        },
        {
          figure: "kill to the next text of a model, first token after 100 ms",
          measured: `${millis(data.textMs)}, p99 ${data.textP99Ms.toFixed(0)}`,
          runs,
          bound,
          aim: aim(data.textMs.median, AIM_MS, "<"),
        },
      ],
      data,
    };
  },
};

async function measureKills(seed: number, kills: number): Promise<KillFigure> {
  const members = teamOf(3);
  const providers = await startTeam(LOAD, members);
  const service = await ServiceProcess.prepare(LOCAL_VARIABLES);
  const bare = await BareProcess.prepare();
  const chance = chanceFor(seed, "kill");
  const samples: (Recovery & { bare: number })[] = [];
  try {
    await service.start();
    await bare.start();
    for (let kill = 0; kill < kills; kill += 1) {
      const { events, turn } = await startRun(service.url, runRequest(providers, members));
      const recovery = await killOnce(service, events, chance.int(200, 1_000));
      const status = await endOf(turn);
      if (status !== "completed") throw new Error(`After a kill the turn is ${status}.`);
      const killedAt = performance.now();
      await bare.kill();
      await bare.start();
      samples.push({ ...recovery, bare: performance.now() - killedAt });
    }
  } finally {
    await bare.stop();
    await service.stop();
    await providers.close();
  }
  const of = (name: "bare" | keyof Recovery) => samples.map((sample) => sample[name]);
  return {
    kills,
    bareMs: spread(of("bare")),
    healthyMs: spread(of("healthy")),
    eventMs: spread(of("event")),
    textMs: spread(of("text")),
    textP99Ms: quantile(of("text"), 0.99),
  };
}

/** Times from the signal to each event, in ms. */
type Recovery = { healthy: number; event: number; text: number };

/** Kills the service during the first answers; a watching client reconnects immediately. */
async function killOnce(
  service: ServiceProcess,
  events: string,
  afterMs: number,
): Promise<Recovery> {
  let [killedAt, event, text] = [Number.NaN, Number.NaN, Number.NaN];
  let isDead = false;
  const bothSeen = Promise.withResolvers<void>();
  const stopReader = new AbortController();
  const reader = new Reader(events, {
    signal: stopReader.signal,
    onFrame: (frame) => {
      if (!isDead) return;
      const sinceKill = performance.now() - killedAt;
      if (Number.isNaN(event)) event = sinceKill;
      if (!frame.startsWith("event: stream.delta") || !Number.isNaN(text)) return;
      text = sinceKill;
      bothSeen.resolve();
    },
  });
  await sleep(afterMs);
  killedAt = performance.now();
  await service.kill();
  isDead = true;
  await service.start();
  const healthy = performance.now() - killedAt;
  await Promise.race([
    bothSeen.promise,
    reader.ended.then(() => Promise.reject(new Error("The run ended without a text."))),
  ]);
  stopReader.abort();
  return { healthy, event, text };
}
