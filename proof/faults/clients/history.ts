import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { SessionStatusSchema } from "../../../src/protocol/api";
import type { WireEvent } from "../../../src/protocol/events";
import { CancelledSchema } from "../../../src/protocol/api/listings";
import { sessionPath } from "../../../src/protocol/paths";
import { ServiceClient } from "../../../tests/e2e/support/service-client";
import { toEvent } from "../../../tests/e2e/support/verdict";
import { Watcher } from "../../../tests/e2e/support/watcher";
import { Chance } from "../../../simulated/chance";
import { within } from "../../../simulated/service/within";
import type { RecordedRequest } from "../../../simulated/providers/ledger";
import { now } from "../../../simulated/providers/play";
import { PatientClient } from "../patient-client";
import { waitForClosedRequests } from "../runs/judge";
import { KINDS } from "../runs/kinds";
import { judgeHistory, type PlayedHistory, type Question } from "./judge-history";
import type { Operation, OperationResult } from "./linear";
import { ReceivedEvents, toFrame } from "./received-events";
import type { World } from "./world";

const CLIENTS = 20;
const OPERATIONS_PER_CLIENT = 4;
/** The longest pause before an operation. */
const MOST_PAUSE_MS = 160;
/**
 * A client that resumes connects so often: it reads, disconnects in the middle, and reads again.
 */
const CONNECTIONS_PER_RESUME = 2;
/**
 * A client that resumes waits so long for its first event. If it has all events, it receives
 * nothing while no model writes.
 */
const QUIET_MS = 1_000;
/** Number of histories of which, on average, one has a client that erases the session. */
const HISTORIES_PER_ERASE = 3;

/**
 * After the last operation, the last turn must end within this time (I13). After that, the whole
 * log must be readable within the same time.
 */
const OVER_WITHIN_MS = 60_000;
/** The model of all agents. `answer` is the text that this model presents. */
const MODEL = "quick";
const { answer } = KINDS.again;

const TurnSchema = z.object({ turn: z.int() });
const isNotFound = (status: number): boolean => status === 404;

/** Plays `count` histories one after the other. Returns problems in sentences. */
export async function playHistories(world: World, count: number): Promise<string[]> {
  const problems: string[] = [];
  const resumeCounts = { fromIds: 0, events: 0 };
  for (let nth = 0; nth < count; nth += 1)
    problems.push(...(await playHistory(world, world.seed + nth, resumeCounts)));
  world.note(
    `clients resumed from an id ${resumeCounts.fromIds} times and received ${resumeCounts.events} events`,
  );
  return resumeCounts.events > 0
    ? problems
    : [...problems, "no client that resumed received an event"];
}

/** How often clients resumed from an event id, and how many events they received then. */
type ResumeCounts = { fromIds: number; events: number };

/**
 * 20 clients of one session ask for turns, cancel, read and resume at random. One client may erase
 * the session. Then the responses, the log that is left and the requests to providers are checked
 * together. Returns problems in sentences.
 */
async function playHistory(
  { service, providers, evidence }: World,
  seed: number,
  resumeCounts: ResumeCounts,
): Promise<string[]> {
  const chance = new Chance(seed);
  const agents = ["one", "two"].map((id) => ({ id, model: MODEL }));
  const [before, firstMark] = [providers.requests().length, newMark()];
  const question = `When does water boil? ${firstMark}`;
  const { session_id: id } = await new ServiceClient(service.url).start({
    baseUrl: providers.baseUrl,
    agents,
    question,
  });
  const session = new Session(service.url, { id, firstMark, resumeCounts });
  const requests = () => session.ownRequests(providers.requests().slice(before));
  const filePrefix = `history-${seed}-`;
  evidence.addJson(`${filePrefix}operations.json`, () => session.operations);
  evidence.addJson(`${filePrefix}seen.json`, () => Object.fromEntries(session.seen.events));
  evidence.add(`${filePrefix}log.sse`, () => Buffer.concat(session.log));
  evidence.addRequests(`${filePrefix}requests.json`, requests);
  const clients = Array.from({ length: CLIENTS }, (_, nth) =>
    actAtRandom(
      session,
      new Chance(seed * 100 + nth),
      nth === 0 && chance.int(1, HISTORIES_PER_ERASE) === 1,
    ),
  );
  await Promise.all(clients);
  const problems = [
    ...session.problems,
    ...(await judgeSession(session, requests).catch((error: unknown) => [String(error)])),
  ];
  if (problems.length === 0) evidence.forget(filePrefix);
  return problems.map((problem) => `history ${seed} of ${id}: ${problem}`);
}

