import { setTimeout as sleep } from "node:timers/promises";
import { QueueSchema, QueuedTurnSchema } from "../../../src/protocol/api/queue";
import { TurnStartSchema } from "../../../src/protocol/api/run";
import {
  cancelPath,
  queuedPath,
  queuePath,
  resumeQueuePath,
  turnsPath,
} from "../../../src/protocol/paths";
import type { PatientClient, Reply } from "../patient-client";
import { BRIEFLY } from "./models";

/**
 * A question that a user has sent to a busy session. `id`: its id in the queue; `null` if the reply
 * was lost and the question had started its turn before it was sent again.
 */
export type QueuedQuestion = { id: string | null; question: string };
type WaitingQuestion = { id: string; question: string };

/**
 * The questions that a user has sent to a busy session. The service must do the same with them,
 * at every place of a kill.
 */
export type QueueUse = {
  /** The questions that start turns, in this order, and how their turns end. */
  starts: readonly (QueuedQuestion & { ends: "completed" | "cancelled" })[];
  /** The questions that were removed and start nothing. */
  removed: readonly QueuedQuestion[];
  /** Times between which the queue was held, Unix ms. */
  held: { from: number; until: number };
};

/**
 * The queue after all turns. `waiting`: the ids of requests that still wait. `turns`: for each
 * request of the user, the turn that the service names; `null` if it does not know the request.
 */
export type QueueEnd = {
  waiting: readonly string[];
  isHeld: boolean;
  turns: ReadonlyMap<string, number | null>;
};

type Options = {
  client: Pick<PatientClient, "ask">;
  session: string;
  /** Completes a question, so that only this run's questions contain it. */
  questionOf: (text: string) => string;
  /** Idempotency keys of the user's requests begin with it. */
  mark: string;
  /** Waits until this number of turns has started. */
  turnsStarted: (count: number) => Promise<void>;
  /** Called with the reply to the cancel. */
  onCancelled: (reply: string) => void;
};

/** Number of questions that wait until all others have run. */
const WAITING = 2;
/** Number of turns with this user: the first, one that is interrupted, and the interrupt. */
export const TURNS_OF_QUEUE = 1 + 1 + 1 + WAITING;
/** How long the user leaves the queue held. A wrong start would be in the log by then. */
const HELD_MS = 200;

/**
 * A user of a session whose first turn never ends by itself. The user queues questions and removes
 * one of them, cancels the turn, which holds the queue, resumes the queue, and interrupts the turn
 * that starts then. All others run afterwards. Retries have no further effect, so the result is the
 * same at each place of a kill.
 */
export class QueueUser {
  readonly #options: Options;
  #sentCount = 0;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Throws if the service refuses a request, or reports another queue than expected. */
  async act(): Promise<QueueUse> {
    const endless = await this.#queue("Take your time.");
    const waiting: WaitingQuestion[] = [];
    for (let nth = 1; nth <= WAITING; nth += 1)
      waiting.push(await this.#queue(`${BRIEFLY}, question ${nth}.`));
    const removed = await this.#queue("Never mind.");
    await this.#remove(removed);
    const held = await this.#cancelAndResume([endless, ...waiting]);
    await this.#options.turnsStarted(2);
    const interrupting = await this.#send(`${BRIEFLY}, at once.`, "interrupt");
    return {
      starts: [
        { ...endless, ends: "cancelled" },
        ...[interrupting, ...waiting].map((one) => ({ ...one, ends: "completed" as const })),
      ],
      removed: [removed],
      held,
    };
  }

  async #queue(text: string): Promise<WaitingQuestion> {
    const { id, question } = await this.#send(text, "queue");
    if (id === null) throw new Error(`"${text}" was not queued`);
    return { id, question };
  }

  async #send(text: string, on_busy: "queue" | "interrupt"): Promise<QueuedQuestion> {
    const { client, session, questionOf, mark } = this.#options;
    this.#sentCount += 1;
    const question = questionOf(text);
    const reply = await client.ask(turnsPath(session), {
      method: "POST",
      body: { question, on_busy },
      key: `${mark} queued ${this.#sentCount}`,
    });
    if (reply.status !== 202) throw refused(on_busy, reply);
    const start = TurnStartSchema.parse(JSON.parse(reply.body));
    return { id: "queued" in start ? start.queued.id : null, question };
  }

  /** The first reply may be lost. Then the request is no longer there when it is removed again. */
  async #remove({ id }: WaitingQuestion): Promise<void> {
    const { client, session } = this.#options;
    const reply = await client.ask(queuedPath(session, id), { method: "DELETE" });
    const isGone = reply.status === 404 && reply.tries > 1;
    if (reply.status !== 204 && !isGone) throw refused("the removal", reply);
  }

  async #cancelAndResume(expected: readonly WaitingQuestion[]): Promise<QueueUse["held"]> {
    const { client, session, onCancelled } = this.#options;
    const cancelled = await client.ask(cancelPath(session), { method: "POST", body: {} });
    onCancelled(cancelled.body);
    const reply = await client.ask(queuePath(session));
    const { held, data } = QueueSchema.parse(JSON.parse(reply.body));
    const isExpected = data.map(({ id }) => id).join() === expected.map(({ id }) => id).join();
    if (held?.code !== "cancelled" || !isExpected) throw refused("the held queue", reply);
    await sleep(HELD_MS);
    const until = Date.now();
    const resumed = await client.ask(resumeQueuePath(session), { method: "POST", body: {} });
    if (resumed.status !== 200) throw refused("the resume", resumed);
    return { from: cancelled.at, until };
  }
}

const refused = (what: string, { status, body }: Reply): Error =>
  new Error(`${what} was answered ${status}: ${body}`);

/** Reads the queue of a session, and the turns of these questions. */
export async function readQueueEnd(
  client: Pick<PatientClient, "ask">,
  session: string,
  { starts, removed }: QueueUse,
): Promise<QueueEnd> {
  const { held, data } = QueueSchema.parse(JSON.parse((await client.ask(queuePath(session))).body));
  const turns = new Map<string, number | null>();
  for (const { id } of [...starts, ...removed]) {
    if (id === null) continue;
    const { status, body } = await client.ask(queuedPath(session, id));
    turns.set(id, status === 404 ? null : QueuedTurnSchema.parse(JSON.parse(body)).turn);
  }
  return { waiting: data.map(({ id }) => id), isHeld: held !== null, turns };
}
