import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { countOf, rotated } from "../counts";
import { ServiceProcess } from "../../simulated/service/service-process";
import type { Format } from "../../simulated/providers/dialect";
import type { Script } from "../../simulated/providers/reply";
import { worksAtLength } from "../../simulated/providers/long-work";
import { answersThenVotes, inOrder } from "../../simulated/providers/scripts";
import { type SimulatedProviders, startSimulatedProviders } from "../../simulated/providers/server";
import { toSituation } from "../../simulated/providers/situation";
import type { WireEvent } from "../../src/protocol/events";
import { sessionPath } from "../../src/protocol/paths";
import {
  arrivesOtherwise,
  type FaultServer,
  type Plan,
  startFaultServer,
} from "../../tests/contracts/faults/fault-server";
import type { FaultOutcome } from "../../tests/contracts/faults/fault-table";
import { mutate } from "../../tests/contracts/faults/mutate";
import {
  CHAT_MARKS,
  type EndMarks,
  GEMINI_MARKS,
  MESSAGES_MARKS,
  RESPONSES_MARKS,
} from "../../tests/contracts/faults/oracle";
import { type End, type FaultRow, isReply, KEY } from "../../tests/contracts/faults/fault-row";
import { FAULT_ROWS } from "../../tests/contracts/faults/wire-rows";
import { answerProblems, faultsNamed, isMutatedCharge, mutatedAnswerCheck } from "./fault-verdict";
import { backendOf, FORMATS, modelOf } from "../../tests/e2e/support/formats";
import { LOCAL } from "../../tests/e2e/support/local";
import { ServiceClient } from "../../tests/e2e/support/service-client";
import { judge, toEvent } from "../../tests/e2e/support/verdict";
import { Watcher } from "../../tests/e2e/support/watcher";

/**
 * Plays every provider fault in a whole run of a mixed team. One agent uses the format under test
 * and meets the fault. Two healthy agents use other formats. The team still decides, and the faulty
 * agent takes part again once its provider recovers.
 */

const BEST_ANSWER =
  "Water boils at 100 °C at sea level, and at about one degree less for every 300 m above it.";
/**
 * The answer of the faulty agent. It is shorter than the best answer. To enlarge a reply, a fault
 * replaces the character `°` with a very long text.
 */
const FAULTY_AGENT_ANSWER = "Water boils at 100 °C.";
/**
 * Number of mutated replies per format. Each has its own seed and its own run. Other tests send
 * thousands of mutated replies to the adapters alone.
 */
const MUTATION_COUNT = 20;
const MAX_PARALLEL_RUNS = 60;
const RUN_ENDS_WITHIN_MS = 150_000;

const MUTATED_ROWS: readonly FaultRow[] = Array.from({ length: MUTATION_COUNT }, (_, seed) => ({
  fault: "a reply mutated over a socket",
  calls: 1,
  make: () => ({
    kind: "stream" as const,
    change: (whole: Buffer) => mutatedChunks(seed, whole),
    ending: endingOf(seed),
  }),
  codes: ["*"],
  end: "goes on" as const,
}));
/** Whether this row is a mutated reply. Its failure codes are not known in advance. */
const isMutated = ({ codes }: FaultRow): boolean => codes.includes("*");
const framesIn = (whole: Buffer): string[] => whole.toString().split(/(?<=\n\n|\r\n\r\n)/);
/**
 * Returns the reply after the mutation with this seed. If the mutation changes neither the reply
 * nor its end, uses a later seed.
 */
function mutatedChunks(seed: number, whole: Buffer): readonly Buffer[] {
  const foreign = ['data: {"error":{"message":"no"}}\n\n'];
  const { chunks } = mutate({ frames: framesIn(whole), foreign }, seed);
  return arrivesOtherwise(whole, chunks) || endingOf(seed) === "reset"
    ? chunks
    : mutatedChunks(seed + MUTATION_COUNT, whole);
}
const endingOf = (seed: number) => (seed % 3 === 0 ? "reset" : "end");

const MARKS: Readonly<Record<Format, EndMarks>> = {
  "openai-chat": CHAT_MARKS,
  "openai-responses": RESPONSES_MARKS,
  anthropic: MESSAGES_MARKS,
  gemini: GEMINI_MARKS,
};

