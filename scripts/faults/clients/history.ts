import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { sessionPath, SessionStatusSchema } from "../../../src/protocol/api";
import type { WireEvent } from "../../../src/protocol/events";
import { CancelledSchema, EventListSchema } from "../../../src/protocol/listings";
import { ServiceClient } from "../../../tests/process/support/service-client";
import { toEvent } from "../../../tests/process/support/verdict";
import { Watcher } from "../../../tests/process/support/watcher";
import { Chance } from "../../../tests/simulation/world/random";
import { within } from "../../service/within";
import type { RecordedRequest } from "../../simulated-providers/ledger";
import { now } from "../../simulated-providers/play";
import { PatientClient } from "../patient-client";
import { letGo } from "../runs/judge";
import { KINDS } from "../runs/kinds";
import { judgeHistory, type Played, type Question } from "./judge-history";
import type { Operation, Told } from "./linear";
import type { World } from "./world";

const CLIENTS = 20;
const OPERATIONS_EACH = 4;
const PAUSE_MS = 160;
/** Every so many histories one in which somebody erases the session. */
const ERASED_EACH = 3;

/** Once nobody asks for anything more, its last turn is over within this (I13), and its log read again. */
const OVER_WITHIN_MS = 60_000;
/** Of all its agents; and what that presents. */
const MODEL = "quick";
const { answer } = KINDS.again;

const TurnSchema = z.object({ turn: z.int() });
const isGone = (status: number): boolean => status === 404;

/**
 * 20 clients ask one session for turns, cancel, read and resume at random; at times one erases it. When all are done, what they
 * were told, what is left of it and what reached the providers are looked at together. Gives what was wrong, in sentences.
 */
export async function history({ service, providers }: World, seed: number): Promise<string[]> {
  const chance = new Chance(seed);
  const agents = ["one", "two"].map((id) => ({ id, model: MODEL }));
  const [before, first] = [providers.requests().length, newMark()];
  const question = `When does water boil? ${first}`;
  const { session_id: id } = await new ServiceClient(service.url).start({ baseUrl: providers.baseUrl, agents, question });
  const session = new Session(service.url, { id, first });
  const clients = Array.from({ length: CLIENTS }, (_, nth) =>
    actAtRandom(session, new Chance(seed * 100 + nth), nth === 0 && chance.int(1, ERASED_EACH) === 1),
  );
  await Promise.all(clients);
  const requests = () => session.own(providers.requests().slice(before));
  const problems = await verdictOn(session, requests).catch((error: unknown) => [String(error)]);
  return [...session.problems, ...problems].map((problem) => `history ${seed} of ${id}: ${problem}`);
}

async function verdictOn(session: Session, requests: () => RecordedRequest[]): Promise<string[]> {
  const left = session.isErased ? null : await session.atRest();
  await letGo({ requests });
  const { seen, operations, questions } = session;
  return judgeHistory({ left, seen, operations, questions, requests: requests(), answer });
}

const newMark = (): string => crypto.randomUUID();

async function actAtRandom(session: Session, chance: Chance, erases: boolean): Promise<void> {
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
        await session.page(chance.int(0, 40));
        break;
      case "resume":
        await session.resume(chance.int(5, 120));
        break;
    }
  }
  if (erases) await session.erase();
}

/** One session as its clients know it together: what they were told, and every event by its number. */
class Session {
  readonly operations: Operation[] = [];
  readonly problems: string[] = [];
  readonly questions: Question[];
  readonly seen = new Map<number, WireEvent>();
  readonly #client: PatientClient;
  readonly #path: string;

  /** `first`: what is in its first question only. */
  constructor(
    readonly url: string,
    { id, first }: { id: string; first: string },
  ) {
    this.#client = new PatientClient(url);
    this.#path = sessionPath(id);
    this.questions = [{ mark: first, turn: 1 }];
  }

  get isErased(): boolean {
    return this.operations.some(({ told }) => told.type === "erased");
  }