async function judgeSession(
  session: Session,
  requests: () => RecordedRequest[],
): Promise<string[]> {
  const final = session.isErased ? null : await session.waitUntilIdle();
  await waitForClosedRequests({ requests });
  const { seen, operations, questions } = session;
  const streamProblems = [
    ...seen.problems,
    ...(final === null ? [] : seen.differencesFrom(session.log)),
  ];
  return [
    ...streamProblems,
    ...judgeHistory({
      final,
      seen: seen.events,
      operations,
      questions,
      requests: requests(),
      answer,
    }),
  ];
}

/** A text that only one question contains, so that its requests can be found. */
const newMark = (): string => crypto.randomUUID();

async function actAtRandom(
  session: Session,
  chance: Chance,
  erasesSession: boolean,
): Promise<void> {
  /** For each read of this client, the number of the last event that it received. */
  const ids: number[] = [];
  for (let nth = 0; nth < OPERATIONS_PER_CLIENT; nth += 1) {
    await sleep(chance.int(0, MOST_PAUSE_MS));
    switch (chance.weighted({ ask: 3, cancel: 2, read: 3, page: 2, resume: 2 })) {
      case "ask":
        await session.ask();
        break;
      case "cancel":
        await session.cancel();
        break;
      case "read":
        await session.read();
        break;
      case "page":
        ids.push(...(await session.page(chance.int(0, 40))));
        break;
      case "resume":
        for (let visit = 1; visit <= CONNECTIONS_PER_RESUME; visit += 1) {
          ids.push(...(await session.resume(drawEventId(ids, chance), chance.int(5, 120))));
        }
        break;
    }
  }
  if (erasesSession) await session.erase();
}

/**
 * The event id that a client resumes from: its newest id, or an earlier one, as if the client had
 * lost the later events. `null`: from the beginning.
 */
function drawEventId(ids: readonly number[], chance: Chance): number | null {
  const newest = Math.max(...ids);
  if (ids.length === 0) return null;
  return chance.weighted({ newest: 3, earlier: 1 }) === "newest" ? newest : chance.int(1, newest);
}

/** One session from the view of all its clients: their responses, and every event by its number. */
class Session {
  readonly operations: Operation[] = [];
  readonly problems: string[] = [];
  readonly questions: Question[];
  readonly seen = new ReceivedEvents();
  /** The frames of the whole log, set once no turn runs. */
  log: readonly Buffer[] = [];
  readonly #resumeCounts: ResumeCounts;
  readonly #client: PatientClient;
  readonly #path: string;

  /** `firstMark`: a text that only the first question contains. */
  constructor(
    readonly url: string,
    { id, firstMark, resumeCounts }: { id: string; firstMark: string; resumeCounts: ResumeCounts },
  ) {
    this.#resumeCounts = resumeCounts;
    this.#client = new PatientClient(url);
    this.#path = sessionPath(id);
    this.questions = [{ mark: firstMark, turn: 1 }];
  }

  get isErased(): boolean {
    return this.operations.some(({ result }) => result.type === "erased");
  }