/** A fault in a format, with its own model, so that its effects can be attributed. */
type Case = { row: FaultRow; format: Format; model: string; id: number };
/** `FAULT="SSE: an empty" npx vitest run …` plays only these faults. */
const FAULT_FILTER = process.env["FAULT"] ?? "";
const CASES: readonly Case[] = rotated(
  faultsNamed([...FAULT_ROWS, ...MUTATED_ROWS], FAULT_FILTER),
  countOf("wire_faults"),
)
  .flatMap((row) => FORMATS.map((format) => ({ row, format })))
  .map(({ row, format }, id) => ({ row, format, id, model: modelOf(format, `fault-${id}`) }));

const healthyScript = answersThenVotes({ answer: BEST_ANSWER, presentation: BEST_ANSWER });
const recoveringScript = answersThenVotes({
  answer: FAULTY_AGENT_ANSWER,
  presentation: BEST_ANSWER,
});
const longWorkScript = worksAtLength({ steps: 6, size: 4_000, answer: FAULTY_AGENT_ANSWER });

let service: ServiceProcess;
let providers: SimulatedProviders;
let faults: FaultServer;
let client: ServiceClient;

/** Number of faulty replies by model. */
const faultyReplies = new Map<string, number>();

/** The bytes of a mutated reply after the mutation, by model. */
const mutatedBytes = new Map<string, Buffer>();

/**
 * The script of a simulated model. Faulty replies of the model are part of this script. The fault
 * server injects the faults of the bytes instead, see `planOf`.
 */
function scriptOf({ row, format, model }: Case): Script {
  const faultOrReply = row.make(format);
  if (!isReply(faultOrReply)) return row.works ? longWorkScript : recoveringScript;
  const faultyReply = () => {
    faultyReplies.set(model, (faultyReplies.get(model) ?? 0) + 1);
    return faultOrReply;
  };
  return row.calls === 1 ? inOrder(faultyReply, recoveringScript) : faultyReply;
}

/** The plan of the fault server for a model. `undefined` if its bytes have no fault. */
function planOf(model: string): Plan | undefined {
  const testCase = CASES.find((candidate) => candidate.model === model);
  const faultOrReply = testCase?.row.make(testCase.format);
  if (!testCase || !faultOrReply || isReply(faultOrReply)) return undefined;
  const { row } = testCase;
  const fault =
    faultOrReply.kind === "stream" && isMutated(row)
      ? { ...faultOrReply, change: recordMutatedBytes(model, faultOrReply.change) }
      : faultOrReply;
  return { fault, calls: row.calls, after: row.after ?? 0 };
}

/** Wraps a mutation so that it stores the mutated bytes of this model's reply. */
const recordMutatedBytes =
  (model: string, change: (whole: Buffer) => readonly Buffer[]) =>
  (whole: Buffer): readonly Buffer[] => {
    const chunks = change(whole);
    mutatedBytes.set(model, Buffer.concat(chunks));
    return chunks;
  };

beforeAll(async () => {
  const healthy = FORMATS.map((format) => [modelOf(format, "healthy"), healthyScript] as const);
  const models = Object.fromEntries([
    ...healthy,
    ...CASES.map((testCase) => [testCase.model, scriptOf(testCase)] as const),
  ]);
  providers = await startSimulatedProviders({ models });
  faults = await startFaultServer(providers.url, planOf);
  service = await ServiceProcess.prepare({
    ...LOCAL,
    ALLOWED_ORIGINS: `${LOCAL.ALLOWED_ORIGINS},https://127.0.0.1:*,${UNKNOWN_HOST}`,
  });
  await service.start();
  client = new ServiceClient(service.url);
});
afterAll(async () => {
  await service?.stop();
  await faults?.close();
  await providers?.close();
});

const UNKNOWN_HOST = "http://no-such-host.invalid";
const NO_LISTENER = "http://127.0.0.1:9";

