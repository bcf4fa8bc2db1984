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
import { answerProblems, faultsNamed, isMutatedCharge, mutatedAnswer } from "./fault-verdict";
import { backendOf, FORMATS, modelOf } from "../../tests/e2e/support/formats";
import { LOCAL } from "../../tests/e2e/support/local";
import { ServiceClient } from "../../tests/e2e/support/service-client";
import { judge, toEvent } from "../../tests/e2e/support/verdict";
import { Watcher } from "../../tests/e2e/support/watcher";

/**
 * Every provider fault in a whole run of a mixed team. One agent uses the format under test and
 * meets the fault; two healthy agents use other formats. The team still decides, and the faulty
 * agent takes part again once its provider recovers.
 */
const BEST =
  "Water boils at 100 °C at sea level, and at about one degree less for every 300 m above it.";
/** Shorter than the best answer, with one character that a fault can multiply. */
const FAULTY = "Water boils at 100 °C.";
/**
 * Real replies, mutated by seed, once per run. Thousands of mutations run against the adapters
 * alone.
 */
const SAMPLE = 20;
const PARALLEL = 60;
const RUN_WITHIN_MS = 150_000;

const MUTATED: readonly FaultRow[] = Array.from({ length: SAMPLE }, (_, seed) => ({
  fault: "a reply mutated over a socket",
  calls: 1,
  make: () => ({
    kind: "stream" as const,
    change: (whole: Buffer) => changedAs(seed, whole),
    ending: endingOf(seed),
  }),
  codes: ["*"],
  end: "goes on" as const,
}));
/** Only the reader of such a reply can classify it. */
const isMutated = ({ codes }: FaultRow): boolean => codes.includes("*");
const framesIn = (whole: Buffer): string[] => whole.toString().split(/(?<=\n\n|\r\n\r\n)/);
/**
 * The mutation of a reply by this seed. If it changes neither the reply nor its end, a later seed
 * is used.
 */
