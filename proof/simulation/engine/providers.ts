import { Continuity } from "../../../simulated/providers/continuity";
import type { Failure } from "../../../simulated/providers/reply";
import { type Json, RequestRefusal } from "../../../simulated/providers/dialect";
import { type Situation, toSituation } from "../../../simulated/providers/situation";
import { inProvidersWords, type Network } from "../../../durable-objects/shared/outgoing";
import { UnreachableOriginError } from "../../../src/outgoing/address-guard";
import { Chance } from "../../../simulated/chance";
import { drawFailure } from "./failures";
import { type Fault, type Faults, hash } from "./faults";
import { type Ending, type ModelReply, replyOfModel, sentPartOf } from "./model";
import { type EngineSituation, SEARCH_TOKENS } from "./engine-situation";
import {
  BREAKS,
  type Charge,
  connectionReset,
  cutAt,
  encoder,
  EVENTS,
  INSTANT,
  type Plan,
  rechunked,
  responseOf,
  withGarbage,
} from "./plan";
import type { VirtualTime } from "./virtual-time";
import { DIALECTS, type WireFormat } from "./wire";
import { maxSearches } from "./wire/anthropic";
import { sentText } from "../../../tests/providers/sent-body";

/** A request in a provider's record. Times are times of the simulated world. */
export type ReceivedRequest = {
  /** Index of the agent. */
  agent: number;
  /** Id of the model call. */
  call: string;
  /** Asks for a new reply or for the rest of a background reply, or stops a background reply. */
  kind: "reply" | "rest" | "stop";
  /** `null` if the provider could not read the request. */
  stage: Situation["stage"] | null;
  body: string;
  headers: string;
  origin: string;
  sentAt: number;
  headersAt: number | null;
  endedAt: number | null;
  /** Time of the last chunk of the reply. */
  chunkAt: number | null;
  /** The delay that the provider requests before a retry; 0 if none. */
  retryAfterMs: number;
  /** The tool calls and decisions of the reply, in order. A cut call is incomplete. */
  calls: ModelReply["calls"];
  /** The reply's finish reason; `null` if there is no reply. */
  finish: Ending | null;
  /** The charge so far, which grows while the provider writes; `null` if nothing is charged. */
  charged: Charge | null;
  /** Why the provider would reject the request by its own rules; `null` if it would not. */
  rejection: string | null;
};

type Options = {
  situation: EngineSituation;
  /** The wire format of each agent's provider. */
  formats: readonly WireFormat[];
  /** The maximum number of output tokens of a reply, by agent. */
  outputCaps: readonly number[];
  time: VirtualTime;
  faults: Faults;
  /** Resolves when all earlier writes are on disk. An object sends nothing before that. */
  gate: () => Promise<void>;
  /** Kills the process if the fault strikes now. Returns whether it killed the process. */
  crashIf: (fault: Fault) => boolean;
};

/** A request that is being answered. `search`: the parameters of its URL. */
type Exchange = {
  request: ReceivedRequest;
  signal: AbortSignal | null;
  path: string;
  search: URLSearchParams;
  /** Whether the process that sent the request has crashed. */
  isDead: () => boolean;
};

/**
 * The providers of a simulated session, in this process. Their `fetch` returns streams in the real
 * wire formats. They parse requests as real providers do, check that the service sends their own
 * output back unchanged, and record their charges.
 */
export class Providers {
  /** All requests in order of arrival. */
  readonly received: ReceivedRequest[] = [];
  readonly #options: Options;
  /** What each agent's provider has sent, to check what comes back. */
  readonly #memories: Continuity[];
  /** Functions that close the open connections. */
  readonly #open = new Set<() => void>();
  /** The frames of background replies, by id. */
  readonly #background = new Map<string, Uint8Array[]>();
  /** The number of the process that sends requests. It increases with each crash. */
  #life = 0;

  constructor(options: Options) {
    this.#options = options;
    this.#memories = options.formats.map(() => new Continuity());
  }

