import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ServiceProcess } from "../../simulated/service/service-process";
import type { Format } from "../../simulated/providers/dialect";
import type { RecordedRequest } from "../../simulated/providers/ledger";
import type { Reply, Script } from "../../simulated/providers/reply";
import { aliasOf, byStage, isShown, newAnswer, vote } from "../../simulated/providers/scripts";
import { type SimulatedProviders, startSimulatedProviders } from "../../simulated/providers/server";
import type { Situation } from "../../simulated/providers/situation";
import type { WireEvent } from "../../src/protocol/events";
import { sessionPath } from "../../src/protocol/paths";
import { backendOf, FORMATS, modelOf } from "./support/formats";
import { Gates } from "./support/gates";
import { LOCAL } from "./support/local";
import { ServiceClient } from "./support/service-client";
import { judge, toEvent } from "./support/verdict";
import { Watcher } from "./support/watcher";

/**
 * The same coordination with models of every wire format. The actions and the log must not depend
 * on the format. Each reply waits for certain events, so the order does not depend on the machine.
 */

const SWIFT = "Water boils at 100 °C.";
const STEADY = "At sea level water boils at 100 °C; in the mountains at less.";
const SLOW = "It depends on the pressure of the air, thus on the height of the place.";
const IMPROVED =
  "Water boils at 100 °C at sea level and at about one degree less for each 300 m of height, since the air presses less.";
const FINAL =
  "The kettle boils at 100 °C at sea level, and one degree less for every 300 m above it. 🫖";

const gates = new Gates();
/** Waits until this number of calls has started. */
const calls = (count: number) => gates.until("call.started", count);
/** Waits until this number of votes was cast. */
const votes = (count: number) => gates.until("vote.cast", count);
const voteFor = (text: string, situation: Situation): Reply => ({
  reasoning: "Which of them says most?",
  ...vote(situation, {
    voteFor: (seen) => aliasOf(text, seen),
    reason: "It is right and says why.",
  }),
});

type Role = "swift" | "steady" | "slow";
const ROLES: readonly Role[] = ["swift", "steady", "slow"];

const SCRIPTS: Readonly<Record<Role, Script>> = {
  /** Votes first. A new answer voids its vote, and it votes again in the same conversation. */
  swift: byStage({
    answering: () => newAnswer(SWIFT),
    deciding: async (situation) => {
      if (isShown(IMPROVED, situation)) await calls(9);
      else await calls(6);
      return voteFor(isShown(IMPROVED, situation) ? IMPROVED : SWIFT, situation);
    },
    presenting: () => ({ text: FINAL }),
  }),
  /** Improves its answer, then replies without a decision, gets a reminder, and votes. */
  steady: byStage({
    answering: () =>
      gates
        .until("answer.submitted", 1)
        .then(() => ({ reasoning: "Sea level?", ...newAnswer(STEADY) })),
    deciding: async (situation) => {
      if (!isShown(IMPROVED, situation))
        return votes(1).then(() => ({ text: "Let me improve this.", ...newAnswer(IMPROVED) }));
      if (situation.callIndex === 0)
        return votes(2).then(() => ({ text: "Both have their merits." }));
      return calls(10).then(() => voteFor(IMPROVED, situation));
    },
    presenting: () => ({ reasoning: "For a kettle, then.", text: FINAL }),
  }),
  /** Votes before it has seen the improved answer, so its vote is stale. Then votes again. */
  slow: byStage({
    answering: () => gates.until("answer.submitted", 2).then(() => newAnswer(SLOW)),
    deciding: async (situation) => {
      if (isShown(IMPROVED, situation)) await votes(3);
      else await calls(8);
      return voteFor(isShown(IMPROVED, situation) ? IMPROVED : SLOW, situation);
    },
    presenting: () => ({ text: FINAL }),
  }),
};

let service: ServiceProcess;
let providers: SimulatedProviders;

