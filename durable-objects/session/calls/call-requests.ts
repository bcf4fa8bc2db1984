import { toParts } from "../../../src/agents/attached";
import { callIdsIn } from "../../../src/agents/compaction";
import { inputBound } from "../../../src/agents/input-bound";
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
import { type AskedParts, askedRequest, grantedRequest } from "./granted-request";
import { type Release, Semaphore } from "../../../src/async/semaphore";

type Options = {
  team: Team;
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
  /** Ids of the tool calls in the conversation. */
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
    const agent = this.#options.team.agents[index];
    if (!agent) throw new Error(`no agent at index ${index}`);
    return agent;
  }

  /** The parts of a call's request, before the rules have granted the call. */
  parts(turn: TurnState, { agent, round }: ModelCallEffect): AskedParts {
    const place = { turn: turn.number, attempt: turn.attempt.number, agent, round };
    const state = agentAt(turn.attempt, agent);
    const rules = turn.rules.agents[agent];
    return {
      records: this.#options.calls.read(place),
      agent: this.agent(agent),
      aliases: turn.aliases,
      offers: offersOf(turn, state),
      mayResearch: rules !== undefined && state.round !== null && mayResearch(rules, state.round),
      ownTools: this.#options.specsOf(agent),
    };
  }

  /** An upper bound of the tokens of the request with its attachments. */
  inputTokens(turn: TurnState, parts: AskedParts): number {
    return inputBound(askedRequest(parts), parts.records) + (turn.attached?.tokens ?? 0);
  }

  /** The request that the rules have granted. */
  granted({ turn, effect, started }: StartedCall, parts: AskedParts): PreparedRequest {
    const toRequest = (all: AskedParts) => grantedRequest(all, started, isCapped(turn, all.agent));
    const { sent, ...attached } = this.#attachedTo(turn, effect.agent);
    const releasable = releasableRequest(
      { ...toRequest(parts), ...attached },
      () => toRequest(this.parts(turn, effect)).messages,
    );
    return { releasable, sent, takenIds: callIdsIn(parts.records) };
  }

  /**
   * The request of a call that summarises. `again` rebuilds it for a later read of its messages.
   */
  compacting(
    { turn, effect, started }: StartedCall,
    request: ModelRequest,
    again: () => ModelRequest,
  ): PreparedRequest {
    const capped = isCapped(turn, this.agent(effect.agent));
    const maxOutputTokens = capped ? started.max_output_tokens : null;
    const releasable = releasableRequest({ ...request, maxOutputTokens }, () => again().messages);
    return { releasable, sent: () => undefined, takenIds: new Set() };
  }

  /**
   * The request of a call that was sent before a restart. An approximation: the provider has the
   * original.
   */
  resumed(turn: TurnState, effect: ModelCallEffect): PreparedRequest {
    const parts = this.parts(turn, effect);
    const releasable = releasableRequest(
      askedRequest(parts),
      () => askedRequest(this.parts(turn, effect)).messages,
    );
    return { releasable, sent: () => undefined, takenIds: callIdsIn(parts.records) };
  }

  #attachedTo({ number, attempt, attached }: TurnState, agent: number): AttachedRequest {
    const nonce = this.#options.nonce(number, attempt.number, agent);
    return this.#attached.for(nonce, attached?.attachments ?? []);
  }
}

/**
 * The output limit is sent only if a config or a budget sets one: an unknown model's own limit may
 * be lower than any guess.
 */
const isCapped = ({ budget }: TurnState, { backend }: TeamAgent): boolean =>
  backend.capsOutput || budget.max_cost_usd !== undefined || budget.max_tokens !== undefined;

/** A request that can release its conversation from memory. */
type ReleasableRequest = { request: ModelRequest; release: () => void };

/**
 * A request that can release its conversation from memory. Conversations may take megabytes, each
 * call of a team has its own, and they are rarely read while a reply streams for minutes. A later
 * read rebuilds it with `again`, which must not reference the conversation.
 */
export function releasableRequest(
  { messages, ...rest }: ModelRequest,
  again: () => Message[],
): ReleasableRequest {
  let conversation: Message[] | null = messages;
  return {
    request: {
      ...rest,
      get messages() {
        return conversation ?? again();
      },
    },
    release: () => {
      conversation = null;
    },
  };
}

/** `sent`: the request was sent, or will not be sent. To be called at least once per read. */
type AttachedRequest = Pick<ModelRequest, "attached"> & { sent: () => void };

/**
 * Reads a turn's attachments for one request at a time. Until a request is sent, its parts (base64,
 * JSON, bytes) take several times their size in memory, and a team sends many requests at once.
 */
export class AttachedParts {
  readonly #read: (attachment: Attachment) => Promise<Uint8Array<ArrayBuffer>>;
  readonly #slot = new Semaphore(1, HEADER_LIMIT_MS);

  constructor(read: (attachment: Attachment) => Promise<Uint8Array<ArrayBuffer>>) {
    this.#read = read;
  }

  /** `nonce` marks the blocks of the agent whose model is called. */
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
