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
import { CALL_TIME_LIMITS } from "../../../src/providers/call-limits";
import type { Provider, ResumePoint, TransportHooks } from "../../../src/providers/provider";
import { createProvider, hostById } from "../../../src/providers/registry";
import { SYSTEM_TIMERS } from "../../../src/async/clock";
import { withTimeLimits } from "../../../src/providers/time-limits";
import { isUnsent, type Network } from "../../shared/outgoing";
import type { PreparedRequest } from "./call-requests";
import type { OriginProbes } from "./origin-probes";
import { quotaOf, type RateWaits } from "./rate-waits";
import type { FoundKey } from "./team-keys";

type Options = {
  session: StreamInputs;
  keyOf: (agent: TeamAgent) => FoundKey;
  background: boolean;
  network: Network;
  probes: Pick<OriginProbes, "forget"> | null;
  rates: Pick<RateWaits, "settle">;
};

/** A request on its way. `from`: omitted if the call is new, not resumed. */
export type OutgoingRequest = Omit<PreparedRequest, "takenIds"> & {
  slot: CallSlot;
  signal: AbortSignal;
  from?: ResumePoint;
};

type Call = { effect: ModelCallEffect; agent: TeamAgent };
/** Callbacks of a call that streams its reply. */
export type Listeners = Pick<CallOptions, "onDelta" | "onResumePoint">;

/**
 * Sends requests and streams their replies. What a call has used counts against its backend's
 * limits.
 */
export class ReplyStreams {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  async stream(
    { effect, agent }: Call,
    sending: OutgoingRequest,
    listeners: Listeners,
  ): Promise<PerformedCall> {
    const { session, keyOf, probes, rates } = this.#options;
    const { releasable, signal, from } = sending;
    const found = keyOf(agent);
    if (!found.ok) return { type: "failed", failure: found.failure };
    const progress: Progress = { sent: 0 };
    let tokens: number | null = null;
    try {
      const performed = await performCall({
        provider: this.#provider(agent.backend, found.key, this.#hooks(sending, progress)),
        request: releasable.request,
        signal,
        ...(from && { from }),
        ...listeners,
        onUsage: (usage) => {
          tokens = tokensTaken(usage);
          session.noteUsage(effect.id, usage);
        },
        wasSent: () => progress.sent > 0,
      });
      tokens = takenBy(performed) ?? tokens;
      if (isTransient(performed)) probes?.forget(agent.backend.baseUrl);
      return performed;
    } finally {
      // if not sent, dropping the call releases its share
      const wasSent = from !== undefined || progress.sent > 0;
      if (agent.backend.rates && wasSent)
        rates.settle(effect.id, quotaOf(agent.backend, found.key), tokens);
    }
  }

  /** Writes the deltas of a reply to the log as they arrive, and collects its text. */
  listeners(
    { effect, agent }: Call,
    { streamed, takenIds }: { streamed: StreamedText; takenIds: ReadonlySet<string> },
  ): Listeners {
    const { session } = this.#options;
    const source = { agent: agent.id, round: effect.round, call: effect.id };
    let point: ResumePoint | null = null;
    return {
      onResumePoint: (next, alone) => {
        if (alone) session.notePoint(effect.id, next);
        else point = next;
      },
      onDelta: ({ kind, name, toolIndex, toolId, text }) => {
        if (kind !== "reasoning") streamed.add(text);
        const shown: DeltaKind =
          kind === "text" && effect.purpose === "presentation" ? "final" : kind;
        const tool = {
          ...(name !== undefined && { name }),
          ...(toolIndex !== undefined && { tool_index: toolIndex }),
          ...(toolId !== undefined && staysItsId(toolId, takenIds) && { tool_call: toolId }),
        };
        session.write({ ...source, kind: shown, ...tool }, text, point);
        point = null;
      },
    };
  }

  /** The session's part in each request of a call. */
  #hooks({ releasable, sent, slot }: OutgoingRequest, progress: Progress): TransportHooks {
    return {
      onBuilt: () => {
        releasable.release(); // the request's body holds the whole conversation
        sent();
        slot.onSent();
      },
      guard: this.#options.network.guard,
      onSend: () => {
        progress.sent += 1;
      },
      onFailure: (error) => {
        if (isUnsent(error)) progress.sent -= 1;
      },
      onHeaders: slot.onHeaders,
      yieldSignal: slot.yieldSignal,
    };
  }

  #provider(
    { format, baseUrl, host, apiVersion }: Backend,
    apiKey: string,
    hooks: TransportHooks,
  ): Provider {
    const { background, network } = this.#options;
    const { fetch } = network;
    const address = { baseUrl, host: hostById(host), apiVersion };
    const endpoint = { ...address, apiKey, fetch, hooks, background };
    return withTimeLimits(createProvider(format, endpoint), CALL_TIME_LIMITS, SYSTEM_TIMERS);
  }
}

/** The requests of a call that were handed to the network and may cost something. */
type Progress = { sent: number };

/** A lost connection looks like this, among other failures. */
const isTransient = (performed: PerformedCall): boolean =>
  performed.type === "failed" && performed.failure.class === "transient";

const takenBy = (performed: PerformedCall): number | null => {
  if (performed.type === "replied") return tokensTaken(performed.usage);
  const { usage, reached } = performed.failure;
  return reached ? tokensTaken(usage) : (tokensTaken(usage) ?? 0);
};
