import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { refusesOver } from "../../simulated/providers/long-work";
import { textSent } from "../../simulated/providers/model-input";
import type { Script } from "../../simulated/providers/reply";
import { byStage, newAnswer, vote } from "../../simulated/providers/scripts";
import { type SimulatedProviders, startSimulatedProviders } from "../../simulated/providers/server";
import { toSituation } from "../../simulated/providers/situation";
import { ServiceProcess } from "../../simulated/service/service-process";
import { LOCAL } from "./support/local";
import { ServiceClient } from "./support/service-client";

/** Length ends no conversation: older turns are summarised, once for all branches. */

const TURNS = 50;
/** The turns that two branches follow, and the turns of each branch. */
const BRANCHES = [20, 37];
const BRANCH_TURNS = 8;
const TURN_MS = 60_000;
/** The window of the models, which refuse longer requests. */
const WINDOW = 128_000;
/** A summary of the length that a model writes if it is asked for a thorough one. */
const SUMMARY_CHARS = 20_000;
const ANSWER_CHARS = 40_000;

const markOf = (question: string): string => /\bq\d+q\b/.exec(question)?.[0] ?? "q0q";
/** Every mark in a text, each once. */
const marksIn = (text: string): string[] => [...new Set(text.match(/\bq\d+q\b/g))];
const questionOf = (turn: number): string => `What comes after q${turn}q?`;

const writer: Script = byStage({
  answering: ({ question }) => newAnswer(`An answer to ${markOf(question)}.`),
  deciding: (situation) => vote(situation),
  presenting: ({ question }) => ({
    text: `The answer to ${markOf(question)}: ${"a word and ".repeat(ANSWER_CHARS / 11)}`,
  }),
});

/** Keeps the marks of everything that it summarises. */
const summarising =
  (script: Script): Script =>
  (situation) => {
    if (situation.stage !== "summary") return script(situation);
    const marks = marksIn(textSent(situation.asked)).join(" ");
    return { text: `Until now: ${marks} ${"and so on, ".repeat(SUMMARY_CHARS / 11)}` };
  };

let providers: SimulatedProviders;
let service: ServiceProcess;
let client: ServiceClient;

beforeAll(async () => {
  const model = refusesOver(WINDOW, summarising(writer));
  const failing: Script = (situation) =>
    situation.stage === "summary"
      ? { fail: { status: 400, type: "invalid_request_error", code: "bad", message: "No." } }
      : writer(situation);
  providers = await startSimulatedProviders({
    models: { long: model, longer: model, failing: refusesOver(WINDOW, failing) },
  });
  service = await ServiceProcess.prepare(LOCAL);
  await service.start();
  client = new ServiceClient(service.url);
});
afterAll(async () => {
  await service?.stop();
  await providers?.close();
});

const start = async (models: readonly string[]): Promise<string> => {
  const agents = models.map((model) => ({ id: model, model }));
  const question = questionOf(1);
  return (await client.start({ baseUrl: providers.baseUrl, agents, question })).session_id;
};

async function completed(session: string, turn: number) {
  const ended = await client.ended(session, TURN_MS, turn);
  expect({ turn, status: ended.status, error: ended.error }).toMatchObject({ status: "completed" });
  return ended;
}

/** The request for the final text of the turn that asked `question`. */
const presentationOf = (question: string) =>
  providers
    .requests()
    .filter(({ asked }) => toSituation(asked).stage === "presentation")
    .findLast(({ asked }) => toSituation(asked).question === question);

describe("a conversation whose turns have 40,000 characters each", () => {
  it(`never fails for its length, in ${TURNS} turns and two branches`, {
    timeout: (TURNS + 2 * BRANCH_TURNS) * TURN_MS,
  }, async () => {
    const session = await start(["long", "longer"]);
    /** The questions on the branch of each turn, its own included. */
    const asked = new Map([[1, [questionOf(1)]]]);
    const summaries: number[][] = [];
    const ask = async (parent: number, turn: number): Promise<void> => {
      expect(await client.ask(session, questionOf(turn), { parent_turn: parent })).toBe(turn);
      asked.set(turn, [...(asked.get(parent) ?? []), questionOf(turn)]);
      const { history } = await completed(session, turn);
      expect(history?.cut ?? null).toBeNull();
      if (history?.written_by) summaries.push([turn, history.summary_through ?? 0]);
      const { asked: request } = presentationOf(questionOf(turn)) ?? {};
      const marks = marksIn(request ? textSent(request) : "");
      expect(marks.toSorted()).toEqual(
        (asked.get(turn) ?? []).map((question) => markOf(question)).toSorted(),
      );
    };
    await completed(session, 1);
    for (let turn = 2; turn <= TURNS; turn += 1) {
      if (turn % 17 === 0) await restart();
      await ask(turn - 1, turn);
    }
    let next = TURNS;
    for (const branch of BRANCHES) {
      let parent = branch;
      for (let nth = 0; nth < BRANCH_TURNS; nth += 1) {
        next += 1;
        await ask(parent, next);
        parent = next;
      }
    }
    const last = summaries.map(([, through]) => through);
    expect(new Set(last).size).toBe(last.length);
    expect(summaries.length).toBeGreaterThan(5);
    // The first turn of a branch uses a summary of the trunk.
    for (const first of [TURNS + 1, TURNS + BRANCH_TURNS + 1])
      expect(summaries.map(([turn]) => turn)).not.toContain(first);
    expect(providers.requests().flatMap(({ scriptError }) => scriptError ?? [])).toEqual([]);
    const sizes = providers.requests().map(({ asked: request }) => textSent(request).length / 4);
    expect(Math.max(...sizes)).toBeLessThan(WINDOW);
  });

  it("continues with cut texts if its summaries fail", { timeout: 12 * TURN_MS }, async () => {
    const session = await start(["failing"]);
    await completed(session, 1);
    for (let turn = 2; turn <= 8; turn += 1) {
      await client.ask(session, questionOf(turn));
      const { history } = await completed(session, turn);
      if (turn === 8) expect(history?.cut).toMatchObject({ code: expect.any(String) });
    }
    const { asked: request } = presentationOf(questionOf(8)) ?? {};
    expect(request && textSent(request)).toContain("characters left out …]");
  });

  it("is summarised at once if the user asks for it", { timeout: 6 * TURN_MS }, async () => {
    const session = await start(["long"]);
    await completed(session, 1);
    const compact = await client.compact(session);
    const { kind, summary, answer } = await completed(session, compact);
    expect({ kind, same: summary === answer }).toEqual({ kind: "compact", same: true });
    expect(summary).toContain("q1q");
    expect((await client.status(session)).head).toBe(1);
    const turn = await client.ask(session, "And q7q?");
    const { parent_turn, history } = await completed(session, turn);
    expect(parent_turn).toBe(1);
    expect(history).toMatchObject({ summary_through: 1, written_by: null });
  });

  async function restart(): Promise<void> {
    await service.kill();
    await service.start();
  }
});
