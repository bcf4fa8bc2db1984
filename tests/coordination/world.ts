import {
  decide,
  type Effect,
  emptySession,
  eventsOf,
  type HistoryFacts,
  type InputBody,
  inFlight,
  nextTimerAt,
  owed,
  runningTurn,
  type SessionState,
  stateAfter,
  type Step,
  type TurnState,
  type WorkspaceFacts,
} from "../../src/coordination";
import {
  type EventOf,
  type EventType,
  type PinnedContext,
  isTerminal,
  type Purpose,
  type FileAccess,
  type SessionEvent,
  type Usage,
} from "../../src/protocol/events";
import type { AgentRules, Budget, TeamRules, ToolRule } from "../../src/protocol/team";
import type { TurnTeam } from "../../src/protocol/turn-team";
import type { ToolNotification } from "../../src/protocol/events/tool";
import { agentRules, listing, type Move, says, teamRules } from "./builders";
import { checkSteps } from "./step-check";
import { owedLines } from "./event-lines";

export const START = 1_800_000_000_000;
const MAX_STEPS = 20_000;
/** Inputs up to this number are all checked. Of later inputs, only every 25th is checked. */
const ALL_CHECKED = 200;
const SAMPLE_INTERVAL = 25;

export type WorldOptions = {
  agents?: string[];
  rules?: Partial<TeamRules>;
  /** Rules of every agent. */
  every?: Partial<AgentRules>;
  /** Rules of single agents, by id. They override `every`. */
  each?: Record<string, Partial<AgentRules>>;
  budget?: Budget;
  contexts?: readonly PinnedContext[];
  /** The turns that the question continues. */
  history?: HistoryFacts;
  /** `compact`: instead of a question, the user has the conversation summarised. */
  kind?: "compact";
  seed?: number;
};

/** An agent's moves, one for each call; the last move is repeated. */
export type Script = Move[] | Partial<Record<Purpose, Move[]>>;

type Pending = { at: number; effect: Effect; deliver: () => InputBody };

/**
 * A session with a virtual clock: the rules with a minimal shell. A test gives its inputs one by
 * one (`does`, `wait`) or as scripts of the agents (`play`). After each input, invariants are
 * checked.
 */
export class World {
  state: SessionState = emptySession;
  readonly log: SessionEvent[] = [];
  /** The step of each event in the log. */
  readonly steps: Step[] = [];
  readonly ids: string[];
  readonly rules: TeamRules;
  now = START;
  /** Text that the agents have streamed so far, by agent id. */
  writing: Record<string, string> = {};
  /** Usage that calls in flight have reported so far, by effect id. */
  reported: Record<string, Usage> = {};
  /** Input tokens of each call's request. */
  inputTokens = 1_000;
  /** How long each tool runs in `play`. */
  toolMs = 100;
  /** The workspace of every agent; `null` if nothing is known about it. */
  files: WorkspaceFacts | null = null;
  /** Workspaces by agent index, used instead of `files`. Other agents have no workspace. */
  filesByAgent: Readonly<Record<number, WorkspaceFacts>> | null = null;
  /** Returns the agent's workspace at this input. For tests with real workspaces. */
  filesBy: ((body: InputBody, agent: number) => WorkspaceFacts | null) | null = null;
  readonly #budget: Budget;
  readonly #contexts: readonly PinnedContext[];
  readonly #asked: Pick<WorldOptions, "history" | "kind">;
  #seed: number;
  #inputCount = 0;
  #pending: Pending[] = [];
  #moveCounts: Record<string, number> = {};

  constructor({
    agents = ["a", "b", "c"],
    rules = {},
    every = {},
    each = {},
    budget = {},
    contexts = [],
    seed = 1,
    ...asked
  }: WorldOptions = {}) {
    this.ids = agents;
    this.rules = teamRules(
      agents.map((id) => agentRules(id, { ...every, ...each[id] })),
      rules,
    );
    this.#budget = budget;
    this.#contexts = contexts;
    this.#asked = asked;
    this.#seed = seed;
  }

