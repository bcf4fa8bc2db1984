import { Continuity } from "../../../simulated/providers/continuity";
import type { Failure } from "../../../simulated/providers/reply";
import { type Json, RequestRefusal } from "../../../simulated/providers/dialect";
import { type Situation, toSituation } from "../../../simulated/providers/situation";
import type { CallRelay } from "../../../durable-objects/session/calls/relays";
import { inProvidersWords, type NetworkOver } from "../../../durable-objects/shared/outgoing";
import { UnreachableOriginError } from "../../../src/outgoing/address-guard";
import { Chance } from "../../../simulated/chance";
import { drawFailure } from "./failures";
import { type Fault, type Faults, hash } from "./faults";
import { Delivery } from "./delivery";
import { replyOfModel, sentPartOf } from "./model";
import { type EngineSituation, SEARCH_TOKENS } from "./engine-situation";
import { BREAKS, cutAt, encoder, EVENTS, INSTANT, type Plan, rechunked, withGarbage } from "./plan";
import { beginningOf } from "./prompt-beginning";
import type { ReceivedRequest } from "./received-request";
import type { VirtualTime } from "./virtual-time";
import { DIALECTS, type WireFormat } from "./wire";
import { maxSearches } from "./wire/anthropic";
import { sentText } from "../../../tests/providers/sent-body";

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

/** The network of one call, see `ModelCalls`. */
export type CallNetwork = { networkOver: NetworkOver; relayOf: (relay: number) => CallRelay };

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
  readonly #open = new Set<Delivery>();
  /** The frames of background replies, by id. */
  readonly #background = new Map<string, Uint8Array[]>();
  /** The number of the process that sends requests. It increases with each crash. */
  #life = 0;

  /** Whether a request is open. */
  get hasOpen(): boolean {
    return this.#open.size > 0;
  }

  constructor(options: Options) {
    this.#options = options;
    this.#memories = options.formats.map(() => new Continuity());
  }

  /** Must be called when the process crashes. Closes its connections. */
  disconnect(): void {
    this.#life += 1;
    for (const delivery of [...this.#open]) delivery.close();
    this.#open.clear();
  }

  /** The network of one call of an agent. */
  networkFor(agent: number, call: string): CallNetwork {
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
    const send = (relay: number, ...[input, init]: Parameters<typeof fetch>) => {
      const sentInLife = life;
      const url = new URL(String(input instanceof Request ? input.url : input));
      const request: ReceivedRequest = {
        agent,
        call,
        relay,
        relayLostAt: null,
        kind: init?.method === "GET" ? "rest" : url.pathname.endsWith("/cancel") ? "stop" : "reply",
        stage: null,
        beginning: null,
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
      const response = this.#exchange({
        request,
        search: url.searchParams,
        signal: init?.signal ?? null,
        path: url.pathname,
        isDead: () => sentInLife !== this.#life,
      });
      return { request, response };
    };
    return {
      networkOver: (fetch) => ({ guard, fetch }),
      relayOf: (relay) => relayOver((...request) => send(relay, ...request)),
    };
  }

  #exchange({ request, signal, isDead, ...exchange }: Exchange): Promise<Response> {
    const { time, faults, crashIf } = this.#options;
    const plan = faults.replyingTo(request.agent, () =>
      this.#plan({ request, signal, isDead, ...exchange }),
    );
    const losesRelay = (): boolean => {
      const isStruck = faults.strikes("relay_lost");
      if (isStruck)
        for (const other of [...this.#open])
          if (other.request.relay === request.relay) other.loseRelay();
      return isStruck;
    };
    const delivery = new Delivery({
      ...{ request, signal, isDead, plan, time, crashIf, losesRelay },
      onEnd: () => this.#open.delete(delivery),
    });
    this.#open.add(delivery);
    return delivery.response;
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
      request.beginning = beginningOf(read, body);
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

type Send = (...request: Parameters<typeof fetch>) => {
  request: ReceivedRequest;
  response: Promise<Response>;
};

/** The relay of one call. Judges by the latest request that was answered or failed, as `Relays`. */
function relayOver(send: Send): CallRelay {
  let latest: ReceivedRequest | null = null;
  return {
    fetch: (...sent) => {
      const { request, response } = send(...sent);
      return response.finally(() => {
        latest = request;
      });
    },
    wasLost: async () => typeof latest?.relayLostAt === "number",
  };
}
