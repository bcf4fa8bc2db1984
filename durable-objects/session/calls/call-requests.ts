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
import { HEADER_PATIENCE_MS } from "../../shared/limits";
import type { SessionFacts } from "../session-facts";
import type { CallStore } from "./call-store";
import { type AskedParts, askedRequest, grantedRequest } from "./granted-request";
import { type Release, Semaphore } from "../../../src/async/semaphore";

type Options = {
  team: Team;
  nonce: SessionFacts["nonce"];
  calls: Pick<CallStore, "read">;
  /** The agent's own tools, as its model is shown them. */
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
  /** To be called when the request has left, or never will. */
  sent: () => void;
  /** Ids of the tool calls that the conversation holds already. */
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

  agent(index: number): TeamAgent {
    const agent = this.#options.team.agents[index];
    if (!agent) throw new Error(`no agent at index ${index}`);
    return agent;
  }

  /** Everything the request of a call is made of, before the rules have granted the call. */
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

  /** An upper bound of the tokens of the request and its attachments. */
  inputTokens(turn: TurnState, parts: AskedParts): number {
    return inputBound(askedRequest(parts), parts.records) + (turn.attached?.tokens ?? 0);
  }

  /** The request as the rules have granted it. */
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
   * The request of a call that sums up. `again` builds it once more, for a later read of its
   * messages.
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
   * The request of a call that was sent before a restart, about as it was: the provider has the
   * real one.
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
 * The output limit is sent only if somebody set one: an unknown model's own limit may be lower than
 * any guess.
 */
const isCapped = ({ budget }: TurnState, { backend }: TeamAgent): boolean =>
  backend.capsOutput || budget.max_cost_usd !== undefined || budget.max_tokens !== undefined;

/** A request that can release its conversation. */
export type ReleasableRequest = { request: ModelRequest; release: () => void };

/**
 * The same request, able to release its conversation: that may be megabytes, each call of a team
 * has its own, and it is hardly ever read while a reply streams for minutes. A later read builds it
 * again. `again` must not hold on to the conversation.
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

/**
 * `sent`: the request has left, or never will. To be called at least once for each time it was
 * read.
 */
type AttachedRequest = Pick<ModelRequest, "attached"> & { sent: () => void };

/**
 * Reads a turn's attachments for one request at a time: until a request leaves, its parts (base64,
 * JSON, bytes) take several times their size in memory, and a team sends many requests at once.
 */
export class AttachedParts {
  readonly #read: (attachment: Attachment) => Promise<Uint8Array<ArrayBuffer>>;
  readonly #slot = new Semaphore(1, HEADER_PATIENCE_MS);

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
