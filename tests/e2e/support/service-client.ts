import { Client } from "../../../client/index";
import { within } from "../../../simulated/service/within";
import {
  type RunResponse,
  RunResponseSchema,
  SessionStatusSchema,
  TurnResponseSchema,
} from "../../../src/protocol/api";
import { EventListSchema } from "../../../src/protocol/api/listings";

const ANSWERS_WITHIN_MS = 60_000;

/**
 * A client that opens a new connection for each request, because a kill breaks open connections.
 */
export class ServiceClient {
  constructor(readonly url: string) {}

  /** Starts a run of these agents. */
  async start({
    baseUrl,
    agents,
    question = "When does water boil?",
    config = {},
    backend: sharedSettings = {},
    ...rest
  }: RunOptions): Promise<RunResponse> {
    const backend = {
      type: "chatcompletion",
      base_url: baseUrl,
      api_key: "simulated",
      ...sharedSettings,
    };
    const team = agents.map(({ id, model, backend: ownSettings = {} }) => ({
      id,
      backend: { ...backend, model, ...ownSettings },
    }));
    const json = { question, config: { agents: team, ...config }, ...rest };
    return RunResponseSchema.parse(await this.#json("/api/runs", { method: "POST", json }));
  }

  async status(session: string) {
    return SessionStatusSchema.parse(await this.#json(`/api/sessions/${session}`));
  }

  /** A turn of the session; the first if `number` is omitted. */
  async turn(session: string, number = 1) {
    return TurnResponseSchema.parse(await this.#json(`/api/sessions/${session}/turns/${number}`));
  }

  /** The first 1,000 events of the session. */
  async events(session: string) {
    return EventListSchema.parse(await this.#json(`/api/sessions/${session}/events?limit=1000`))
      .data;
  }

  /** Starts the next turn of the session with this question. `more`: other fields. Returns it. */
  async ask(session: string, question: string, more: object = {}): Promise<number> {
    const json = { question, ...more };
    const path = `/api/sessions/${session}/turns`;
    return RunResponseSchema.parse(await this.#json(path, { method: "POST", json })).turn;
  }

  /** Starts a turn that only summarises. Returns it. */
  async compact(session: string): Promise<number> {
    const path = `/api/sessions/${session}/compact`;
    return RunResponseSchema.parse(await this.#json(path, { method: "POST", json: {} })).turn;
  }

  async cancel(session: string): Promise<void> {
    await this.#json(`/api/sessions/${session}/cancel`, { method: "POST", json: {} });
  }

  /** Polls a turn until it has ended, and returns it. `number` omitted: the first turn. */
  async ended(session: string, withinMs: number, number = 1) {
    const giveUpAt = performance.now() + withinMs;
    for (;;) {
      const turn = await this.turn(session, number);
      if (turn.status !== "running") return turn;
      if (performance.now() > giveUpAt)
        throw new Error(`${session} still runs after ${withinMs} ms: ${JSON.stringify(turn)}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  #json(path: string, sent: JsonRequest = {}): Promise<unknown> {
    return within(ANSWERS_WITHIN_MS, `an answer of ${path}`, this.#send(path, sent));
  }

  async #send(path: string, { method = "GET", json }: JsonRequest): Promise<unknown> {
    const client = new Client({ server: this.url, headers: { connection: "close" } });
    const call = { method, path, ...(json === undefined ? {} : { json }) };
    const { status, bytes } = await client.receive(call);
    const text = new TextDecoder().decode(bytes);
    if (status < 200 || status > 299) throw new Error(`${path} answered ${status}: ${text}`);
    return JSON.parse(text);
  }
}

type JsonRequest = { method?: "GET" | "POST"; json?: unknown };

export type RunOptions = {
  /** `base_url` of all agents. */
  baseUrl: string;
  /** `backend`: settings of this agent only. */
  agents: readonly { id: string; model: string; backend?: Readonly<Record<string, unknown>> }[];
  question?: string;
  /** Settings of all agents. They replace the default, which is Chat Completions at `baseUrl`. */
  backend?: Record<string, unknown>;
  /** Other fields of the config. */
  config?: Record<string, unknown>;
  timeout_seconds?: number;
};
