import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Format } from "../../simulated/providers/dialect";
import type { RecordedRequest } from "../../simulated/providers/ledger";
import type { Script } from "../../simulated/providers/reply";
import { aliasOf, byStage, newAnswer, vote } from "../../simulated/providers/scripts";
import { type SimulatedProviders, startSimulatedProviders } from "../../simulated/providers/server";
import { ServiceProcess } from "../../simulated/service/service-process";
import { backendOf, FORMATS, modelOf } from "./support/formats";
import { historyReads, shareRead } from "./support/history-reads";
import { LOCAL } from "./support/local";
import { ServiceClient } from "./support/service-client";

/**
 * Long conversations with providers that have prompt caches, each with the rules of its format. The
 * history is read from the cache, except for the newest turn, which no provider has seen before.
 */

/** With so many turns, the newest turns together are less than a tenth of all histories. */
const QUIET_TURNS = 24;
const KILLED_TURNS = 8;
const TURN_MS = 60_000;

/**
 * The first turns are so long that the history of two of them is longer than the minimum of every
 * provider. The others are so short that no summary is needed: it would replace the beginning of
 * the history.
 */
const LONG_TURNS = 3;
const longText = (about: string): string =>
  Array.from(
    { length: turnOf(about) <= LONG_TURNS ? 300 : 60 },
    (_, line) => `Line ${line} of the reply to ${about}`,
  ).join("\n");
const turnOf = (question: string): number => Number(/\d+/.exec(question)?.[0]);

const shortAnswer = (question: string): string => `The winner answers ${question}`;

/** An agent whose answers win. */
const winner: Script = byStage({
  answering: ({ question }) => newAnswer(shortAnswer(question)),
  deciding: (situation) => vote(situation, { voteFor: winnerOf }),
  presenting: ({ question }) => ({ text: longText(question) }),
});
const other: Script = byStage({
  answering: ({ question }) => newAnswer(`Something else about ${question}, which is shorter.`),
  deciding: (situation) => vote(situation, { voteFor: winnerOf }),
  presenting: () => ({ text: "Never sent." }),
});
const winnerOf = (situation: Parameters<Script>[0]): string =>
  aliasOf(shortAnswer(situation.question), situation);

const RUNS = ["quiet", "killed"] as const;
type Run = (typeof RUNS)[number];
const nameOf = (format: Format, run: Run, role: "winner" | "other"): string =>
  modelOf(format, `${run}-${role}`);

let service: ServiceProcess;
let providers: SimulatedProviders;
let client: ServiceClient;

beforeAll(async () => {
  const models = FORMATS.flatMap((format) =>
    RUNS.flatMap((run) => [
      [nameOf(format, run, "winner"), winner] as const,
      [nameOf(format, run, "other"), other] as const,
    ]),
  );
  providers = await startSimulatedProviders({
    models: Object.fromEntries(models),
    promptCaches: true,
  });
  service = await ServiceProcess.prepare(LOCAL);
  await service.start();
  client = new ServiceClient(service.url);
});
afterAll(async () => {
  await service?.stop();
  await providers?.close();
});

const questionOf = (turn: number): string => `Question ${turn}: what comes next?`;

/** Starts a conversation of two agents of this format with its first question. */
async function startSession(format: Format, run: Run): Promise<string> {
  const agents = (["winner", "other"] as const).map((role) => ({
    id: role,
    model: nameOf(format, run, role),
    backend: backendOf(format, providers),
  }));
  const config = { orchestrator: { defer_voting_until_all_answered: true } };
  const { session_id: id } = await client.start({
    ...{ baseUrl: providers.baseUrl, agents, config, question: questionOf(1) },
  });
  return id;
}

/** Waits for the end of a turn, which must be completed. */
async function endOf(session: string, turn: number): Promise<void> {
  const { status, error } = await client.ended(session, TURN_MS, turn);
  expect({ turn, status, error }).toMatchObject({ status: "completed" });
}

const requestsOf = (format: Format, run: Run): RecordedRequest[] => {
  const names = [nameOf(format, run, "winner"), nameOf(format, run, "other")];
  return providers.requests().filter(({ model }) => names.includes(model));
};

function expectReads(format: Format, run: Run): void {
  const requests = requestsOf(format, run);
  expect(requests.flatMap(({ refusal, scriptError }) => refusal ?? scriptError ?? [])).toEqual([]);
  const reads = historyReads(requests).filter(({ turn }) => turn > 1);
  console.log(
    `${format}, ${run}: read ${percent(shareRead(reads, "sent"))} of the histories, ${percent(shareRead(reads, "known"))} of what was sent before`,
  );
  expect(shareRead(reads, "known")).toBeGreaterThan(0.97);
  // From the third turn on, each history begins with one that was sent before.
  for (const one of reads.filter(({ turn }) => turn > 2)) {
    expect(one.known).toBeGreaterThan(0);
    expect({ ...one, share: one.read / one.known }).toMatchObject({ share: expect.closeTo(1, 1) });
  }
}

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;

describe.each(FORMATS)("with models of the format %s", (format) => {
  it(`a conversation of ${QUIET_TURNS} turns reads at least 90 % of its histories from the cache`, {
    timeout: QUIET_TURNS * TURN_MS,
  }, async () => {
    const session = await startSession(format, "quiet");
    await endOf(session, 1);
    for (let turn = 2; turn <= QUIET_TURNS; turn += 1) {
      await client.ask(session, questionOf(turn));
      await endOf(session, turn);
    }
    expectReads(format, "quiet");
    const reads = historyReads(requestsOf(format, "quiet")).filter(({ turn }) => turn > 1);
    expect(shareRead(reads, "sent")).toBeGreaterThanOrEqual(0.9);
    const { usage } = await client.turn(session, QUIET_TURNS);
    const reported = requestsOf(format, "quiet")
      .filter(({ asked }) => asked.messages[0]?.text.includes(`>>>\n${questionOf(QUIET_TURNS)}`))
      .reduce((sum, request) => sum + (request.reported?.cachedTokens ?? 0), 0);
    expect(usage.cached_tokens).toBe(reported);
  });
});

describe("after SIGKILL during and between turns", () => {
  it("the histories are still read from the cache, in every format", {
    timeout: 2 * KILLED_TURNS * TURN_MS,
  }, async () => {
    const sessions = await Promise.all(FORMATS.map((format) => startSession(format, "killed")));
    for (let turn = 1; turn <= KILLED_TURNS; turn += 1) {
      if (turn > 1)
        await Promise.all(sessions.map((session) => client.ask(session, questionOf(turn))));
      if (turn % 3 === 1) {
        await sleep(30 * turn);
        await restart();
      }
      await Promise.all(sessions.map((session) => endOf(session, turn)));
      if (turn % 3 === 2) await restart();
    }
    for (const format of FORMATS) expectReads(format, "killed");
  });

  async function restart(): Promise<void> {
    await service.kill();
    await service.start();
  }
});
