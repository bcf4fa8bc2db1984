import { setTimeout as sleep } from "node:timers/promises";
import { now } from "../../simulated/providers/play";
import { hangs } from "../../simulated/providers/scripts";
import { type SimulatedProviders, startSimulatedProviders } from "../../simulated/providers/server";
import { type Spread, spread } from "./arithmetic";
import { descriptionOf } from "./descriptions";
import { aim, type Figure, type Measurement, millis } from "./figure";
import { post, startRun } from "./run-client";
import type { Runtime } from "./runtime";
import { runRequest, teamOf } from "./simulated-team";

/**
 * Times from the cancel request until the provider sees that a connection of the team is closed, in
 * ms. `closed`: connections of the service. `bare`: connections of aborted `fetch` calls.
 */
type CancelFigure = { closed: Spread; bare: Spread };

const SAMPLES = 10;
const AIM_MS = 100;
const AGENTS = 3;
const TOKENS = 5;

export const CANCEL: Measurement = {
  ...descriptionOf("cancel"),
  async measure({ machines }): Promise<Figure> {
    const data = await machines.onBoth(measureCancel);
    const line = ({ closed, bare }: CancelFigure, where: string): Figure["lines"] => [
      {
        figure: `cancel to upstream closed, ${where}`,
        measured: millis(closed, 1),
        runs: `${SAMPLES} × ${AGENTS} calls`,
        bound: `aborted fetch ${millis(bare, 1)}`,
        aim: aim(closed.median, AIM_MS, "<"),
      },
    ];
    return {
      lines: [...line(data.disk, "disk"), ...(data.memory ? line(data.memory, "memory") : [])],
      data,
    };
  },
};

async function measureCancel({ service }: Runtime): Promise<CancelFigure> {
  const members = teamOf(AGENTS);
  const script = hangs("body", { text: "Water boils at 100 °C, and", tokens: TOKENS });
  const models = Object.fromEntries(members.map(({ model }) => [model, script]));
  const providers = await startSimulatedProviders({ models });
  try {
    const closed: number[] = [];
    const bare: number[] = [];
    for (let sample = 0; sample < SAMPLES; sample += 1) {
      closed.push(...(await closeTimes(providers, await startTeamRun(service, providers))));
      bare.push(...(await closeTimes(providers, await startFetches(providers))));
    }
    return { closed: spread(closed), bare: spread(bare) };
  } finally {
    await providers.close();
  }
}

/** Cancels the started work; throws if the cancel is refused. */
type Cancel = () => Promise<void>;

async function startTeamRun(service: string, providers: SimulatedProviders): Promise<Cancel> {
  const { sessionId } = await startRun(service, runRequest(providers, teamOf(AGENTS)));
  return async () => void (await post(`${service}/api/sessions/${sessionId}/cancel`, "{}"));
}

/** Sends the same number of requests from this process. */
async function startFetches(providers: SimulatedProviders): Promise<Cancel> {
  const user = new AbortController();
  const body = JSON.stringify({
    model: "bench-1",
    stream: true,
    messages: [{ role: "user", content: "x" }],
  });
  const headers = { "content-type": "application/json", authorization: "Bearer simulated" };
  const url = `${providers.baseUrl}/chat/completions`;
  const replies = Array.from({ length: AGENTS }, () =>
    fetch(url, { method: "POST", headers, body, signal: user.signal }),
  );
  await Promise.all(replies);
  return async () => user.abort();
}

/** Cancels once all connections stream; returns the time in ms until each connection closed. */
async function closeTimes(providers: SimulatedProviders, cancel: Cancel): Promise<number[]> {
  const open = () =>
    providers
      .requests()
      .filter(({ outcome, tokensSent }) => outcome === "open" && tokensSent === TOKENS);
  while (open().length < AGENTS) await sleep(2);
  await sleep(50);
  const calls = open();
  const cancelledAt = now();
  await cancel();
  while (calls.some(({ endedAt }) => endedAt === null)) await sleep(1);
  return calls.map(({ endedAt }) => (endedAt ?? Number.NaN) - cancelledAt);
}
