import type { Team, TeamAgent } from "../../src/config/team";
import { inputTokenBound, type RequestParts, toRequest } from "../../src/agents/conversation";
import { type CallRecord, renderRecords } from "../../src/agents/records";
import { toReply, uniqueCallIds } from "../../src/agents/reply";
import {
  decide,
  type Effect,
  EMPTY_WORLD,
  emptySession,
  eventsOf,
  type InputBody,
  isResearch,
  type ModelCallEffect,
  owed,
  runningTurn,
  type SessionState,
  stateAfter,
} from "../../src/coordination";
import type { HistoryEntry } from "../../src/prompts/history";
import type { EventOf, SessionEvent, StopReason } from "../../src/protocol/events";
import type { Citation, HostedUse } from "../../src/protocol/hosted-tools";
import type { TeamRules } from "../../src/protocol/team";
import type { ModelRequest, ReplyItem } from "../../src/providers/provider";

/**
 * A session without storage, network and clock. It uses the real rules and the real conversion of
 * records to requests, and a script replaces the models.
 */

type ScriptedReply = {
  items: ReplyItem[];
  stopReason?: StopReason;
  hosted?: readonly HostedUse[];
  citations?: readonly Citation[];
};
/** The reply of an agent (by index) to a request. `callNumber` counts the agent's calls from 1. */
export type Script = (agent: number, request: ModelRequest, callNumber: number) => ScriptedReply;

export type SentRequest = { agent: number; purpose: string; request: ModelRequest };

type Options = {
  team: Team;
  script: Script;
  history?: readonly HistoryEntry[];
  toolText?: (agent: number, name: string) => string;
  nonce?: (turn: unknown, agent: number) => string;
};

type Offer = Pick<
  RequestParts,
  "offers" | "forced" | "maxOutputTokens" | "hostedTools" | "research"
>;

