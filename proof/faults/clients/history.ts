import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
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
const OPERATIONS_EACH = 4;
const PAUSE_MS = 160;
/** A client that resumes reads, leaves in the middle, and reads again. */
const VISITS = 2;
/** A client that is up to date receives nothing while no model writes. */
const QUIET_MS = 1_000;
/** One of so many histories has a client that erases the session. */
const ERASED_EACH = 3;

/** After the last operation, the last turn ends within this time (I13) and the log can be read. */
const OVER_WITHIN_MS = 60_000;
/** The model of all agents; `answer` is the text that it presents. */
const MODEL = "quick";
const { answer } = KINDS.again;

const TurnSchema = z.object({ turn: z.int() });
const isGone = (status: number): boolean => status === 404;

/** Plays histories one after the other. Returns problems in sentences. */
export async function histories(world: World, count: number): Promise<string[]> {
  const problems: string[] = [];
  const resumed = { fromIds: 0, events: 0 };
  for (let nth = 0; nth < count; nth += 1)
    problems.push(...(await history(world, world.seed + nth, resumed)));
  world.note(
    `clients resumed from an id ${resumed.fromIds} times and received ${resumed.events} events`,
  );
  return resumed.events > 0 ? problems : [...problems, "no client that resumed received an event"];
}

/** How often clients resumed from an id, and how many events they received then. */
type ResumeCounts = { fromIds: number; events: number };

/**
 * 20 clients ask one session for turns, cancel, read and resume at random; one may erase it. Then
 * the responses, the remaining log and the requests to providers are checked together. Returns
 * problems in sentences.
 */
async function history(
  { service, providers, evidence }: World,
  seed: number,
  resumed: ResumeCounts,
): Promise<string[]> {
  const chance = new Chance(seed);
  const agents = ["one", "two"].map((id) => ({ id, model: MODEL }));
  const [before, first] = [providers.requests().length, newMark()];
  const question = `When does water boil? ${first}`;
  const { session_id: id } = await new ServiceClient(service.url).start({
    baseUrl: providers.baseUrl,
    agents,
    question,
  });
  const session = new Session(service.url, { id, first, resumed });
  const requests = () => session.own(providers.requests().slice(before));
  const kept = `history-${seed}-`;
  evidence.addJson(`${kept}operations.json`, () => session.operations);
  evidence.addJson(`${kept}seen.json`, () => Object.fromEntries(session.seen.events));
  evidence.add(`${kept}log.sse`, () => Buffer.concat(session.log));
  evidence.addRequests(`${kept}requests.json`, requests);
  const clients = Array.from({ length: CLIENTS }, (_, nth) =>
    actAtRandom(
      session,
      new Chance(seed * 100 + nth),
      nth === 0 && chance.int(1, ERASED_EACH) === 1,
    ),
  );
  await Promise.all(clients);
  const problems = [
    ...session.problems,
    ...(await verdictOn(session, requests).catch((error: unknown) => [String(error)])),
  ];
  if (problems.length === 0) evidence.forget(kept);
  return problems.map((problem) => `history ${seed} of ${id}: ${problem}`);
}

async function verdictOn(session: Session, requests: () => RecordedRequest[]): Promise<string[]> {
  const left = session.isErased ? null : await session.atRest();
  await waitForClosedRequests({ requests });
  const { seen, operations, questions } = session;
  const given = [...seen.problems, ...(left === null ? [] : seen.differencesFrom(session.log))];
  return [
    ...given,
    ...judgeHistory({
      left,
      seen: seen.events,
      operations,
      questions,
      requests: requests(),
      answer,
    }),
  ];
}

const newMark = (): string => crypto.randomUUID();

