import { inputTokenBound } from "../src/agents/conversation";
import { performCall } from "../src/agents/perform-call";
import { type CompleteReply, takenCallIds, toReply, uniqueCallIds } from "../src/agents/reply";
import type { Backend, TeamAgent } from "../src/config/team";
import {
  agentAt,
  type ModelCallEffect,
  mayResearch,
  offersOf,
  runningTurn,
  type ToolCallEffect,
  type TurnState,
} from "../src/coordination";
import type { DeltaKind } from "../src/protocol/events";
import { CALL_TIME_LIMITS } from "../src/providers/limits";
import type { Provider, ResumePoint } from "../src/providers/provider";
import type { Tool } from "../src/tools/tool";
import { createProvider, hostById } from "../src/providers/registry";
import { SYSTEM_TIMERS, withTimeLimits } from "../src/providers/time-limits";
import { AgentTools } from "./agent-tools";
import type { Performer, PreparedCall, Slot } from "./effect-runner";
import type { Engine } from "./engine";
import { type AskedParts, askedRequest, grantedRequest } from "./granted-request";
import { type HeldRequest, holdRequest } from "./held-request";
import type { FoundKey } from "./team-keys";
import { waitingFetch } from "./waiting-fetch";

type Options = {
  engine: Engine;
  /** The key for an agent's backend, or why it has none. */
  keyOf: (agent: TeamAgent) => FoundKey;
  /** Whether replies are written in the background where the endpoint can, to be taken up again after a restart. */
  background: boolean;
  /** How requests leave the service. */
  fetch: typeof fetch;
  /** An agent's own tools, by its index. */
  toolsOf: (agent: number) => readonly Tool[];
};

/** Performs what the rules owe. Model calls: puts the request together, asks the rules, streams the reply, and tells the rules how it ended. */
export class ModelCalls implements Performer {
  readonly #engine: Engine;
  readonly #keyOf: Options["keyOf"];
  readonly #background: boolean;
  readonly #fetch: typeof fetch;
  readonly #tools: AgentTools;

  constructor({ engine, keyOf, background, fetch, toolsOf }: Options) {
    this.#engine = engine;
    this.#keyOf = keyOf;
    this.#background = background;
    this.#fetch = fetch;
    this.#tools = new AgentTools({ engine, toolsOf, fetch });
  }

