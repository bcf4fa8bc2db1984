import { setTimeout as sleep } from "node:timers/promises";
import { Client, readEvents } from "../../client/index";
import { RunResponseSchema, TurnResponseSchema } from "../../src/protocol/api";
import type { SimulatedProviders } from "../../simulated/providers/server";
import { toSituation } from "../../simulated/providers/situation";
import type { RecordedRequest } from "../../simulated/providers/ledger";
import type { ServedCall } from "./arithmetic";
import type { LoopJob } from "./bare-loop";

/** The times of a run that a client watched, in ms since its request. */
export type WatchedRun = { sessionId: string; firstEventMs: number; wallMs: number };

/** Starts a run and follows its stream to the end. Throws if the run does not complete. */
export const watchRun = (service: string, body: string): Promise<WatchedRun> =>
  watch(`${service}/api/runs`, body);

/** Starts the next turn of a session and follows its stream to the end, like `watchRun`. */
export const watchTurn = (
  service: string,
  sessionId: string,
  turn: Record<string, unknown>,
): Promise<WatchedRun> => watch(`${service}/api/sessions/${sessionId}/turns`, JSON.stringify(turn));

/** Reads the whole stream over one connection. Throws if the connection is lost. */
async function watch(url: string, body: string): Promise<WatchedRun> {
  const startedAt = performance.now();
  const response = await post(url, body, "text/event-stream");
  let firstEventMs = 0;
  for await (const { id, event, data } of readEvents(response)) {
    if (firstEventMs === 0 && id !== undefined) firstEventMs = performance.now() - startedAt;
    if (event === "turn.failed" || event === "turn.cancelled")
      throw new Error(`The run did not complete: ${data}`);
    if (event !== "turn.completed") continue;
    const sessionId = response.headers.get("location")?.split("/")[3] ?? "";
    return { sessionId, firstEventMs, wallMs: performance.now() - startedAt };
  }
  throw new Error("The stream ended before its run.");
}

/** A started run: its session, and the addresses of its turn and of the turn's stream. */
export type StartedRun = { sessionId: string; turn: string; events: string };

/** Starts a run without a reader. */
export const startRun = (service: string, body: string): Promise<StartedRun> =>
  start(service, "/api/runs", body);

/** Starts the next turn of a session without a reader. */
export const startTurn = (
  service: string,
  sessionId: string,
  turn: Record<string, unknown>,
): Promise<StartedRun> => start(service, `/api/sessions/${sessionId}/turns`, JSON.stringify(turn));

/** Sends no idempotency key, because the key would cost the service a lookup. */
async function start(server: string, path: string, data: string): Promise<StartedRun> {
  const body = { type: "application/json", data };
  const answer = await new Client({ server }).json({ method: "POST", path, body });
  const { session_id: sessionId, links } = RunResponseSchema.parse(answer);
  return { sessionId, turn: `${server}${links.turn}`, events: `${server}${links.events}` };
}

/** The status of a turn. */
export async function statusOf(turn: string): Promise<string> {
  return TurnResponseSchema.parse(await (await fetch(turn)).json()).status;
}

/** Polls a turn until it has ended; returns its status. Throws after `LONGEST_RUN_MS`. */
export async function endOf(turn: string, everyMs = 20): Promise<string> {
  const giveUpAt = performance.now() + LONGEST_RUN_MS;
  while (performance.now() < giveUpAt) {
    const status = await statusOf(turn);
    if (status !== "running") return status;
    await sleep(everyMs);
  }
  throw new Error(`${turn} still runs after ${LONGEST_RUN_MS / 1_000} s.`);
}

/** Longer than any run of a measurement, also on a busy machine. */
export const LONGEST_RUN_MS = 180_000;

/** Sends a POST request. Throws unless the response is a success. */
export async function post(
  url: string,
  body: string,
  accept = "application/json",
): Promise<Response> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", accept },
    body,
  });
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${await response.text()}`);
  return response;
}

/** The calls that the providers served after the first `before` requests, with their stages. */
export function servedSince(providers: SimulatedProviders, before: number): ServedCall[] {
  return providers
    .requests()
    .slice(before)
    .map(({ asked, startedAt, endedAt }) => ({
      stage: toSituation(asked).stage,
      startedAt,
      endedAt,
    }));
}

/** A job for the bare loop with the recorded requests, by stage in their original order. */
export function replayOf(
  providers: SimulatedProviders,
  records: readonly RecordedRequest[],
): LoopJob {
  const stages = Map.groupBy(records, ({ asked }) => toSituation(asked).stage);
  return {
    baseUrl: providers.baseUrl,
    stages: [...stages.values()].map((stage) => stage.map(({ body }) => body)),
  };
}