  /** Must be called when the process crashes. Closes its connections. */
  disconnect(): void {
    this.#life += 1;
    for (const close of [...this.#open]) close();
    this.#open.clear();
  }

  /** The network of one call of an agent. */
  networkFor(agent: number, call: string): Network {
    const { gate, crashIf, faults, time } = this.#options;
    let life = this.#life;
    const guard = inProvidersWords(async (url, signal, send) => {
      life = this.#life;
      if (crashIf("crash_before_send")) return never();
      await gate();
      if (life !== this.#life) return never();
      signal?.throwIfAborted();
      if (faults.strikes("connect_refused")) throw new UnreachableOriginError(url.host);
      return send();
    });
    const fetch: Network["fetch"] = (input, init) => {
      const sentInLife = life;
      const url = new URL(String(input instanceof Request ? input.url : input));
      const request: ReceivedRequest = {
        agent,
        call,
        kind: init?.method === "GET" ? "rest" : url.pathname.endsWith("/cancel") ? "stop" : "reply",
        stage: null,
        body: sentText(init?.body),
        headers: JSON.stringify([...new Headers(init?.headers)]),
        origin: url.origin,
        sentAt: time.now,
        headersAt: null,
        endedAt: null,
        chunkAt: null,
        retryAfterMs: 0,
        calls: [],
        finish: null,
        charged: null,
        rejection: null,
      };
      this.received.push(request);
      return this.#exchange({
        request,
        search: url.searchParams,
        signal: init?.signal ?? null,
        path: url.pathname,
        isDead: () => sentInLife !== this.#life,
      });
    };
    return { guard, fetch };
  }

  #exchange(exchange: Exchange): Promise<Response> {
    const { request, signal } = exchange;
    const { time, crashIf } = this.#options;
    const { promise, resolve, reject } = Promise.withResolvers<Response>();
    const plan = this.#options.faults.replyingTo(request.agent, () => this.#plan(exchange));
    let body: ReadableStreamDefaultController<Uint8Array> | null = null;
    let stop = (): void => {};
    const close = (): void => {
      stop();
      if (plan.ending === "lost" || (plan.isBackground && request.charged))
        request.charged = plan.charged;
      request.endedAt ??= time.now;
      this.#open.delete(close);
      // The listener would keep the memory of a crashed process alive.
      signal?.removeEventListener("abort", onAbort);
    };
    const isOpen = (): boolean => !exchange.isDead() && request.endedAt === null;
    const fail = (why: unknown): void => {
      if (!isOpen()) return;
      close();
      reject(why);
      body?.error(why);
    };
    const onAbort = (): void => fail(signal?.reason);
    this.#open.add(close);
    signal?.addEventListener("abort", onAbort);
    const schedule = (ms: number, run: () => void): void => {
      stop = time.timeline.schedule(time.now + ms, () => isOpen() && run());
    };
    const respond = (): void => {
      request.headersAt = time.now;
      const start = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
        body = controller;
      };
      resolve(responseOf(plan, { start, cancel: close }));
      if (plan.charged) request.charged = { ...plan.charged, output: 0 };
      if (crashIf("crash_after_headers")) return;
      schedule(plan.gapMs, () => write(0));
    };
    const write = (nth: number): void => {
      const frame = plan.frames[nth];
      if (frame === undefined) return finish();
      if (plan.charged && request.charged)
        request.charged.output = writtenOf(plan.charged, (nth + 1) / plan.whole);
      request.chunkAt = time.now;
      body?.enqueue(frame);
      if (nth > 0 && crashIf("crash_in_stream")) return;
      schedule(plan.gapMs, () => write(nth + 1));
    };
    const finish = (): void => {
      if (plan.ending === "hang") return;
      if (plan.charged && plan.ending === "complete") request.charged = plan.charged;
      close();
      plan.ending === "reset" ? body?.error(connectionReset()) : body?.close();
    };
    const lose = (): void => fail(new Error("Network connection lost."));
    const begin = plan.ending === "lost" ? lose : respond;
    if (Number.isFinite(plan.afterMs)) schedule(plan.afterMs, begin);
    return promise;
  }

  /** Plans the response to a request. */
  #plan(exchange: Exchange): Plan {
    const { request } = exchange;
    const { faults } = this.#options;
    const background = /\/responses\/([^/]+)(\/cancel)?$/.exec(exchange.path);
    if (background) return this.#backgroundPlan(exchange, background[1] ?? "");
    const parsed = this.#parse(exchange);
    if ("failure" in parsed) return this.#failurePlan(request.agent, parsed.failure);
    request.stage = parsed.situation.stage;
    const failure = drawFailure(faults);
    if (failure) {
      request.retryAfterMs = 1_000 * Number(failure.retryAfter ?? 0);
      return this.#failurePlan(request.agent, failure);
    }
    const plan = this.#replyPlan(exchange, parsed.situation);
    if (faults.strikes("lost_unanswered")) return { ...plan, ending: "lost" };
    if (faults.strikes("no_headers", 130_000))
      return { ...plan, afterMs: Number.POSITIVE_INFINITY, charged: null };
    return this.#withTransferFaults(plan);
  }

  #parse({ request, path }: Exchange): { situation: Situation } | { failure: Failure } {
    const format = this.#options.formats[request.agent] ?? "openai-chat";
    const { dialect } = DIALECTS[format];
    try {
      const body: Json = JSON.parse(request.body);
      const headers: Record<string, string> = Object.fromEntries(JSON.parse(request.headers));
      const read = dialect.read({ path, headers, body });
      const mismatch = this.#memories[request.agent]?.mismatch(dialect.modelTurns(body));
      if (mismatch)
        request.rejection = `it received back a turn that it never sent: ${JSON.stringify(mismatch)}`;
      return { situation: toSituation(read) };
    } catch (error) {
      if (!(error instanceof RequestRefusal)) throw error;
      request.rejection = error.message;
      return { failure: error.failure };
    }
  }

  /** The rest of a background reply, or the confirmation of a stop. */
  #backgroundPlan({ request, path, search }: Exchange, id: string): Plan {
    const frames = this.#background.get(id);
    if (!frames || this.#options.faults.strikes("server_error"))
      return this.#failurePlan(request.agent, { status: 404, message: "Response not found." });
    const base = { ...INSTANT, headers: { "content-type": "application/json" } };
    if (path.endsWith("/cancel"))
      return {
        ...base,
        frames: [encoder.encode(JSON.stringify({ id, status: "cancelled", output: [] }))],
      };
    const rest = frames.slice(Number(search.get("starting_after")) + 1);
    return { ...INSTANT, headers: EVENTS, gapMs: 20, frames: rest, whole: rest.length };
  }

  /** The response of a failed request. */
  #failurePlan(agent: number, failure: Failure): Plan {
    const format = this.#options.formats[agent] ?? "openai-chat";
    const bytes = encoder.encode(JSON.stringify(DIALECTS[format].dialect.failureBody(failure)));
    const retryHeader =
      failure.retryAfter === undefined ? {} : { "retry-after": String(failure.retryAfter) };
    const headers = { "content-type": "application/json", ...retryHeader };
    return { ...INSTANT, status: failure.status, headers, frames: [bytes] };
  }

  /** The complete reply of the model, without faults of the transfer. */
  #replyPlan({ request }: Exchange, asked: Situation): Plan {
    const { situation, outputCaps, formats, faults } = this.#options;
    const { agent, call, body } = request;
    const chance = new Chance(situation.seed ^ hash(`pace ${call}`));
    const { seed, habits } = situation;
    const reply = replyOfModel(asked, { seed, call, agent, habits });
    const { encode } = DIALECTS[formats[agent] ?? "openai-chat"];
    const cap = Math.min(asked.asked.outputCap ?? Number.POSITIVE_INFINITY, outputCaps[agent] ?? 0);
    const length =
      reply.text.length + reply.calls.reduce((sum, one) => sum + one.arguments.length, 0);
    const isCut = faults.strikes("cut_short") || length / 4 > cap;
    request.finish = isCut
      ? "length"
      : faults.strikes("content_filter")
        ? "content_filter"
        : "stop";
    const sent = sentPartOf(reply, request.finish, new Chance(seed ^ hash(`cut ${call}`)));
    request.calls = sent.calls;
    const searches = (reply.searches ?? []).slice(0, maxSearches(body));
    const searchTokens = searches.length > 0 ? searches.length * chance.int(0, SEARCH_TOKENS) : 0;
    const tokensPerCharacter = new Chance(situation.seed ^ hash(`tokenizer ${agent}`)).pick([
      0.2, 0.25, 0.3,
    ]);
    const input = Math.ceil(body.length * tokensPerCharacter) + searchTokens;
    const charge = {
      input,
      output: Math.min(cap, Math.ceil(length / 4) + chance.int(0, 20)),
      cached: chance.is(0.4) ? Math.floor(input / 2) : 0,
      searches: searches.length,
    };
    const usage = faults.strikes("no_usage") ? null : charge;
    const id = call.replace("call_", "").replaceAll("_", "x");
    const { frames, items } = encode({
      id,
      model: asked.model,
      ...sent,
      searches,
      finish: request.finish,
      usage,
    });
    this.#memories[agent]?.keep(items);
    const isSlow = faults.strikes("slow_reply", 60_000);
    const afterMs = isSlow ? chance.latency(2_000, 110_000) : chance.latency(20, 4_000);
    const gapMs = isSlow ? chance.latency(50, 20_000) : chance.latency(1, 300);
    const bytes = frames.map((frame) => encoder.encode(frame));
    const isBackground = JSON.parse(body).background === true;
    if (isBackground) this.#background.set(`resp_${id}`, bytes);
    return {
      isBackground,
      status: 200,
      headers: EVENTS,
      afterMs,
      gapMs,
      frames: bytes,
      whole: frames.length,
      ending: "complete",
      charged: charge,
    };
  }

  /** The plan with a fault of the transfer, if one strikes. */
  #withTransferFaults(plan: Plan): Plan {
    const { faults } = this.#options;
    if (faults.strikes("empty_reply"))
      return { ...plan, frames: [], charged: plan.charged && { ...plan.charged, output: 0 } };
    if (faults.strikes("web_page"))
      return {
        ...plan,
        headers: { "content-type": "text/html" },
        frames: [encoder.encode("<html>Bad gateway</html>")],
        charged: null,
      };
    if (faults.strikes("garbage")) return withGarbage(plan, faults.chance("garbage"));
    for (const [fault, ending] of BREAKS) {
      if (!faults.strikes(fault, ending === "hang" ? 95_000 : 0)) continue;
      return cutAt(plan, { at: faults.chance(fault).unit(), ending });
    }
    if (faults.strikes("odd_chunks"))
      return { ...plan, ...rechunked(plan.frames, faults.chance("odd_chunks")) };
    return plan;
  }
}

const never = (): Promise<never> => new Promise(() => {});

/** The output tokens that are written after a share of the frames. */
const writtenOf = ({ output }: Charge, share: number): number => Math.ceil(output * share);