  async ask(): Promise<void> {
    const mark = newMark();
    const body = { question: `And then? ${mark}` };
    const result = await this.#recordOperation(
      `${this.#path}/turns`,
      { method: "POST", body },
      (status, reply) =>
        status === 202
          ? { type: "started", ...turnIn(reply) }
          : status === 409
            ? { type: "refused", ...turnIn(reply) }
            : null,
    );
    this.questions.push({ mark, turn: result?.type === "started" ? result.turn : null });
  }

  cancel = () =>
    this.#recordOperation(`${this.#path}/cancel`, { method: "POST", body: {} }, (_, reply) => {
      const { turn, status } = CancelledSchema.parse(reply);
      return { type: "cancelled", turn, status };
    });

  read = () =>
    this.#recordOperation(this.#path, {}, (_, reply) => {
      const { turns, meta } = SessionStatusSchema.parse(reply);
      return {
        type: "read",
        statuses: turns.map(({ status }) => status),
        sequence: meta.last_sequence,
      };
    });

  erase = () => this.#recordOperation(this.#path, { method: "DELETE" }, () => ({ type: "erased" }));

  /**
   * Reads a page of events. Each event must equal the event that other clients received. Returns
   * the number of the last event, if any.
   */
  async page(after: number): Promise<number[]> {
    const { status, body } = await this.#client.ask(`${this.#path}/events?limit=50&after=${after}`);
    if (status !== 200) return [];
    // Parsed without a schema: `ReceivedEvents` validates the events.
    const { data }: { data: WireEvent[] } = JSON.parse(body);
    const last = this.seen.add(data.map(toFrame), after);
    return last > after ? [last] : [];
  }

  /**
   * Reads the stream after an event, or from its beginning, for `ms`. Returns the number of the
   * last event, if any.
   */
  async resume(from: number | null, ms: number): Promise<number[]> {
    const watcher = new Watcher(`${this.url}${this.#path}/events`, {
      turns: 1_000,
      ...(from !== null && { after: from }),
    });
    await firstFrameOrQuiet(watcher);
    await sleep(ms);
    watcher.leave();
    const { frames } = watcher;
    if (from !== null) {
      this.#resumeCounts.fromIds += 1;
      this.#resumeCounts.events += frames.length;
    }
    const last = this.seen.add(frames, from ?? 0);
    return frames.length > 0 ? [last] : [];
  }

  /** The requests to providers that contain a question of this session. */
  ownRequests(requests: readonly RecordedRequest[]): RecordedRequest[] {
    return requests.filter(({ body }) => {
      const text = JSON.stringify(body);
      return this.questions.some(({ mark }) => text.includes(mark));
    });
  }

  /** Waits until no turn runs. Returns the whole log and the status. Throws after a time limit. */
  async waitUntilIdle(): Promise<NonNullable<PlayedHistory["final"]>> {
    const giveUpAt = now() + OVER_WITHIN_MS;
    let status = await this.#status();
    while (status.turns.at(-1)?.status === "running") {
      if (now() > giveUpAt) throw new Error(`I13: a turn still runs after ${OVER_WITHIN_MS} ms`);
      await sleep(50);
      status = await this.#status();
    }
    const watcher = new Watcher(`${this.url}${this.#path}/events`, { turns: status.turns.length });
    await within(OVER_WITHIN_MS, "its whole log", watcher.ended);
    this.log = watcher.frames;
    return { log: this.log.map(toEvent), status };
  }

  async #status() {
    return SessionStatusSchema.parse(JSON.parse((await this.#client.ask(this.#path)).body));
  }

  async #recordOperation(
    path: string,
    ask: { method?: "POST" | "DELETE"; body?: unknown },
    toResult: (status: number, reply: unknown) => OperationResult | null,
  ): Promise<OperationResult | null> {
    const from = now();
    const response = await this.#client.once(path, ask);
    const to = now();
    if (!response) {
      this.problems.push(`${path} was not answered`);
      return null;
    }
    const { status, body } = response;
    const reply: unknown = body === "" ? null : JSON.parse(body);
    const result: OperationResult | null = isNotFound(status)
      ? { type: "gone" }
      : toResult(status, reply);
    if (result) this.operations.push({ from, to, result });
    else this.problems.push(`${path} was answered ${status}: ${body.slice(0, 200)}`);
    return result;
  }
}

/** Resolves when the first frame arrives, when the stream ends, or after `QUIET_MS`. */
async function firstFrameOrQuiet(watcher: Watcher): Promise<void> {
  let isOver = false;
  const over = () => {
    isOver = true;
  };
  watcher.ended.then(over, over);
  const giveUpAt = now() + QUIET_MS;
  while (watcher.frames.length === 0 && !isOver && now() < giveUpAt) await sleep(5);
}

const turnIn = (reply: unknown): { turn: number } => ({ turn: TurnSchema.parse(reply).turn });