  async ask(): Promise<void> {
    const mark = newMark();
    const body = { question: `And then? ${mark}` };
    const told = await this.#note(`${this.#path}/turns`, { method: "POST", body }, (status, said) =>
      status === 202 ? { type: "started", ...turnIn(said) } : status === 409 ? { type: "refused", ...turnIn(said) } : null,
    );
    this.questions.push({ mark, turn: told?.type === "started" ? told.turn : null });
  }

  cancel = () =>
    this.#note(`${this.#path}/cancel`, { method: "POST", body: {} }, (_, said) => {
      const { turn, status } = CancelledSchema.parse(said);
      return { type: "cancelled", turn, status };
    });

  read = () =>
    this.#note(this.#path, {}, (_, said) => {
      const { turns, meta } = SessionStatusSchema.parse(said);
      return { type: "read", statuses: turns.map(({ status }) => status), sequence: meta.last_sequence };
    });

  erase = () => this.#note(this.#path, { method: "DELETE" }, () => ({ type: "erased" }));

  /** A page of events: the same as anybody else was given. */
  async page(after: number): Promise<void> {
    const { status, body } = await this.#client.ask(`${this.#path}/events?limit=50&after=${after}`);
    if (status !== 200) return;
    const { data } = EventListSchema.parse(JSON.parse(body));
    for (const [nth, event] of data.entries()) this.#same(event, after + 1 + nth);
  }

  /** The stream from its beginning, left in the middle. */
  async resume(ms: number): Promise<void> {
    const watcher = new Watcher(`${this.url}${this.#path}/events`, { turns: 1_000 });
    await sleep(ms);
    watcher.leave();
    for (const [nth, frame] of watcher.frames.entries()) this.#same(toEvent(frame), nth + 1);
  }

  /** Those of these requests that ask one of its questions. */
  own(requests: readonly RecordedRequest[]): RecordedRequest[] {
    return requests.filter(({ body }) => {
      const text = JSON.stringify(body);
      return this.questions.some(({ mark }) => text.includes(mark));
    });
  }

  /** Its whole log and how it stands, once no turn runs any more. Throws if one runs too long. */
  async atRest(): Promise<NonNullable<Played["left"]>> {
    const giveUpAt = now() + OVER_WITHIN_MS;
    let status = await this.#status();
    while (status.turns.at(-1)?.status === "running") {
      if (now() > giveUpAt) throw new Error(`I13: it is not over after ${OVER_WITHIN_MS} ms`);
      await sleep(50);
      status = await this.#status();
    }
    const watcher = new Watcher(`${this.url}${this.#path}/events`, { turns: status.turns.length });
    await within(OVER_WITHIN_MS, "its whole log", watcher.ended);
    return { log: watcher.frames.map(toEvent), status };
  }

  async #status() {
    return SessionStatusSchema.parse(JSON.parse((await this.#client.ask(this.#path)).body));
  }

  #same(event: WireEvent, wanted: number): void {
    const { sequence_number: number } = event;
    const known = this.seen.get(number) ?? event;
    this.seen.set(number, known);
    const [here, there] = [JSON.stringify(event), JSON.stringify(known)];
    if (number !== wanted) this.problems.push(`I2: event ${number} came where ${wanted} was due`);
    if (here !== there) this.problems.push(`I1: event ${number} is ${here.slice(0, 200)} here and ${there.slice(0, 200)} there`);
  }

  async #note(
    path: string,
    ask: { method?: "POST" | "DELETE"; body?: unknown },
    toTold: (status: number, said: unknown) => Told | null,
  ): Promise<Told | null> {
    const from = now();
    const answered = await this.#client.once(path, ask);
    const to = now();
    if (!answered) {
      this.problems.push(`${path} was not answered`);
      return null;
    }
    const { status, body } = answered;
    const said: unknown = body === "" ? null : JSON.parse(body);
    const told: Told | null = isGone(status) ? { type: "gone" } : toTold(status, said);
    if (told) this.operations.push({ from, to, told });
    else this.problems.push(`${path} was answered ${status}: ${body.slice(0, 200)}`);
    return told;
  }
}

const turnIn = (said: unknown): { turn: number } => ({ turn: TurnSchema.parse(said).turn });
