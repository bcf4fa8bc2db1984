import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Format } from "../../simulated/providers/dialect";
import { ServiceProcess } from "../../simulated/service/service-process";
import type { RecordedRequest } from "../../simulated/providers/ledger";
import type { Script } from "../../simulated/providers/reply";
import {
  answersThenVotes,
  improvesOnce,
  neverDecides,
  paced,
  rejects,
} from "../../simulated/providers/scripts";
import { type SimulatedProviders, startSimulatedProviders } from "../../simulated/providers/server";
import { toSituation } from "../../simulated/providers/situation";
import { backendOf, FORMATS, modelOf } from "./support/formats";
import { LOCAL } from "./support/local";
import { ServiceClient } from "./support/service-client";
import { toEvent } from "./support/verdict";
import { Watcher } from "./support/watcher";
import { sessionPath } from "../../src/protocol/paths";

/**
 * Invariant I21, checked in the requests that providers receive. The names are so unusual that a
 * text cannot contain one by chance.
 */

const STORED = {
  OPENAI_API_KEY: "canary-stored-openai",
  ANTHROPIC_API_KEY: "canary-stored-anthropic",
  GEMINI_API_KEY: "canary-stored-gemini",
};
const ANIMALS = ["kestrel", "wombat", "gecko", "silent"] as const;
type Animal = (typeof ANIMALS)[number];

const idOf = (animal: Animal) => `canary-id-${animal}`;
const keyOf = (animal: Animal) => `canary-key-${animal}-0123456789`;
const modelNameOf = (format: Format, animal: Animal) => modelOf(format, `canary-model-${animal}`);

const IMPROVED =
  "Water boils at 100 °C at sea level, and at about one degree less for every 300 m above it.";
/** A rejection of the final answer. */
const REJECTION = { reason: "It says nothing of the pot.", instructions: "Mention the pot." };

/** This script with a delay; rejects its first final answer. */
const rejectsAfter = (ttftMs: number, script: Script): Script =>
  paced({ ttftMs, tokensPerSecond: 300 }, rejects(REJECTION, script));
/** Answers at once, but decides so slowly that its first vote is stale. */
const hesitant: Script = (situation) =>
  rejectsAfter(
    situation.stage === "deciding" && situation.callIndex === 0 ? 1_500 : 400,
    answersThenVotes({ answer: "It depends on the height." }),
  )(situation);

const SCRIPTS: Readonly<Record<Animal, Script>> = {
  kestrel: rejectsAfter(50, answersThenVotes({ answer: "At 100 °C." })),
  wombat: rejectsAfter(
    150,
    improvesOnce({ answer: "At sea level at 100 °C.", improved: IMPROVED }),
  ),
  gecko: hesitant,
  silent: paced({ ttftMs: 20, tokensPerSecond: 300 }, neverDecides("Hm.")),
};

/** Matches the name of each format's vendor and its models. `openai-chat` has no single vendor. */
const VENDORS: Readonly<Record<Format, RegExp | null>> = {
  "openai-chat": null,
  "openai-responses": /openai|gpt-/i,
  anthropic: /anthropic|claude/i,
  gemini: /gemini|google/i,
};

let service: ServiceProcess;
let providers: SimulatedProviders;

beforeAll(async () => {
  const models = FORMATS.flatMap((format) =>
    ANIMALS.map((animal) => [modelNameOf(format, animal), SCRIPTS[animal]] as const),
  );
  providers = await startSimulatedProviders({ models: Object.fromEntries(models) });
  service = await ServiceProcess.prepare({ ...LOCAL, ...STORED });
  await service.start();
});
afterAll(async () => {
  await service?.stop();
  await providers?.close();
});

type Team = Readonly<Record<Animal, Format>>;
/** A team whose agents all use this format. */
const allOf = (format: Format): Team => ({
  kestrel: format,
  wombat: format,
  gecko: format,
  silent: format,
});

const TEAMS: readonly { name: string; team: Team }[] = [
  ...FORMATS.map((format) => ({ name: format, team: allOf(format) })),
  {
    name: "several formats",
    team: {
      kestrel: "openai-responses",
      wombat: "anthropic",
      gecko: "gemini",
      silent: "openai-chat",
    },
  },
  {
    name: "several formats in another order",
    team: {
      kestrel: "gemini",
      wombat: "openai-chat",
      gecko: "openai-responses",
      silent: "anthropic",
    },
  },
];

