import { createHash } from "node:crypto";
import { toParts } from "../../../src/agents/attached";
import { callIdsIn } from "../../../src/agents/compaction";
import { inputBound } from "../../../src/agents/input-bound";
import { withoutNonce } from "../../../src/agents/safe-tools";
import type { Team, TeamAgent } from "../../../src/config/team";
import {
  agentAt,
  type ModelCallEffect,
  mayResearch,
  offersOf,
  type TurnState,
} from "../../../src/coordination";
import type { Attachment } from "../../../src/protocol/attachments";
import type { EventOf } from "../../../src/protocol/events";
import type { Message, ModelRequest, ToolSpec } from "../../../src/providers/provider";
import { HEADER_LIMIT_MS } from "../../shared/object-limits";
import type { SessionFacts } from "../session-facts";
import type { CallStore } from "./call-store";
import { type UngrantedParts, largestRequest, grantedRequest } from "./granted-request";
import { type Release, Semaphore } from "../../../src/async/semaphore";

type Options = {
  /** The team of the running turn. */
  team: () => Team;
  nonce: SessionFacts["nonce"];
  calls: Pick<CallStore, "read">;
  /** The agent's own tools as the model sees them. */
  specsOf: (agent: number) => ToolSpec[];
  readAttachment: (attachment: Attachment) => Promise<Uint8Array<ArrayBuffer>>;
};

/** A call that the rules have started. */
export type StartedCall = {
  turn: TurnState;
  effect: ModelCallEffect;
  started: EventOf<"call.started">;
};

/** A request that is ready to be sent. */
export type PreparedRequest = {
  releasable: ReleasableRequest;
  /** To be called when the request was sent, or will not be sent. */
  sent: () => void;
  /** Ids of the tool calls in the conversation: new tool calls must get other ids. */
  takenIds: ReadonlySet<string>;
};

/** Builds the requests of model calls from the stored conversations. */
export class CallRequests {
  readonly #options: Options;
  readonly #attached: AttachedParts;

  constructor(options: Options) {
    this.#options = options;
    this.#attached = new AttachedParts(options.readAttachment);
  }

  /** The agent at an index. Throws if there is none. */
  agent(index: number): TeamAgent {
    const agent = this.#options.team().agents[index];
    if (!agent) throw new Error(`no agent at index ${index}`);
    return agent;
  }

  /** The parts of a call's request, before the rules have granted the call. */
  parts(turn: TurnState, { agent, round, purpose }: ModelCallEffect): UngrantedParts {
    const place = { turn: turn.number, attempt: turn.attempt.number, agent, round };
    const state = agentAt(turn.attempt, agent);
    const rules = turn.rules.agents[agent];
    return {
      records: this.#options.calls.read(place),
      agent: this.agent(agent),
      aliases: turn.aliases,
      offers: offersOf(turn, state),
      mayResearch: rules !== undefined && state.round !== null && mayResearch(rules, state.round),
      ownTools: withoutNonce(
        this.#options.nonce(turn, agent),
        purpose === "summary" ? [] : this.#options.specsOf(agent),
      ),
    };
  }

  /** An upper bound of the tokens of the request with its attachments. */
  inputTokens(
    turn: TurnState,
    { purpose }: Pick<ModelCallEffect, "purpose">,
    parts: UngrantedParts,
  ): number {
    const attached = purpose === "summary" ? 0 : (turn.attached?.tokens ?? 0);
    return inputBound(largestRequest(parts), parts.records) + attached;
  }