export class TeamRun {
  readonly events: SessionEvent[] = [];
  readonly sent: SentRequest[] = [];
  /** The records of each round. A key has the form `attempt agent round`. */
  readonly conversations = new Map<string, CallRecord[]>();
  readonly #options: Options;
  readonly #calls = new Map<number, number>();
  #state: SessionState = emptySession;
  #at = 1_000_000;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Asks the team a question and plays the turn to its end. */
  ask(question: string): this {
    const { rules } = this.#options.team;
    this.#handle({
      type: "turn_requested",
      rules,
      question,
      parentTurn: null,
      budget: {},
      timeoutMs: null,
    });
    for (let step = 0; step < 2_000 && runningTurn(this.#state); step += 1) this.#step();
    if (runningTurn(this.#state)) throw new Error("the turn does not end");
    return this;
  }

  ofType<T extends SessionEvent["type"]>(type: T): EventOf<T>[] {
    return this.events.filter((event): event is EventOf<T> => event.type === type);
  }

  #step(): void {
    const effect = owed(this.#state).toSorted(
      (a, b) => this.#callsOf(a.agent) - this.#callsOf(b.agent),
    )[0];
    this.#at += 50;
    if (!effect) this.#at += 10_000;
    if (!effect) return this.#handle({ type: "clock" });
    this.#at = Math.max(this.#at, effect.type === "model_call" ? effect.notBefore : 0);
    if (effect.type === "model_call") this.#call(effect);
    else if (effect.type === "tool_listing")
      this.#handle({ type: "tools_listed", agent: effect.agent, servers: [] });
    else this.#tool(effect);
  }

  /**
   * The number of the agent's calls so far. The agent with the fewest calls makes the next call.
   */
  #callsOf(agent: number): number {
    return this.#calls.get(agent) ?? 0;
  }

  #call(effect: ModelCallEffect): void {
    const draftRequest = this.#request(effect, {
      offers: ["new_answer", "vote"],
      forced: false,
      maxOutputTokens: 0,
      hostedTools: [],
      research: false,
    });
    this.#handle({
      type: "call_ready",
      effect: effect.id,
      inputTokens: inputTokenBound(draftRequest),
    });
    const started = this.ofType("call.started").at(-1);
    if (started?.call !== effect.id) return;
    const { offers, forced, max_output_tokens: maxOutputTokens, hosted_tools = [] } = started;
    const hostedTools = hosted_tools.map(({ name, max_uses }) => ({ name, maxUses: max_uses }));
    const request = this.#request(effect, {
      offers,
      forced,
      maxOutputTokens,
      hostedTools,
      research: isResearch(started),
    });
    this.sent.push({ agent: effect.agent, purpose: effect.purpose, request });
    const callNumber = this.#callsOf(effect.agent) + 1;
    this.#calls.set(effect.agent, callNumber);
    this.#reply(effect, this.#options.script(effect.agent, request, callNumber));
  }

  #reply(effect: ModelCallEffect, scriptedReply: ScriptedReply): void {
    const earlierItems = this.#records(effect).flatMap((record) =>
      record.kind === "reply" ? record.items : [],
    );
    const ids = new Set(
      earlierItems.flatMap((item) => (item.type === "tool_call" ? [item.id] : [])),
    );
    const items = uniqueCallIds(scriptedReply.items, ids);
    const text = items.map((item) => (item.type === "text" ? item.text : "")).join("");
    const usage = { input_tokens: 10, output_tokens: 10, reasoning_tokens: 0, cached_tokens: 0 };
    const reply = toReply(
      { ...scriptedReply, items, text, stopReason: scriptedReply.stopReason ?? "stop", usage },
      { purpose: effect.purpose, ownTools: this.#toolNames(effect.agent) },
    );
    this.#handle(
      { type: "call_replied", effect: effect.id, reply },
      { reply: { agent: effect.agent, items } },
    );
  }

  #tool(effect: Extract<Effect, { type: "tool_call" }>): void {
    this.#handle({ type: "tool_ready", effect: effect.id });
    const text = this.#options.toolText?.(effect.agent, effect.name) ?? "tool output";
    const toolResult = { toolCall: effect.toolCall, text };
    this.#handle({ type: "tool_settled", effect: effect.id, outcome: "ok" }, { toolResult });
  }

  #request(effect: ModelCallEffect, offer: Offer): ModelRequest {
    const agent = this.#options.team.agents[effect.agent];
    const turn = runningTurn(this.#state);
    if (!agent || !turn) throw new Error("no such agent");
    const ownTools = this.#toolNames(effect.agent).map((name) => ({
      name,
      description: "A tool.",
      parameters: { type: "object" },
    }));
    return toRequest({
      records: this.#records(effect),
      agent,
      aliases: turn.aliases,
      ownTools,
      ...offer,
    });
  }

  #records({ agent, round }: { agent: number; round: number }): CallRecord[] {
    const attempt = runningTurn(this.#state)?.attempt.number ?? 0;
    return this.conversations.get(`${attempt} ${agent} ${round}`) ?? [];
  }

  #toolNames(agent: number): string[] {
    return this.#options.team.rules.agents[agent]?.tools.map(({ name }) => name) ?? [];
  }

  #handle(
    body: InputBody,
    inputs: Partial<Pick<Parameters<typeof renderRecords>[0], "reply" | "toolResult">> = {},
  ): void {
    const input = { ...body, at: this.#at, seed: this.#at };
    const steps = decide(this.#state, input, EMPTY_WORLD);
    const { team, nonce = agentNonce, history = [] } = this.#options;
    const records = renderRecords({
      steps,
      team,
      nonce,
      history,
      planned: [],
      reply: inputs.reply ?? null,
      toolResult: inputs.toolResult ?? null,
      cut: null,
      summary: null,
    });
    for (const { attempt, agent, round, record } of records) {
      const key = `${attempt} ${agent} ${round}`;
      this.conversations.set(key, [...(this.conversations.get(key) ?? []), record]);
    }
    this.events.push(...eventsOf(steps));
    this.#state = stateAfter(this.#state, steps);
  }
}

export const nonceOf = (agent: number): string => `n0nce${agent}x`;
/** The nonces for `renderRecords`. */
export const agentNonce = (_turn: unknown, agent: number): string => nonceOf(agent);

export const call = (name: string, args: unknown, id = `id_${name}`): ReplyItem => ({
  type: "tool_call",
  id,
  name,
  arguments: typeof args === "string" ? args : JSON.stringify(args),
});
export const answers = (content: string): ScriptedReply => ({
  items: [call("new_answer", { content })],
});
export const votes = (agent_id: string, reason = "best"): ScriptedReply => ({
  items: [call("vote", { agent_id, reason })],
});
export const says = (text: string): ScriptedReply => ({ items: [{ type: "text", text }] });

const defaultRules: Omit<TeamRules, "agents"> = {
  max_new_answers_per_agent: 5,
  max_new_answers_global: null,
  fairness_lead_cap_answers: 2,
  answer_novelty_requirement: "lenient",
  max_midstream_injections_per_round: 2,
  defer_voting_until_all_answered: false,
  skip_coordination: false,
  max_orchestration_restarts: 0,
  planning_mode: false,
  personas: false,
  orchestrator_timeout_ms: 1_800_000,
  initial_round_timeout_ms: 600_000,
};

type TeamOptions = {
  rules?: Partial<TeamRules>;
  tools?: string[];
  team?: Partial<Team>;
  agent?: Partial<TeamAgent>;
};

/** A team of agents with these ids. Prompts must not contain their ids, providers and models. */
export function teamOf(
  ids: string[],
  { rules = {}, tools = [], team = {}, agent = {} }: TeamOptions = {},
): Team {
  return {
    rules: {
      ...defaultRules,
      agents: ids.map((id) => ({
        id,
        provider: `provider-${id}`,
        model: `model-${id}`,
        context_window: 200_000,
        max_output_tokens: 4_096,
        price: null,
        forces_tools: true,
        workspace: false,
        tools: tools.map((name) => ({ name, acts_outside: false, idempotent: false })),
      })),
      ...rules,
    },
    agents: ids.map((id) => ({
      id,
      systemMessage: "You are careful.",
      votingSensitivity: "balanced",
      backend: {
        type: "chatcompletion",
        format: "openai-chat",
        model: `model-${id}`,
        baseUrl: `https://${id}.example/v1`,
        key: { from: "none" },
        capsOutput: false,
        host: "custom",
        apiVersion: null,
        hostedTools: [],
        params: { temperature: 0.2 },
      },
      ...agent,
    })),
    planningInstruction: null,
    personas: null,
    ...team,
  };
}