/** Faults of the connection: no listener, an unknown host name, or another protocol. */
const UNREACHABLE = [
  { fault: "connection refused", origin: () => NO_LISTENER, code: "cannot_reach" },
  { fault: "DNS failure", origin: () => UNKNOWN_HOST, code: "cannot_reach" },
  {
    fault: "TLS failure",
    origin: () => faults.origin.replace("http:", "https:"),
    code: "connection_failed",
  },
];

type TeamRun = { log: WireEvent[]; problems: string[] };

type AgentUnderTest = {
  format: Format;
  model: string;
  /** Origin of the agent's provider. */
  origin: string;
  /** Whether the agent has a folder for files. */
  works?: boolean | undefined;
};

/** Returns the agent under test between two healthy agents. Each agent has its own format. */
function teamAround({ format, model, origin, works = false }: AgentUnderTest) {
  const otherFormats = FORMATS.filter((other) => other !== format);
  const healthyAgent = (index: number) => {
    // The length of the model's name varies the formats of the healthy agents between cases.
    const healthyFormat = otherFormats[(index + model.length) % otherFormats.length] ?? format;
    return {
      id: `well-${index}`,
      model: modelOf(healthyFormat, "healthy"),
      backend: backendOf(healthyFormat, providers),
    };
  };
  const path = new URL(providers.baseUrls[format]).pathname.replace(/\/$/, "");
  const faultyAgent = {
    id: "faulty",
    model,
    backend: {
      ...backendOf(format, providers),
      base_url: `${origin}${path}`,
      api_key: KEY,
      ...(works && { cwd: "work" }),
    },
  };
  return [healthyAgent(0), faultyAgent, healthyAgent(1)];
}

/** Runs the team around this agent. Returns the team's log and all problems. */
async function runTeam({
  question,
  ...agent
}: AgentUnderTest & { question: string }): Promise<TeamRun> {
  // Some faults last until the time of the first round is up. Their question contains their name.
  const roundSeconds = /time is up/.test(question) ? 20 : 600;
  const config = {
    timeout_settings: {
      initial_round_timeout_seconds: roundSeconds,
      round_timeout_grace_seconds: 0,
    },
  };
  const { session_id: id } = await client.start({
    baseUrl: providers.baseUrl,
    agents: teamAround(agent),
    question,
    config,
  });
  const turn = await client.ended(id, RUN_ENDS_WITHIN_MS);
  const watcher = new Watcher(`${service.url}${sessionPath(id)}/events`);
  await watcher.ended;
  const requests = providers
    .requests()
    .filter(({ asked }) => toSituation(asked).question === question);
  const log = watcher.frames.map(toEvent);
  const isCompleted =
    turn.status === "completed" &&
    turn.finish_reason === "consensus" &&
    turn.answer === BEST_ANSWER;
  return {
    log,
    problems: [
      ...judge({ frames: watcher.frames, status: await client.status(id), requests }),
      ...(isCompleted ? [] : [`the run ended with ${JSON.stringify(turn)}`]),
      ...(watcher.bytes.includes(KEY) ? ["the key is in the log"] : []),
    ],
  };
}

type AgentOutcome = { end: End; codes: string[] };

/** Returns how the faulty agent ended, and the codes of its failed calls and rounds. */
function agentOutcomeOf(log: readonly WireEvent[]): AgentOutcome {
  const hasFailed = log.some((event) => event.type === "agent.failed" && event.agent === "faulty");
  const codes = log.flatMap((event) =>
    (event.type === "call.failed" || event.type === "round.failed") && event.agent === "faulty"
      ? [event.code]
      : [],
  );
  return { end: hasFailed ? "fails" : "goes on", codes: [...new Set(codes)] };
}

/**
 * Returns a check of the faulty agent's answers. The agent may only submit complete answers of its
 * model, from the faulty reply or from a later reply.
 */
function answerCheckOf({ row, model, format }: Case): (content: string) => boolean {
  if (isMutated(row))
    return mutatedAnswerCheck({
      modelText: FAULTY_AGENT_ANSWER,
      bytes: mutatedBytes.get(model),
      marks: MARKS[format],
    });
  return (content) => row.end === "goes on" && content === (row.answer ?? FAULTY_AGENT_ANSWER);
}