  /** The user asks a question, also with another team or with overrides. Returns the events. */
  ask(question = "What is best?", asked: TurnTeam = {}): SessionEvent[] {
    const rules = asked.rules ?? (this.state.rules ? null : this.rules);
    const options = { budget: this.#budget, contexts: this.#contexts };
    return this.give({
      type: "turn_requested",
      rules,
      question,
      parentTurn: null,
      timeoutMs: null,
      ...options,
      ...this.#asked,
      ...(asked.overrides && { overrides: asked.overrides }),
    });
  }

  /** Passes an input to the rules. Returns the events. */
  give(body: InputBody): SessionEvent[] {
    const before = this.state;
    const steps = decide(
      before,
      { ...body, at: this.now, seed: this.#seed++ },
      {
        partial: (agent) => this.writing[this.ids[agent] ?? ""] ?? null,
        workspace: (agent) => this.#workspace(body, agent),
        usage: (call) => this.reported[call] ?? null,
      },
    );
    const events = eventsOf(steps);
    this.state = stateAfter(before, steps);
    this.log.push(...events);
    this.steps.push(...steps);
    this.#inputCount += 1;
    if (this.#inputCount <= ALL_CHECKED || this.#inputCount % SAMPLE_INTERVAL === 0)
      checkSteps(before, steps);
    return events;
  }

  #workspace(body: InputBody, agent: number): WorkspaceFacts | null {
    if (this.filesBy) return this.filesBy(body, agent);
    return this.filesByAgent ? (this.filesByAgent[agent] ?? null) : this.files;
  }

  /**
   * Ends the agent's call with this move; sends the call first if necessary. The tools of the reply
   * stay owed. `files` becomes the workspace of every agent.
   */
  does(id: string, move: Move, files?: WorkspaceFacts): SessionEvent[] {
    this.starts(id);
    if (files) this.files = files;
    const effect = this.callOf(id);
    const { what } = move(this.#acting(id));
    if (!what) return [];
    return this.give(
      "reply" in what
        ? { type: "call_replied", effect, ...what }
        : { type: "call_failed", effect, ...what },
    );
  }

  /** Sends the agent's owed call, if there is one. */
  starts(id: string): SessionEvent[] {
    const index = this.ids.indexOf(id);
    const effect = owed(this.state).find(
      (effect) => effect.type === "model_call" && effect.agent === index,
    );
    return effect
      ? this.give({ type: "call_ready", effect: effect.id, inputTokens: this.inputTokens })
      : [];
  }

  /** Settles the agent's running tool, or starts and settles its next owed tool. */
  tool(
    id: string,
    outcome: "ok" | "error" | "unknown" = "ok",
    accesses?: readonly FileAccess[],
  ): SessionEvent[] {
    const effect = this.#inFlightOf(id, "tool_call") ?? this.startsTool(id);
    return this.give({ type: "tool_settled", effect, outcome, ...(accesses && { accesses }) });
  }

  /** The agent's running tool, or else its next owed tool, sends a notification. */
  notifies(id: string, notification: ToolNotification): SessionEvent[] {
    const effect = this.#inFlightOf(id, "tool_call") ?? this.startsTool(id);
    return this.give({ type: "tool_notified", effect, notification });
  }

  /**
   * Lists the tools of these servers for the agent. `tools` is `null` if the server cannot be
   * reached. An empty list stands for all servers of the agent, each without tools.
   */
  lists(
    id: string,
    servers: readonly { server: string; tools: readonly ToolRule[] | null }[],
  ): SessionEvent[] {
    const agent = this.ids.indexOf(id);
    const all = this.rules.agents[agent]?.tool_servers ?? [];
    const listed = servers.length > 0 ? servers : all.map((server) => ({ server, tools: [] }));
    return this.give({
      type: "tools_listed",
      agent,
      servers: listed.map(({ server, tools }) => listing(server, tools)),
    });
  }

  /** Starts the agent's next owed tool. Returns its effect id. */
  startsTool(id: string): string {
    const effect = owed(this.state).find(
      (effect) => effect.type === "tool_call" && effect.agent === this.ids.indexOf(id),
    );
    if (!effect) throw new Error(`no tool of ${id} is owed`);
    this.give({ type: "tool_ready", effect: effect.id });
    return effect.id;
  }

  /** A restart of the service: interrupts all effects in flight. */
  interrupt(): SessionEvent[] {
    return inFlight(this.state).flatMap((effect) =>
      this.give({ type: "effect_interrupted", effect }),
    );
  }

  /**
   * Advances the time by `ms`. Gives a `clock` input at each timer before the end, and at the end.
   */
  wait(ms: number): SessionEvent[] {
    const end = this.now + ms;
    const events: SessionEvent[] = [];
    for (let timer = this.#timer(); timer !== null && timer <= end; timer = this.#timer()) {
      if (timer < this.now) throw new Error("a handled timer is due again");
      this.now = timer;
      events.push(...this.give({ type: "clock" }));
    }
    this.now = end;
    return [...events, ...this.give({ type: "clock" })];
  }

  /**
   * Plays the scripts until the turn ends. Throws if the turn still runs and no event can follow.
   */
  play(scripts: Record<string, Script>): SessionEvent[] {
    const from = this.log.length;
    if (!runningTurn(this.state)) this.ask();
    for (let step = 0; runningTurn(this.state); step += 1) {
      if (step > MAX_STEPS) throw new Error("the turn does not end");
      if (!this.#sendOwed(scripts)) this.#advance();
    }
    return this.log.slice(from);
  }

  alias = (id: string): string => this.turn.aliases[this.ids.indexOf(id)] ?? id;

  get turn(): TurnState {
    if (!this.state.turn) throw new Error("no turn yet");
    return this.state.turn;
  }

  agent(id: string) {
    const agent = this.turn.attempt.agents[this.ids.indexOf(id)];
    if (!agent) throw new Error(`no agent ${id}`);
    return agent;
  }

  /** The owed effects as short lines. */
  owes = (): string[] => owedLines(owed(this.state), this.ids, this.now);

  events<T extends EventType>(type: T): EventOf<T>[] {
    return this.log.filter((event): event is EventOf<T> => event.type === type);
  }

  /** The last event of the turn. */
  get ending(): SessionEvent {
    const last = this.log.at(-1);
    if (!last || !isTerminal(last.type)) throw new Error("the turn has not ended");
    return last;
  }

  /** The effect id of the agent's call in flight. */
  callOf(id: string): string {
    const effectId = this.#inFlightOf(id, "model_call");
    if (!effectId) throw new Error(`${id} has no call in flight`);
    return effectId;
  }

  #inFlightOf(id: string, type: Effect["type"]): string | undefined {
    const entries = Object.entries(this.turn.inFlight);
    return entries.find(([, entry]) => entry.type === type && this.ids[entry.agent] === id)?.[0];
  }

  #acting(id: string) {
    this.#moveCounts[id] = (this.#moveCounts[id] ?? 0) + 1;
    return { id, alias: this.alias, nth: this.#moveCounts[id] };
  }

  #timer = (): number | null => nextTimerAt(this.state, this.now);

  /** Sends the first owed effect that is due and not sent yet. Returns false if there is none. */
  #sendOwed(scripts: Record<string, Script>): boolean {
    const sent = new Set(this.#pending.map(({ effect }) => effect.id));
    const effect = owed(this.state).find(
      (effect) =>
        !sent.has(effect.id) && (effect.type !== "model_call" || effect.notBefore <= this.now),
    );
    if (!effect) return false;
    if (effect.type === "tool_call") this.#sendTool(effect);
    else if (effect.type === "tool_listing") this.lists(this.ids[effect.agent] ?? "", []);
    else this.#sendCall(effect, scripts);
    return true;
  }

  #sendTool(effect: Effect): void {
    this.give({ type: "tool_ready", effect: effect.id });
    const settled: InputBody = { type: "tool_settled", effect: effect.id, outcome: "ok" };
    this.#pending.push({ at: this.now + this.toolMs, effect, deliver: () => settled });
  }

  #sendCall(effect: Effect & { type: "model_call" }, scripts: Record<string, Script>): void {
    this.give({ type: "call_ready", effect: effect.id, inputTokens: this.inputTokens });
    if (!inFlight(this.state).includes(effect.id)) return;
    const id = this.ids[effect.agent] ?? "";
    const acting = this.#acting(id);
    const { afterMs, what } = nextMove(scripts[id], effect.purpose)(acting);
    const at = what ? this.now + afterMs : Number.POSITIVE_INFINITY;
    const deliver = (): InputBody =>
      what && "reply" in what
        ? { type: "call_replied", effect: effect.id, ...what }
        : { type: "call_failed", effect: effect.id, failure: what?.failure ?? neverHappens() };
    this.#pending.push({ at, effect, deliver });
  }

  /** Advances the time to the next end of an effect or to the next timer. */
  #advance(): void {
    const running = new Set(inFlight(this.state));
    this.#pending = this.#pending
      .filter(({ effect }) => running.has(effect.id))
      .sort((a, b) => a.at - b.at);
    const first = this.#pending[0];
    const timer = this.#timer() ?? Number.POSITIVE_INFINITY;
    const at = Math.min(first?.at ?? Number.POSITIVE_INFINITY, timer);
    if (timer < this.now) throw new Error("a handled timer is due again");
    if (at === Number.POSITIVE_INFINITY) throw new Error("nothing can happen any more");
    this.now = Math.max(this.now, at);
    if (!first || first.at > timer) this.give({ type: "clock" });
    else this.give(this.#pending.shift()?.deliver() ?? neverHappens());
  }
}

/** Removes the next move from the script and returns it. The last move is not removed. */
function nextMove(script: Script | undefined, purpose: Purpose): Move {
  const moves = Array.isArray(script)
    ? purpose === "coordination"
      ? script
      : undefined
    : script?.[purpose];
  const move = moves && moves.length > 1 ? moves.shift() : moves?.[0];
  if (move) return move;
  if (purpose === "coordination") throw new Error("an agent without a script was called");
  return says(`the ${purpose}`);
}

function neverHappens(): never {
  throw new Error("delivered what never ends");
}