describe("no request contains an agent's id, an answer's label, or a peer's model, vendor or key", () => {
  it.each(TEAMS)("in a team with $name", { timeout: 90_000 }, async ({ team }) => {
    const before = providers.requests().length;
    const types = await run(team);
    const requests = providers.requests().slice(before);
    expect(requests.flatMap(({ refusal }) => refusal ?? [])).toEqual([]);
    // Every kind of message was sent: improved answers, a stale vote, a reminder, a rejected final
    // answer.
    const situations = requests.map(({ asked }) => toSituation(asked));
    const stages = new Set(situations.map(({ stage }) => stage));
    for (const stage of ["personas", "first_answer", "deciding", "presentation", "judgement"])
      expect(stages).toContain(stage);
    expect(situations.some(({ updates }) => updates > 0)).toBe(true);
    for (const type of [
      "answers.injected",
      "vote.stale",
      "attempt.restarted",
      "presentation.completed",
    ])
      expect(types).toContain(type);
    expect(new Set(requests.map(({ model }) => model))).toEqual(
      new Set(ANIMALS.map((animal) => modelNameOf(team[animal], animal))),
    );
    expect(requests.flatMap((request) => canariesIn(request, team))).toEqual([]);
  });
});

it.each(FORMATS)(
  "D11 the operator's key is not sent to a `base_url` in a config without a key: %s",
  async (format) => {
    const before = providers.requests().length;
    const client = new ServiceClient(service.url);
    const backend = { ...backendOf(format, providers), api_key: undefined };
    const agents = [{ id: "keyless", model: modelNameOf(format, "kestrel"), backend }];
    const { session_id: id } = await client.start({ baseUrl: providers.baseUrl, agents });
    await client.ended(id, 30_000);
    const requests = providers.requests().slice(before);
    expect(requests.length).toBeGreaterThan(0);
    for (const { headers, path, body } of requests)
      expect(JSON.stringify([headers, path, body])).not.toContain("canary-stored");
  },
);

it("the stored files contain the agents' ids, but no key of a caller or of the operator", async () => {
  const files = await readdir(service.stateDir, { recursive: true, withFileTypes: true });
  const paths = files
    .filter((file) => file.isFile())
    .map(({ parentPath, name }) => path.join(parentPath, name));
  const texts = await Promise.all(
    paths.map(async (file) => ({ file, text: await readFile(file, "latin1") })),
  );
  const filesContaining = (canary: string) =>
    texts.filter(({ text }) => text.includes(canary)).map(({ file }) => file);
  expect(filesContaining("canary-id-").length).toBeGreaterThanOrEqual(TEAMS.length);
  expect([filesContaining("canary-key-"), filesContaining("canary-stored-")]).toEqual([[], []]);
});

/** Runs one turn to its end. Returns the types of all its events. */
async function run(team: Team): Promise<Set<string>> {
  const client = new ServiceClient(service.url);
  const coordination = { max_orchestration_restarts: 1, persona_generator: { enabled: true } };
  const agents = ANIMALS.map((animal) => ({
    id: idOf(animal),
    model: modelNameOf(team[animal], animal),
    backend: { ...backendOf(team[animal], providers), api_key: keyOf(animal) },
  }));
  const config = { orchestrator: { coordination } };
  const { session_id: id } = await client.start({ baseUrl: providers.baseUrl, agents, config });
  const watcher = new Watcher(`${service.url}${sessionPath(id)}/events`);
  await watcher.ended;
  expect(await client.turn(id)).toMatchObject({ status: "completed" });
  return new Set(watcher.frames.map((frame) => toEvent(frame).type));
}

/** Forbidden parts of a request, each with the text around it. */
function canariesIn(request: RecordedRequest, team: Team): string[] {
  const otherParts = withoutOwnModelAndKey(request);
  // The SDK sends its vendor's name as `user-agent`, and one SDK calls every Chat Completions
  // provider.
  const withoutUserAgent = otherParts.replaceAll(
    JSON.stringify(request.headers["user-agent"]),
    '""',
  );
  const peers = new Set(Object.values(team).filter((format) => format !== request.format));
  const vendors = [...peers].flatMap((format) => VENDORS[format] ?? []);
  return [
    ...around(/canary-|agent\d+\.(\d|final)/, otherParts),
    ...vendors.flatMap((vendor) => around(vendor, withoutUserAgent)),
  ].map((found) => `${request.format}: ${found}`);
}

function around(canary: RegExp, text: string): string[] {
  const found = new RegExp(`.{0,60}(${canary.source}).{0,60}`, canary.flags).exec(text);
  return found ? [found[0]] : [];
}

/**
 * A request as text, without its model's name and key at the only places where they are allowed.
 */
function withoutOwnModelAndKey({ body, headers, path, model, format }: RecordedRequest): string {
  const animal = ANIMALS.find((one) => model.endsWith(`-${one}`));
  if (!animal) throw new Error(`${model} is not a model of this test`);
  const header =
    format === "gemini"
      ? "x-goog-api-key"
      : format === "anthropic" && headers["x-api-key"]
        ? "x-api-key"
        : "authorization";
  const { [header]: key, ...otherHeaders } = headers;
  expect(key).toBe(header === "authorization" ? `Bearer ${keyOf(animal)}` : keyOf(animal));
  if (format === "gemini")
    return JSON.stringify([body, otherHeaders, path.replace(`/models/${model}:`, "/models/:")]);
  const { model: named, ...rest } = body;
  expect(named).toBe(model);
  return JSON.stringify([rest, otherHeaders, path]);
}