function changedAs(seed: number, whole: Buffer): readonly Buffer[] {
  const foreign = ['data: {"error":{"message":"no"}}\n\n'];
  const { chunks } = mutate({ frames: framesIn(whole), foreign }, seed);
  return arrivesOtherwise(whole, chunks) || endingOf(seed) === "reset"
    ? chunks
    : changedAs(seed + SAMPLE, whole);
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
const ONLY = process.env["FAULT"] ?? "";
const CASES: readonly Case[] = rotated(
  faultsNamed([...FAULT_ROWS, ...MUTATED], ONLY),
  countOf("wire_faults"),
)
  .flatMap((row) => FORMATS.map((format) => ({ row, format })))
  .map((one, id) => ({ ...one, id, model: modelOf(one.format, `fault-${id}`) }));

const good = answersThenVotes({ answer: BEST, presentation: BEST });
const recovering = answersThenVotes({ answer: FAULTY, presentation: BEST });
const working = worksAtLength({ steps: 6, size: 4_000, answer: FAULTY });

let service: ServiceProcess;
let providers: SimulatedProviders;
let faults: FaultServer;
let client: ServiceClient;

/** How often each model sent its faulty reply. */
const faultyReplies = new Map<string, number>();

/** The bytes of a mutated reply after the mutation, by model. */
const mutatedBytes = new Map<string, Buffer>();

/** The simulated model sends faulty replies; the fault server changes bytes. */
function scriptOf({ row, format, model }: Case): Script {
  const made = row.make(format);
  if (!isReply(made)) return row.works ? working : recovering;
  const wrong = () => {
    faultyReplies.set(model, (faultyReplies.get(model) ?? 0) + 1);
    return made;
  };
  return row.calls === 1 ? inOrder(wrong, recovering) : wrong;
}

function planOf(model: string): Plan | undefined {
  const found = CASES.find((one) => one.model === model);
  const made = found?.row.make(found.format);
  if (!found || !made || isReply(made)) return undefined;
  const fault =
    made.kind === "stream" && isMutated(found.row)
      ? { ...made, change: remembered(model, made.change) }
      : made;
  return { fault, calls: found.row.calls, after: found.row.after ?? 0 };
}

const remembered =
  (model: string, change: (whole: Buffer) => readonly Buffer[]) =>
  (whole: Buffer): readonly Buffer[] => {
    const chunks = change(whole);
    mutatedBytes.set(model, Buffer.concat(chunks));
    return chunks;
  };

beforeAll(async () => {
  const healthy = FORMATS.map((format) => [modelOf(format, "healthy"), good] as const);
  const models = Object.fromEntries([
    ...healthy,
    ...CASES.map((one) => [one.model, scriptOf(one)] as const),
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

/** Faults without a server: no listener, no name, or another protocol. */
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

type Seat = { format: Format; model: string; origin: string; works?: boolean | undefined };

/** One agent with the given backend between two healthy ones, each in its own format. */
function teamAround({ format, model, origin, works = false }: Seat) {
  const others = FORMATS.filter((one) => one !== format);
  const healthy = (index: number) => {
    const its = others[(index + model.length) % others.length] ?? format;
    return {
      id: `well-${index}`,
      model: modelOf(its, "healthy"),
      backend: backendOf(its, providers),
    };
  };
  const path = new URL(providers.baseUrls[format]).pathname.replace(/\/$/, "");
  const faulty = {
    id: "faulty",
    model,
    backend: {
      ...backendOf(format, providers),
      base_url: `${origin}${path}`,
      api_key: KEY,
      ...(works && { cwd: "work" }),
    },
  };
  return [healthy(0), faulty, healthy(1)];
}

/** A run of the team around this agent. */
async function runTeam({ question, ...seat }: Seat & { question: string }): Promise<TeamRun> {
  const seconds = /time is up/.test(question) ? 20 : 600;
  const config = {
    timeout_settings: { initial_round_timeout_seconds: seconds, round_timeout_grace_seconds: 0 },
  };
  const { session_id: id } = await client.start({
    baseUrl: providers.baseUrl,
    agents: teamAround(seat),
    question,
    config,
  });
  const turn = await client.ended(id, RUN_WITHIN_MS);
  const watcher = new Watcher(`${service.url}${sessionPath(id)}/events`);
  await watcher.ended;
  const requests = providers
    .requests()
    .filter(({ asked }) => toSituation(asked).question === question);
  const log = watcher.frames.map(toEvent);
  const completed =
    turn.status === "completed" && turn.finish_reason === "consensus" && turn.answer === BEST;
  return {
    log,
    problems: [
      ...judge({ frames: watcher.frames, status: await client.status(id), requests }),
      ...(completed ? [] : [`the run ended with ${JSON.stringify(turn)}`]),
      ...(watcher.bytes.includes(KEY) ? ["the key is in the log"] : []),
    ],
  };
}

type AgentOutcome = { end: End; codes: string[] };

/** The faulty agent's end, and the codes of its failed calls and rounds. */
function agentOutcomeOf(log: readonly WireEvent[]): AgentOutcome {
  const failed = log.some((event) => event.type === "agent.failed" && event.agent === "faulty");
  const codes = log.flatMap((event) =>
    (event.type === "call.failed" || event.type === "round.failed") && event.agent === "faulty"
      ? [event.code]
      : [],
  );
  return { end: failed ? "fails" : "goes on", codes: [...new Set(codes)] };
}

/**
 * The answers that the faulty agent may submit: complete answers of its model, from the faulty
 * reply or a later one.
 */
function wholeAnswers({ row, model, format }: Case): (content: string) => boolean {
  if (isMutated(row))
    return mutatedAnswer({ said: FAULTY, bytes: mutatedBytes.get(model), marks: MARKS[format] });
  return (content) => row.end === "goes on" && content === (row.answer ?? FAULTY);
}

/** Differences between the run and the expected outcome. */
function problemsOf(one: Case, { log, problems }: TeamRun): string[] {
  const { row, model, format } = one;
  const { end, codes } = agentOutcomeOf(log);
  const strange = isMutated(row) ? [] : codes.filter((code) => !row.codes.includes(code));
  const asked = faults.callsOf(model);
  const sums = log.filter(
    (event) => event.type === "conversation.compacted" && event.agent === "faulty",
  ).length;
  const strikes = faults.strikesOf(model) + (faultyReplies.get(model) ?? 0);
  const isFailureDue = row.codes.length > 0 && !isMutated(row) && !row.unnoticed?.includes(format);
  return [
    ...problems.filter((problem) => !(isMutated(row) && isMutatedCharge(problem, model))),
    ...answerProblems(log, "faulty", wholeAnswers(one)),
    ...(end === row.end ? [] : [`the agent's end is "${end}"`]),
    ...strange.map((code) => `a call or round failed with ${code}`),
    ...(isFailureDue && codes.length === 0 ? ["no call or round failed"] : []),
    ...(row.works && sums !== 1 ? [`its conversation was compacted ${sums} times`] : []),
    ...(strikes === Math.min(row.calls, asked - (row.after ?? 0)) && strikes > 0
      ? []
      : [`${strikes} of ${asked} calls met the fault`]),
    ...(asked <= (row.requests ?? asked) ? [] : [`${asked} requests were made`]),
  ].map((problem) => `${row.fault} (${format}): ${problem}`);
}

async function inParallel<Item, Result>(
  items: readonly Item[],
  most: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const left = [...items];
  const worker = async () => {
    for (let item = left.shift(); item !== undefined; item = left.shift())
      results.push(await work(item));
  };
  await Promise.all(Array.from({ length: most }, worker));
  return results;
}

const outcomeOf = ({ end, codes }: AgentOutcome, row?: FaultRow): string => {
  if (codes.length === 0) return end;
  return row && isMutated(row) ? `${end} after a retry` : `${end} after ${codes.join(", ")}`;
};

describe("in whole runs of mixed teams", () => {
  it(`each of ${CASES.length} faults leaves the other agents undisturbed, and the faulty agent recovers`, {
    timeout: 280_000,
  }, async ({ task }) => {
    const outcomes: FaultOutcome[] = [];
    // The longest cases start first.
    const sorted = [...CASES].sort(
      (one, other) => Number(other.row.calls > 1) - Number(one.row.calls > 1),
    );
    const found = await inParallel(sorted, PARALLEL, async (one) => {
      const question = `When does water boil, with ${one.row.fault} (${one.id})?`;
      const runs = await runTeam({ ...one, works: one.row.works, question, origin: faults.origin });
      outcomes.push({
        fault: one.row.fault,
        format: one.format,
        outcome: outcomeOf(agentOutcomeOf(runs.log), one.row),
        count: 1,
      });
      return problemsOf(one, runs);
    });
    task.meta.faults = outcomes;
    expect(found.flat()).toEqual([]);
  });

  it("an unreachable provider affects only its own agent", { timeout: 280_000 }, async ({
    task,
  }) => {
    const cases = UNREACHABLE.flatMap((one) => FORMATS.map((format) => ({ ...one, format })));
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