beforeAll(async () => {
  const models = FORMATS.flatMap((format) =>
    ROLES.map((role) => [modelOf(format, role), SCRIPTS[role]] as const),
  );
  providers = await startSimulatedProviders({ models: Object.fromEntries(models) });
  service = await ServiceProcess.prepare(LOCAL);
  await service.start();
});
afterAll(async () => {
  await service?.stop();
  await providers?.close();
});

type Team = Readonly<Record<Role, Format>>;
/** A team whose agents all use this format. */
const allOf = (format: Format): Team => ({ swift: format, steady: format, slow: format });

const TEAMS: readonly { name: string; team: Team }[] = [
  ...FORMATS.map((format) => ({ name: `three agents with ${format}`, team: allOf(format) })),
  {
    name: "agents of three vendors",
    team: { swift: "openai-responses", steady: "anthropic", slow: "gemini" },
  },
  {
    name: "other formats for the same agents",
    team: { swift: "gemini", steady: "openai-chat", slow: "anthropic" },
  },
];

type TeamRun = { log: WireEvent[]; problems: string[]; requests: readonly RecordedRequest[] };

/** Runs the coordination with this team. */
async function play(team: Team): Promise<TeamRun> {
  const client = new ServiceClient(service.url);
  const before = providers.requests().length;
  const agents = ROLES.map((role) => ({
    id: role,
    model: modelOf(team[role], role),
    backend: backendOf(team[role], providers),
  }));
  // An agent with an answer waits for the answers of all others. Otherwise it would wait only for a
  // certain time.
  const config = { orchestrator: { defer_voting_until_all_answered: true } };
  gates.watcher = null;
  const { session_id: id } = await client.start({ baseUrl: providers.baseUrl, agents, config });
  const watcher = new Watcher(`${service.url}${sessionPath(id)}/events`);
  gates.watcher = watcher;
  await watcher.ended;
  const requests = providers.requests().slice(before);
  const problems = judge({ frames: watcher.frames, status: await client.status(id), requests });
  return { log: watcher.frames.map(toEvent), problems, requests };
}

/**
 * Fields that may differ, because they depend on time, chance, the vendor or the size of the
 * chunks. All other fields must be equal.
 */
const VARIABLE_FIELDS = new Set(
  `at session_id sequence_number call tool_call usage cost_usd provider model max_output_tokens reserved forced deadline_at aliases
   context_window price forces_tools`.split(/\s+/),
);
/** Events whose number depends on the size of the chunks. */
const CHUNK_EVENTS: ReadonlySet<string> = new Set(["stream.delta", "usage.updated"]);

/** The events and fields of a log that must be equal. */
const comparablePart = (log: readonly WireEvent[]): unknown[] =>
  log
    .filter(({ type }) => !CHUNK_EVENTS.has(type))
    .map((event) =>
      JSON.parse(JSON.stringify(event), (key, value) => {
        if (VARIABLE_FIELDS.has(key)) return undefined;
        return key === "labels" && Array.isArray(value) ? value.toSorted() : value; // random order
      }),
    );

describe("a coordination has the same events in every wire format", () => {
  const played = new Map<string, TeamRun>();

  it.each(TEAMS)("$name", { timeout: 60_000 }, async ({ name, team }) => {
    const run = await play(team);
    played.set(name, run);
    expect(
      run.requests.flatMap(({ refusal, scriptError }) => refusal ?? scriptError ?? []),
    ).toEqual([]);
    expect(run.problems).toEqual([]);
    expect(new Set(run.requests.map(({ format }) => format))).toEqual(new Set(Object.values(team)));
    expect(comparablePart(run.log)).toEqual(
      comparablePart(played.get(TEAMS[0]?.name ?? "")?.log ?? []),
    );
  });

  it("and its log has the events for void votes, new answers, stale votes and the presentation", () => {
    const log = played.get(TEAMS[0]?.name ?? "")?.log ?? [];
    const types = new Set(log.map(({ type }) => type));
    for (const type of [
      "votes.cleared",
      "answers.injected",
      "vote.stale",
      "presentation.completed",
      "turn.completed",
    ] as const)
      expect(types).toContain(type);
    expect(log.filter(({ type }) => type === "call.started")).toHaveLength(11);
  });
});
