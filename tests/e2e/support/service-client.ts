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

/** A plain client with a new connection per request: no connection outlives a killed service. */
export class ServiceClient {
  constructor(readonly url: string) {}

  /** A run of these agents at these providers. */
  async start({
    baseUrl,
    agents,
    question = "When does water boil?",
    config = {},
    backend: own = {},
    ...rest
  }: RunOptions): Promise<RunResponse> {
    const backend = { type: "chatcompletion", base_url: baseUrl, api_key: "simulated", ...own };
    const team = agents.map(({ id, model, backend: mine = {} }) => ({
      id,
      backend: { ...backend, model, ...mine },
    }));
    const json = { question, config: { agents: team, ...config }, ...rest };
    return RunResponseSchema.parse(await this.#json("/api/runs", { method: "POST", json }));
  }

  async status(session: string) {
    return SessionStatusSchema.parse(await this.#json(`/api/sessions/${session}`));
  }

  async turn(session: string) {
    return TurnResponseSchema.parse(await this.#json(`/api/sessions/${session}/turns/1`));
  }

  /** The first thousand of its events. */
  async events(session: string) {
    return EventListSchema.parse(await this.#json(`/api/sessions/${session}/events?limit=1000`))
      .data;
  }

  /** The session's next question. */
  async ask(session: string, question: string): Promise<void> {
    await this.#json(`/api/sessions/${session}/turns`, {
      method: "POST",
      json: { question },
    });
  }

  async cancel(session: string): Promise<void> {
    await this.#json(`/api/sessions/${session}/cancel`, { method: "POST", json: {} });
  }

  /** Polls the turn until it has ended. */
  async ended(session: string, withinMs: number) {
    const giveUpAt = performance.now() + withinMs;
    for (;;) {
      const turn = await this.turn(session);
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
  baseUrl: string;
  /** `backend`: settings that differ from Chat Completions at `baseUrl`. */
  agents: readonly { id: string; model: string; backend?: Readonly<Record<string, unknown>> }[];
  question?: string;
  /** Of every agent; Chat Completions if omitted. */
  backend?: Record<string, unknown>;
  /** Added to the config beside the agents. */
  config?: Record<string, unknown>;
  timeout_seconds?: number;
};