/** Returns the differences between the run and the expected outcome. */
function problemsOf(testCase: Case, { log, problems }: TeamRun): string[] {
  const { row, model, format } = testCase;
  const { end, codes } = agentOutcomeOf(log);
  const unexpectedCodes = isMutated(row) ? [] : codes.filter((code) => !row.codes.includes(code));
  const callCount = faults.callsOf(model);
  const compactions = log.filter(
    (event) => event.type === "conversation.compacted" && event.agent === "faulty",
  ).length;
  const faultyCalls = faults.strikesOf(model) + (faultyReplies.get(model) ?? 0);
  const isFailureExpected =
    row.codes.length > 0 && !isMutated(row) && !row.unnoticed?.includes(format);
  return [
    ...problems.filter((problem) => !(isMutated(row) && isMutatedCharge(problem, model))),
    ...answerProblems(log, "faulty", answerCheckOf(testCase)),
    ...(end === row.end ? [] : [`the agent's end is "${end}"`]),
    ...unexpectedCodes.map((code) => `a call or round failed with ${code}`),
    ...(isFailureExpected && codes.length === 0 ? ["no call or round failed"] : []),
    ...(row.works && compactions !== 1
      ? [`its conversation was compacted ${compactions} times`]
      : []),
    ...(faultyCalls === Math.min(row.calls, callCount - (row.after ?? 0)) && faultyCalls > 0
      ? []
      : [`${faultyCalls} of ${callCount} calls met the fault`]),
    ...(callCount <= (row.requests ?? callCount) ? [] : [`${callCount} requests were made`]),
  ].map((problem) => `${row.fault} (${format}): ${problem}`);
}

/** Does the work for every item. At most `maxParallel` items run at the same time. */
async function inParallel<Item, Result>(
  items: readonly Item[],
  maxParallel: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const queue = [...items];
  const worker = async () => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift())
      results.push(await work(item));
  };
  await Promise.all(Array.from({ length: maxParallel }, worker));
  return results;
}

const outcomeOf = ({ end, codes }: AgentOutcome, row?: FaultRow): string => {
  if (codes.length === 0) return end;
  return row && isMutated(row) ? `${end} after a retry` : `${end} after ${codes.join(", ")}`;
};

describe("in whole runs of mixed teams", () => {
  it(`none of ${CASES.length} faults affects other agents, and the faulty agent ends as expected`, {
    timeout: 280_000,
  }, async ({ task }) => {
    const outcomes: FaultOutcome[] = [];
    // The longest cases start first.
    const sorted = [...CASES].sort(
      (one, other) => Number(other.row.calls > 1) - Number(one.row.calls > 1),
    );
    const problems = await inParallel(sorted, MAX_PARALLEL_RUNS, async (testCase) => {
      const { row, format, model, id } = testCase;
      const question = `When does water boil, with ${row.fault} (${id})?`;
      const agent = { format, model, works: row.works, origin: faults.origin };
      const teamRun = await runTeam({ ...agent, question });
      const outcome = outcomeOf(agentOutcomeOf(teamRun.log), row);
      outcomes.push({ fault: row.fault, format, outcome, count: 1 });
      return problemsOf(testCase, teamRun);
    });
    task.meta.faults = outcomes;
    expect(problems.flat()).toEqual([]);
  });

  it("an unreachable provider affects only its own agent", { timeout: 280_000 }, async ({
    task,
  }) => {
    const cases = UNREACHABLE.flatMap((fault) => FORMATS.map((format) => ({ ...fault, format })));
    const runs = await inParallel(cases, cases.length, async ({ fault, origin, format, code }) => {
      const question = `When does water boil, with ${fault} in ${format}?`;
      const { log, problems } = await runTeam({
        format,
        model: modelOf(format, "healthy"),
        question,
        origin: origin(),
      });
      return { fault, format, code, problems, agentOutcome: agentOutcomeOf(log) };
    });
    task.meta.faults = runs.map(({ fault, format, agentOutcome }) => ({
      fault,
      format,
      outcome: outcomeOf(agentOutcome),
      count: 1,
    }));
    for (const { fault, problems, agentOutcome, code } of runs) {
      expect(problems).toEqual([]);
      expect(agentOutcome, fault).toEqual({ end: "fails", codes: [code] });
    }
  });
});
