import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { sessionPath, SessionStatusSchema } from "../../../src/protocol/api";
import { CancelledSchema, EventListSchema } from "../../../src/protocol/listings";
import { ServiceClient } from "../../../tests/process/support/service-client";
import { Watcher } from "../../../tests/process/support/watcher";
import { Chance } from "../../../tests/simulation/world/random";
import { PatientClient } from "../patient-client";
import { longestOrder, type Operation, type Told } from "./linear";
import type { World } from "./world";

const CLIENTS = 20;
const OPERATIONS_EACH = 4;
const PAUSE_MS = 160;
/** Every so many histories one in which somebody erases the session. */
const ERASED_EACH = 3;

const TurnSchema = z.object({ turn: z.int() });
const isGone = (status: number): boolean => status === 404;

/** 20 clients ask one session for turns, cancel, read and resume at random; at times one erases it. */
export async function history({ service, providers }: World, seed: number): Promise<string[]> {
  const chance = new Chance(seed);
  const agents = ["one", "two"].map((id) => ({ id, model: "quick" }));
  const { session_id: id } = await new ServiceClient(service.url).start({ baseUrl: providers.baseUrl, agents });
  const session = new Session(service.url, id);
  const clients = Array.from({ length: CLIENTS }, (_, nth) =>
    actAtRandom(session, new Chance(seed * 100 + nth), nth === 0 && chance.int(1, ERASED_EACH) === 1),
  );
  await Promise.all(clients);
  const reached = longestOrder(session.operations);
  const all = session.operations.length;
  const linear =
    reached === all
      ? []
      : [`no order of the ${all} operations explains more than ${reached} of them: ${JSON.stringify(session.operations)}`];
  return [...session.problems, ...linear].map((problem) => `history ${seed} of ${id}: ${problem}`);
}

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
  readonly #events = new Map<number, string>();
  readonly #client: PatientClient;
  readonly #path: string;

  constructor(
    readonly url: string,
    id: string,
  ) {
    this.#client = new PatientClient(url);
    this.#path = sessionPath(id);
  }

  ask = () =>
    this.#note(`${this.#path}/turns`, { method: "POST", body: { question: "And then?" } }, (status, said) =>
      status === 202 ? { type: "started", ...turnIn(said) } : status === 409 ? { type: "refused", ...turnIn(said) } : null,
    );

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
    for (const [nth, event] of data.entries()) this.#same(event.sequence_number, after + 1 + nth, JSON.stringify(event));
  }

  /** The stream from its beginning, left in the middle. */
  async resume(ms: number): Promise<void> {
    const watcher = new Watcher(`${this.url}${this.#path}/events`, { turns: 1_000 });
    await sleep(ms);
    watcher.leave();
    for (const [nth, frame] of watcher.frames.entries()) {
      const event = EventListSchema.shape.data.element.parse(JSON.parse(/^data: (.*)$/m.exec(frame.toString())?.[1] ?? ""));
      this.#same(event.sequence_number, nth + 1, JSON.stringify(event));
    }
  }

  #same(sequence: number, wanted: number, event: string): void {
    const known = this.#events.get(sequence) ?? event;
    this.#events.set(sequence, known);
    if (sequence !== wanted) this.problems.push(`I2: event ${sequence} came where ${wanted} was due`);
    if (known !== event)
      this.problems.push(`I1: event ${sequence} is ${event.slice(0, 200)} here and ${known.slice(0, 200)} there`);
  }

  async #note(
    path: string,
    ask: { method?: "POST" | "DELETE"; body?: unknown },
    toTold: (status: number, said: unknown) => Told | null,
  ): Promise<void> {
    const from = performance.now();
    const answered = await this.#client.once(path, ask);
    const to = performance.now();
    if (!answered) return void this.problems.push(`${path} was not answered`);
    const { status, body } = answered;
    const said: unknown = body === "" ? null : JSON.parse(body);
    const told: Told | null = isGone(status) ? { type: "gone" } : toTold(status, said);
    if (told) this.operations.push({ from, to, told });
    else this.problems.push(`${path} was answered ${status}: ${body.slice(0, 200)}`);
  }
}

const turnIn = (said: unknown): { turn: number } => ({ turn: TurnSchema.parse(said).turn });
