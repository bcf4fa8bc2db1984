import { afterAll, beforeAll, expect, it } from "vitest";
import { ServiceProcess } from "../../scripts/service/service-process";
import type { RecordedRequest } from "../../scripts/simulated-providers/ledger";
import type { Script } from "../../scripts/simulated-providers/reply";
import { answersThenVotes, improvesOnce, neverDecides, paced, rejects } from "../../scripts/simulated-providers/scripts";
import { type SimulatedProviders, startSimulatedProviders } from "../../scripts/simulated-providers/server";
import { toSituation } from "../../scripts/simulated-providers/situation";
import { LOCAL } from "./support/local";
import { ServiceClient } from "./support/service-client";

/** I21: what really went over the wire, whatever the prompts meant to say. The names are such that no text holds them by chance. */
const AGENTS = ["kestrel", "wombat", "gecko", "silent"].map((animal) => ({
  id: `canary-id-${animal}`,
  model: `canary-model-${animal}`,
}));
const IMPROVED = "Water boils at 100 °C at sea level, and at about one degree less for every 300 m above it.";
const NO = { reason: "It says nothing of the pot.", instructions: "Mention the pot." };

const at = (ttftMs: number, script: Script): Script => paced({ ttftMs, tokensPerSecond: 300 }, rejects(NO, script));
const MODELS: Readonly<Record<string, Script>> = {
  "canary-model-kestrel": at(50, answersThenVotes({ answer: "At 100 °C." })),
  "canary-model-wombat": at(150, improvesOnce({ answer: "At sea level at 100 °C.", improved: IMPROVED })),
  "canary-model-gecko": at(400, answersThenVotes({ answer: "It depends on the height." })),
  "canary-model-silent": paced({ ttftMs: 20, tokensPerSecond: 300 }, neverDecides("Hm.")),
};

let service: ServiceProcess;
let providers: SimulatedProviders;

beforeAll(async () => {
  providers = await startSimulatedProviders({ models: MODELS });
  service = await ServiceProcess.prepare(LOCAL);
  await service.start();
});
afterAll(async () => {
  await service?.stop();
  await providers?.close();
});

it("no request holds an agent's id, an answer's label, or a model's name but its own in its place", async () => {
  const client = new ServiceClient(service.url);
  const coordination = { max_orchestration_restarts: 1, persona_generator: { enabled: true } };
  const config = { orchestrator: { coordination } };
  const { session_id: id } = await client.start({ baseUrl: providers.baseUrl, agents: AGENTS, config });
  const turn = await client.ended(id, 60_000);
  expect(turn).toMatchObject({ status: "completed" });
  const requests = providers.requests();
  // All there is to say was said: an answer was improved, somebody was reminded, a final text rejected, personas were written.
  const situations = requests.map(({ asked }) => toSituation(asked));
  const stages = new Set(situations.map(({ stage }) => stage));
  expect(stages).toEqual(new Set(["personas", "first_answer", "deciding", "presentation", "judgement"]));
  expect(situations.some(({ updates }) => updates > 0)).toBe(true);
  expect(new Set(requests.map(({ model }) => model))).toEqual(new Set(Object.keys(MODELS)));
  expect(requests.flatMap(canariesIn)).toEqual([]);
});

/** What a request should not hold, with its surroundings. */
function canariesIn({ body, headers, model }: RecordedRequest): string[] {
  const { model: named, ...rest } = body;
  expect(named).toBe(model);
  const sent = JSON.stringify([rest, headers]);
  return [...sent.matchAll(/.{0,60}(canary-|agent\d+\.(\d|final)).{0,60}/g)].map(([found]) => found);
}
