import { setTimeout as sleep } from "node:timers/promises";
import { LOCAL_VARIABLES } from "../service/local-variables";
import { ServiceProcess } from "../service/service-process";
import { quantile, type Spread, spread } from "./arithmetic";
import { aim, type Figure, type Measurement, millis } from "./figure";
import { Reader } from "./reader";
import { endOf, startRun } from "./run-client";
import { runRequest, startTeam, teamOf } from "./team";

/** How long a watcher of a run waits after SIGKILL of the whole runtime, in ms from the kill. */
type KillFigure = {
  kills: number;
  /** The runtime is started again at once; from then until it answers `GET /healthz`. */
  healthyMs: Spread;
  /** A frame that the watcher did not have. */
  eventMs: Spread;
  /** A piece of a model's text. */
  textMs: Spread;
  textP99Ms: number;
};

const KILLS = 15;
const AIM_MS = 2_000;
const LOAD = { answerTokens: 150, voteTokens: 60, presentationTokens: 150, pace: { ttftMs: 100, tokensPerSecond: 100 } };

export const KILL: Measurement = {
  name: "kill",
  about: `Time to the first useful event after a kill, ${KILLS} kills`,
  async measure(): Promise<Figure> {
    const data = await measureKills();
    const bound = `GET /healthz ${millis(data.healthyMs)}`;
    return {
      lines: [
        ["kill to the next event at a watcher", millis(data.eventMs), bound, ""],
        [
          "kill to the next text of a model, first token after 100 ms",
          `${millis(data.textMs)}, p99 ${data.textP99Ms.toFixed(0)}`,
          bound,
          aim(data.textMs.median, AIM_MS, "<"),
        ],
      ],
      data,
    };
  },
};

async function measureKills(): Promise<KillFigure> {
  const members = teamOf(3);
  const providers = await startTeam(LOAD, members);
  const service = await ServiceProcess.prepare(LOCAL_VARIABLES);
  const samples: { healthy: number; event: number; text: number }[] = [];
  try {
    await service.start();
    for (let kill = 0; kill < KILLS; kill += 1) {
      const { events, turn } = await startRun(service.url, runRequest(providers, members));
      samples.push(await killOnce(service, events));
      const status = await endOf(turn);
      if (status !== "completed") throw new Error(`After a kill the turn is ${status}.`);
    }
  } finally {
    await service.stop();
    await providers.close();
  }
  const of = (name: "healthy" | "event" | "text") => samples.map((sample) => sample[name]);
  return {
    kills: KILLS,
    healthyMs: spread(of("healthy")),
    eventMs: spread(of("event")),
    textMs: spread(of("text")),
    textP99Ms: quantile(of("text"), 0.99),
  };
}

/** Kills it somewhere in the first answers, with a watcher who comes back at once. */
async function killOnce(service: ServiceProcess, events: string): Promise<{ healthy: number; event: number; text: number }> {
  let [killedAt, event, text] = [Number.NaN, Number.NaN, Number.NaN];
  const bothSeen = Promise.withResolvers<void>();
  const left = new AbortController();
  const reader = new Reader(events, {
    signal: left.signal,
    onFrame: (frame) => {
      if (Number.isNaN(killedAt)) return;
      const after = performance.now() - killedAt;
      if (Number.isNaN(event)) event = after;
      if (!frame.startsWith("event: stream.delta") || !Number.isNaN(text)) return;
      text = after;
      bothSeen.resolve();
    },
  });
  await sleep(200 + Math.random() * 800);
  await service.kill();
  killedAt = performance.now();
  await service.start();
  const healthy = performance.now() - killedAt;
  await Promise.race([bothSeen.promise, reader.ended.then(() => Promise.reject(new Error("The run ended without a text.")))]);
  left.abort();
  return { healthy, event, text };
}