  /** The request of a call that the rules have granted. */
  granted({ turn, effect, started }: StartedCall, parts: UngrantedParts): PreparedRequest {
    const toRequest = (requestParts: UngrantedParts) =>
      grantedRequest(requestParts, started, isCapped(turn, requestParts.agent));
    const { sent, ...attached } = this.#attachedTo(turn, effect);
    const cacheKey = cacheKeyOf(this.#options.nonce(turn, effect.agent));
    const releasable = releasableRequest(
      { ...toRequest(parts), ...attached, cacheKey },
      () => toRequest(this.parts(turn, effect)).messages,
    );
    return { releasable, sent, takenIds: callIdsIn(parts.records) };
  }

  /**
   * The request of a call that summarises a conversation. `rebuild` builds the request again if its
   * messages are read after their release.
   */
  compacting(
    { turn, effect, started }: StartedCall,
    request: ModelRequest,
    rebuild: () => ModelRequest,
  ): PreparedRequest {
    const sendsOutputLimit = isCapped(turn, this.agent(effect.agent));
    const maxOutputTokens = sendsOutputLimit ? started.max_output_tokens : null;
    const releasable = releasableRequest({ ...request, maxOutputTokens }, () => rebuild().messages);
    return { releasable, sent: () => undefined, takenIds: new Set() };
  }

  /**
   * The request of a call that was sent before a restart. It is an approximation; only the provider
   * has the original.
   */
  resumed(turn: TurnState, effect: ModelCallEffect): PreparedRequest {
    const parts = this.parts(turn, effect);
    const releasable = releasableRequest(
      largestRequest(parts),
      () => largestRequest(this.parts(turn, effect)).messages,
    );
    return { releasable, sent: () => undefined, takenIds: callIdsIn(parts.records) };
  }

  /** The attachments of the question. A summary of earlier turns does not need them. */
  #attachedTo(
    turn: TurnState,
    { agent, purpose }: Pick<ModelCallEffect, "agent" | "purpose">,
  ): AttachedRequest {
    // The request may be built long after this, so it keeps the nonce and not the turn.
    const nonce = this.#options.nonce(turn, agent);
    const { attachments = [] } = purpose === "summary" ? {} : (turn.attached ?? {});
    return this.#attached.for(nonce, attachments);
  }
}

/** The key of an agent's prompt caches, from which its nonce cannot be computed. */
const cacheKeyOf = (nonce: string): string =>
  createHash("sha256").update(nonce).digest("hex").slice(0, 32);

/**
 * Whether the output limit is sent. It is sent only if a config or a budget sets one, because the
 * limit of an unknown model may be lower than any guess.
 */
const isCapped = ({ budget }: TurnState, { backend }: TeamAgent): boolean =>
  backend.capsOutput || budget.max_cost_usd !== undefined || budget.max_tokens !== undefined;

/** `release` removes the conversation of the request from memory. */
type ReleasableRequest = { request: ModelRequest; release: () => void };

/**
 * A request that can release its conversation from memory. A conversation may take megabytes, and
 * each call of a team has its own. It is rarely read while the reply streams for minutes. A read
 * after the release builds the conversation with `rebuild`, which must not keep a reference to it.
 */
export function releasableRequest(
  { messages, ...rest }: ModelRequest,
  rebuild: () => Message[],
): ReleasableRequest {
  let conversation: Message[] | null = messages;
  return {
    request: {
      ...rest,
      get messages() {
        return conversation ?? rebuild();
      },
    },
    release: () => {
      conversation = null;
    },
  };
}

/**
 * The attachments of a request. `sent`: to be called after each read of `attached`, when the
 * request was sent or will not be sent.
 */
type AttachedRequest = Pick<ModelRequest, "attached"> & { sent: () => void };

/**
 * Reads a turn's attachments for one request at a time. Until a request is sent, its attachments
 * take several times their size in memory (as bytes, base64 and JSON), and a team sends many
 * requests at once.
 */
export class AttachedParts {
  readonly #read: (attachment: Attachment) => Promise<Uint8Array<ArrayBuffer>>;
  readonly #slot = new Semaphore(1, HEADER_LIMIT_MS);

  constructor(read: (attachment: Attachment) => Promise<Uint8Array<ArrayBuffer>>) {
    this.#read = read;
  }

  /** The attachments of one request. `nonce` marks the blocks in the messages of its agent. */
  for(nonce: string, attachments: readonly Attachment[]): AttachedRequest {
    if (attachments.length === 0) return { sent: () => undefined };
    let release: Release = () => undefined;
    return {
      attached: async (signal) => {
        release = await this.#slot.acquire(signal, null);
        return toParts(nonce, attachments, this.#read);
      },
      sent: () => release(),
    };
  }
}