async function actAtRandom(session: Session, chance: Chance, erases: boolean): Promise<void> {
  /** Numbers of the last events that this client received. */
  const ids: number[] = [];
  for (let nth = 0; nth < OPERATIONS_EACH; nth += 1) {
    await sleep(chance.int(0, PAUSE_MS));
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
        for (let visit = 1; visit <= VISITS; visit += 1) {
          ids.push(...(await session.resume(drawId(ids, chance), chance.int(5, 120))));
        }
        break;
    }
  }
  if (erases) await session.erase();
}

/**
 * The event id that a client resumes from: the newest, or an earlier one as if the rest had been
 * lost. `null`: from the beginning.
 */
function drawId(ids: readonly number[], chance: Chance): number | null {
  const newest = Math.max(...ids);
  if (ids.length === 0) return null;
  return chance.weighted({ newest: 3, earlier: 1 }) === "newest" ? newest : chance.int(1, newest);
}

/** One session as its clients know it together: all responses, and every event by its number. */
class Session {
  readonly operations: Operation[] = [];
  readonly problems: string[] = [];
  readonly questions: Question[];
  readonly seen = new ReceivedEvents();
  /** The whole log, frame by frame, once the session is at rest. */
  log: readonly Buffer[] = [];
  readonly #resumed: ResumeCounts;
  readonly #client: PatientClient;
  readonly #path: string;

  /** `first`: a text that only the first question contains. */
  constructor(
    readonly url: string,
    { id, first, resumed }: { id: string; first: string; resumed: ResumeCounts },
  ) {
    this.#resumed = resumed;
    this.#client = new PatientClient(url);
    this.#path = sessionPath(id);
    this.questions = [{ mark: first, turn: 1 }];
  }

  get isErased(): boolean {
    return this.operations.some(({ result }) => result.type === "erased");
  }

  async ask(): Promise<void> {
    const mark = newMark();
    const body = { question: `And then? ${mark}` };
    const result = await this.#note(
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
    this.#note(`${this.#path}/cancel`, { method: "POST", body: {} }, (_, reply) => {
      const { turn, status } = CancelledSchema.parse(reply);
      return { type: "cancelled", turn, status };
    });

  read = () =>
    this.#note(this.#path, {}, (_, reply) => {
      const { turns, meta } = SessionStatusSchema.parse(reply);
      return {
        type: "read",
        statuses: turns.map(({ status }) => status),
        sequence: meta.last_sequence,
      };
    });

  erase = () => this.#note(this.#path, { method: "DELETE" }, () => ({ type: "erased" }));

  /**
   * A page of events; must equal what other clients received. Returns the number of the last event,
   * if any.
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
      this.#resumed.fromIds += 1;
      this.#resumed.events += frames.length;
    }
    const last = this.seen.add(frames, from ?? 0);
    return frames.length > 0 ? [last] : [];
  }

  /** The requests that contain one of this session's questions. */
  own(requests: readonly RecordedRequest[]): RecordedRequest[] {
    return requests.filter(({ body }) => {
      const text = JSON.stringify(body);
      return this.questions.some(({ mark }) => text.includes(mark));
    });
  }

  /** The whole log and the status once no turn runs. Throws if a turn runs too long. */
  async atRest(): Promise<NonNullable<PlayedHistory["left"]>> {
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

  async #note(
    path: string,
    ask: { method?: "POST" | "DELETE"; body?: unknown },
    toResult: (status: number, reply: unknown) => OperationResult | null,
  ): Promise<OperationResult | null> {
    const from = now();
    const answered = await this.#client.once(path, ask);
    const to = now();
    if (!answered) {
      this.problems.push(`${path} was not answered`);
      return null;
    }
    const { status, body } = answered;
    const reply: unknown = body === "" ? null : JSON.parse(body);
    const result: OperationResult | null = isGone(status)
      ? { type: "gone" }
      : toResult(status, reply);
    if (result) this.operations.push({ from, to, result });
    else this.problems.push(`${path} was answered ${status}: ${body.slice(0, 200)}`);
    return result;
  }
}

/** Resolves when something arrived, when the stream ended, or after a quiet time. */
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