  prepareCall(effect: ModelCallEffect): PreparedCall | null {
    const turn = runningTurn(this.#engine.state);
    if (!turn) return null;
    const parts = this.#parts(turn, effect);
    const inputTokens = inputTokenBound(askedRequest(parts));
    const facts = this.#engine.handle({ type: "call_ready", effect: effect.id, inputTokens });
    const started = facts.find((event) => event.type === "call.started" && event.call === effect.id);
    if (started?.type !== "call.started") return null;
    const toRequest = (all: AskedParts) => grantedRequest(all, started, isCapped(turn, all.agent));
    const held = holdRequest(toRequest(parts), () => toRequest(this.#parts(turn, effect)).messages);
    return { send: (signal, slot) => this.#send(effect, { held, slot, signal }) };
  }

  resumeCall(effect: ModelCallEffect): PreparedCall | null {
    const turn = runningTurn(this.#engine.state);
    const from = this.#engine.journal.points.find(effect.id);
    if (!turn || !from) return null;
    const again = () => askedRequest(this.#parts(turn, effect)); // the provider has the real one; ids that are taken are the same
    const held = holdRequest(again(), () => again().messages);
    return { send: (signal, slot) => this.#send(effect, { held, slot, signal, from }) };
  }

  performTool(effect: ToolCallEffect, signal: AbortSignal): Promise<void> {
    return this.#tools.perform(effect, signal);
  }

  onFault(error: unknown): void {
    this.#engine.fault(error);
  }

  #parts(turn: TurnState, { agent, round }: ModelCallEffect): AskedParts {
    const place = { turn: turn.number, attempt: turn.attempt.number, agent, round };
    const state = agentAt(turn.attempt, agent);
    const rules = turn.rules.agents[agent];
    return {
      records: this.#engine.journal.calls.read(place),
      agent: this.#agent(agent),
      aliases: turn.aliases,
      offers: offersOf(turn, state),
      mayResearch: rules !== undefined && state.round !== null && mayResearch(rules, state.round),
      ownTools: this.#tools.specs(agent),
    };
  }

  /** Streams one reply; what it gives is told to the rules once the call's slot is free again. */
  async #send(effect: ModelCallEffect, { held, slot, signal, from }: Sending): Promise<() => void> {
    const agent = this.#agent(effect.agent);
    const found = this.#keyOf(agent);
    if (!found.ok) {
      return () => void this.#engine.handle({ type: "call_failed", effect: effect.id, failure: found.failure });
    }
    const source = { agent: agent.id, round: effect.round, call: effect.id };
    const taken = takenCallIds(held.request.messages);
    const headers = { came: false };
    let point: ResumePoint | null = null;
    const performed = await performCall({
      provider: this.#provider(agent.backend, found.key, lettingGo(held, waitingFetch(this.#fetch, slot, headers))),
      request: held.request,
      signal,
      ...(from && { from }),
      onResumePoint: (next, alone) => {
        if (alone) this.#engine.notePoint(effect.id, next);
        else point = next;
      },
      onUsage: (usage) => this.#engine.noteUsage(effect.id, usage),
      headersCame: () => headers.came,
      onDelta: ({ kind, name, text }) => {
        const shown: DeltaKind = kind === "text" && effect.purpose === "presentation" ? "final" : kind;
        this.#engine.write({ ...source, kind: shown, ...(name === undefined ? {} : { name }) }, text, point);
        point = null;
      },
    });
    if (performed.type === "failed") {
      return () => void this.#engine.handle({ type: "call_failed", effect: effect.id, failure: performed.failure });
    }
    const items = uniqueCallIds(performed.items, taken);
    return () => this.#replied(effect, { ...performed, items });
  }

  #replied(effect: ModelCallEffect, reply: CompleteReply): void {
    const turn = runningTurn(this.#engine.state);
    const ownTools = this.#tools.specs(effect.agent).map(({ name }) => name);
    const workspaceFiles = turn && this.#engine.workspaces.count(turn, effect.agent, null);
    const told = toReply(reply, { purpose: effect.purpose, ownTools, workspaceFiles });
    const brought = { reply: { agent: effect.agent, items: [...reply.items] } };
    this.#engine.handle({ type: "call_replied", effect: effect.id, reply: told }, brought);
  }

  #provider({ format, baseUrl, host, apiVersion }: Backend, apiKey: string, fetch: typeof globalThis.fetch): Provider {
    const endpoint = { baseUrl, apiKey, fetch, host: hostById(host), apiVersion, background: this.#background };
    return withTimeLimits(createProvider(format, endpoint), CALL_TIME_LIMITS, SYSTEM_TIMERS);
  }

  #agent(index: number): TeamAgent {
    const agent = this.#engine.facts.team.agents[index];
    if (!agent) throw new Error(`no agent at index ${index}`);
    return agent;
  }
}

/** A cap is sent where somebody set one: an unknown model's own limit may be lower than any guess of ours. */
const isCapped = ({ budget }: TurnState, { backend }: TeamAgent): boolean =>
  backend.capsOutput || budget.max_cost_usd !== undefined || budget.max_tokens !== undefined;

type Sending = { held: HeldRequest; slot: Slot; signal: AbortSignal; from?: ResumePoint };

/** When a request leaves, all of it is in its body. */
const lettingGo = ({ letGo }: HeldRequest, send: typeof fetch): typeof fetch => {
  return (input, init) => {
    letGo();
    return send(input, init);
  };
};
