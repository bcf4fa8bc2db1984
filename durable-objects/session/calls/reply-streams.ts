import { tokensTaken } from "../../../src/agents/token-estimates";
import {
  type CallOptions,
  type PerformedCall,
  performCall,
} from "../../../src/agents/perform-call";
import { staysItsId } from "../../../src/agents/reply";
import type { StreamedText } from "../../../src/agents/streamed-text";
import type { Backend, TeamAgent } from "../../../src/config/team";
import type { ModelCallEffect } from "../../../src/coordination";
import type { DeltaKind } from "../../../src/protocol/events";
import type { CallSlot, StreamInputs } from "../../../src/engine/ports";
import { BodyEnds } from "../../../src/providers/body-ends";
import { CALL_TIME_LIMITS } from "../../../src/providers/call-limits";
import type { Provider, ResumePoint, TransportHooks } from "../../../src/providers/provider";
import { createProvider, hostById } from "../../../src/providers/registry";
import { SYSTEM_TIMERS } from "../../../src/async/clock";
import { withTimeLimits } from "../../../src/providers/time-limits";
import { isUnsent, type Network, type NetworkOver } from "../../shared/outgoing";
import type { PreparedRequest } from "./call-requests";
import type { OriginProbes } from "./origin-probes";
import { quotaOf, type RateWaits } from "./rate-waits";
import type { CallRelay } from "./relays";
import type { FoundKey } from "./team-keys";

type Options = {
  session: StreamInputs;
  keyOf: (agent: TeamAgent) => FoundKey;
  background: boolean;
  networkOver: NetworkOver;
  /** The relay with this number, for one call. */
  relayOf: (relay: number) => CallRelay;
  probes: Pick<OriginProbes, "forget"> | null;
  rates: Pick<RateWaits, "settle">;
};

/**
 * A prepared request with its call's slot and signal. `from`: the point from which the reply is
 * resumed; omitted if the call is new.
 */
export type OutgoingRequest = Omit<PreparedRequest, "takenIds"> & {
  slot: CallSlot;
  signal: AbortSignal;
  from?: ResumePoint;
};

type Call = { effect: ModelCallEffect; agent: TeamAgent };
/** Callbacks of a call that streams its reply. */
export type Listeners = Pick<CallOptions, "onDelta" | "onResumePoint">;

/**
 * Sends requests and streams their replies. Reports the tokens that a call has used to the rate
 * limits of its backend.
 */
export class ReplyStreams {
  readonly #options: Options;
  readonly #ends = new BodyEnds();

  constructor(options: Options) {
    this.#options = options;
  }

  /** Sends a request and streams its reply; returns the end of the call. */
  async stream(
    { effect, agent }: Call,
    sending: OutgoingRequest,
    listeners: Listeners,
  ): Promise<PerformedCall> {
    const { session, keyOf, networkOver, relayOf, probes, rates } = this.#options;
    const { releasable, signal, slot, from } = sending;
    const foundKey = keyOf(agent);
    if (!foundKey.ok) return { type: "failed", failure: foundKey.failure };
    const progress: Progress = { sentRequests: 0 };
    const relay = relayOf(slot.relay);
    const network = networkOver(relay.fetch);
    let tokens: number | null = null;
    try {
      const hooks = this.#hooks(sending, progress, network);
      const performed = await performCall({
        provider: this.#provider(agent.backend, foundKey.key, { fetch: network.fetch, hooks }),
        request: releasable.request,
        signal,
        ...(from && { from }),
        ...listeners,
        onUsage: (usage) => {
          tokens = tokensTaken(usage);
          session.noteUsage(effect.id, usage);
        },
        wasSent: () => progress.sentRequests > 0,
      });
      tokens = tokensUsedBy(performed) ?? tokens;
      if (!isTransient(performed)) return performed;
      if (await relay.wasLost()) return interrupted(performed);
      probes?.forget(agent.backend.baseUrl);
      return performed;
    } finally {
      // If the call was not sent, its share of the limits is released when it is dropped.
      const wasSent = from !== undefined || progress.sentRequests > 0;
      if (agent.backend.rates && wasSent)
        rates.settle(effect.id, quotaOf(agent.backend, foundKey.key), tokens);
    }
  }

  /**
   * The callbacks that write the deltas of a reply to the log as they arrive, and collect its text.
   */
  listeners(
    { effect, agent }: Call,
    { streamed, takenIds }: { streamed: StreamedText; takenIds: ReadonlySet<string> },
  ): Listeners {
    const { session } = this.#options;
    const source = { agent: agent.id, round: effect.round, call: effect.id };
    let point: ResumePoint | null = null;
    return {
      onResumePoint: (next, isWithoutText) => {
        if (isWithoutText) session.notePoint(effect.id, next);
        else point = next;
      },
      onDelta: ({ kind, name, toolIndex, toolId, text }) => {
        if (kind !== "reasoning") streamed.add(text);
        const shownKind: DeltaKind =
          kind === "text" && effect.purpose === "presentation" ? "final" : kind;
        const tool = {
          ...(name !== undefined && { name }),
          ...(toolIndex !== undefined && { tool_index: toolIndex }),
          ...(toolId !== undefined && staysItsId(toolId, takenIds) && { tool_call: toolId }),
        };
        session.write({ ...source, kind: shownKind, ...tool }, text, point);
        point = null;
      },
    };
  }

  /** The callbacks with which the session follows each request of a call. */
  #hooks(
    { releasable, sent, slot }: OutgoingRequest,
    progress: Progress,
    { guard }: Network,
  ): TransportHooks {
    return {
      onBuilt: (bytes) => {
        releasable.release(); // the body of the request now contains the whole conversation
        sent();
        return slot.onBuilt(bytes);
      },
      guard,
      onSend: () => {
        progress.sentRequests += 1;
      },
      onFailure: (error) => {
        if (isUnsent(error)) progress.sentRequests -= 1;
      },
      onHeaders: slot.onHeaders,
      yieldSignal: slot.yieldSignal,
      readEnd: (reader) => this.#ends.read(reader),
    };
  }

  #provider(
    { format, baseUrl, host, apiVersion }: Backend,
    apiKey: string,
    access: { fetch: typeof fetch; hooks: TransportHooks },
  ): Provider {
    const { background } = this.#options;
    const address = { baseUrl, host: hostById(host), apiVersion };
    const endpoint = { ...address, apiKey, ...access, background };
    return withTimeLimits(createProvider(format, endpoint), CALL_TIME_LIMITS, SYSTEM_TIMERS);
  }
}

/** `sentRequests`: the requests of a call that were handed to the network and may cost money. */
type Progress = { sentRequests: number };

type FailedCall = Extract<PerformedCall, { type: "failed" }>;

/** Whether the call failed in a way that may come from a lost connection. */
const isTransient = (performed: PerformedCall): performed is FailedCall =>
  performed.type === "failed" && performed.failure.class === "transient";

/** The failure of a call whose relay was lost: the provider is not at fault. */
const interrupted = ({ failure }: FailedCall): FailedCall => ({
  type: "failed",
  failure: {
    ...failure,
    class: "interrupted",
    code: "interrupted",
    message: "The part of the service that carried this call was restarted.",
    retryAfterMs: null,
  },
});

/** The tokens that a call used; `null` if it reached the provider and no usage is known. */
const tokensUsedBy = (performed: PerformedCall): number | null => {
  if (performed.type === "replied") return tokensTaken(performed.usage);
  const { usage, reached } = performed.failure;
  return reached ? tokensTaken(usage) : (tokensTaken(usage) ?? 0);
};
