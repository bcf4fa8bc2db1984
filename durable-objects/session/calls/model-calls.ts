import { expectedAttachmentTokens } from "../../../src/agents/attached";
import { Calibrations } from "../../../src/agents/calibration";
import { callIdsIn, type CompactionPlan } from "../../../src/agents/compaction";
import { estimatedInput, expectedTokens, tokensTaken } from "../../../src/agents/expected-tokens";
import { type CountedRequest, countedBy, digestOf } from "../../../src/agents/counted-request";
import { inputBound } from "../../../src/agents/input-bound";
import { type CallOptions, type Performed, performCall } from "../../../src/agents/perform-call";
import { type CompleteReply, staysItsId, toReply, uniqueCallIds } from "../../../src/agents/reply";
import { SaidText } from "../../../src/agents/said-text";
import type { Backend, TeamAgent } from "../../../src/config/team";
import {
  agentAt,
  type CallFailure,
  type ModelCallEffect,
  mayResearch,
  offersOf,
  runningTurn,
  type ToolCallEffect,
  type ToolListingEffect,
  type TurnState,
} from "../../../src/coordination";
import type { Attachment } from "../../../src/protocol/attachments";
import type { DeltaKind, EventOf } from "../../../src/protocol/events";
import { CALL_TIME_LIMITS } from "../../../src/providers/limits";
import type { Provider, ResumePoint } from "../../../src/providers/provider";
import { createProvider, hostById } from "../../../src/providers/registry";
import { SYSTEM_TIMERS, withTimeLimits } from "../../../src/providers/time-limits";
import { AttachedParts, type AttachedRequest } from "./attached-parts";
import { AgentTools } from "../tools/agent-tools";
import { type Compaction, Compactions } from "./compactions";
import type { CallSlot, Enter, Performer, PreparedCall } from "./effect-runner";
import type { Engine } from "../engine";
import type { ResultFile } from "../files/files-entry";
import { type AskedParts, askedRequest, grantedRequest } from "./granted-request";
import { type HeldRequest, holdRequest } from "./releasable-request";
import type { SessionTools } from "../tools/session-tools";
import type { OriginProbes } from "./origin-probes";
import { quotaOf, type RateWaits } from "./rate-waits";
import type { FoundKey } from "./team-keys";
import { type Progress, waitingFetch } from "./slot-fetch";
import { wholeTextOf } from "./whole-text";

type Options = {
  engine: Engine;
  /** The key for an agent's backend, or why it has none. */
  keyOf: (agent: TeamAgent) => FoundKey;
  /** Whether replies are written in the background where the endpoint can, to be taken up again after a restart. */
  background: boolean;
  /** How requests leave the service. */
  fetch: typeof fetch;
  /** Which origins `fetch` knows that it reaches; null: it probes none. */
  probes: Pick<OriginProbes, "forget" | "forgetAll"> | null;
  /** Where calls wait that have limits to keep to. */
  rates: RateWaits;
  tools: Pick<SessionTools, "toolsOf" | "list">;
  /** The bytes of what came with a question. Throws ProviderError. */
  readAttachment: (attachment: Attachment) => Promise<Uint8Array<ArrayBuffer>>;
};

/** Performs what the rules owe. Model calls: puts the request together, asks the rules, streams the reply, and tells the rules how it ended. */
export class ModelCalls implements Performer {
  readonly #engine: Engine;
  readonly #keyOf: Options["keyOf"];
  readonly #background: boolean;
  readonly #fetch: typeof fetch;
  readonly #probes: Options["probes"];
  #probedTurn = 0;
  readonly #rates: RateWaits;
  readonly #tools: AgentTools;
  readonly #listTools: SessionTools["list"];
  readonly #calibrations = new Calibrations();
  readonly #compactions: Compactions;
  readonly #attached: AttachedParts;

  constructor({ engine, keyOf, background, fetch, probes, rates, tools, readAttachment }: Options) {
    this.#engine = engine;
    this.#keyOf = keyOf;
    this.#background = background;
    this.#fetch = fetch;
    this.#probes = probes;
    this.#listTools = (effect, signal) => tools.list(effect, signal);
    this.#rates = rates;
    this.#tools = new AgentTools({
      engine,
      toolsOf: (agent) => tools.toolsOf(agent),
      fetch,
      calibrationOf: (agent) => this.#calibrations.of(agent),
    });
    this.#compactions = new Compactions(engine, (agent) => this.#calibrations.of(agent));
    this.#attached = new AttachedParts(readAttachment);
  }

  admitCall(effect: ModelCallEffect, signal: AbortSignal): Promise<void> | null {
    const turn = runningTurn(this.#engine.state);
    const agent = this.#agent(effect.agent);
    const found = agent.backend.rates && this.#keyOf(agent);
    if (!turn || !agent.backend.rates || !found?.ok) return null; // without a key it fails anyway
    const parts = this.#parts(turn, effect);
    const request = askedRequest(parts);
    const { attachments = [], tokens: mostAttached = 0 } = turn.attached ?? {};
    const attached = expectedAttachmentTokens(agent.backend.model, attachments);
    const tokens = expectedTokens(request, this.#calibrations.of(effect.agent)) + attached;
    const inputTokens = inputBound(request, parts.records) + mostAttached;
    const call = {
      endpoint: quotaOf(agent.backend, found.key),
      limits: agent.backend.rates,
      tokens,
    };
    const onWait = (until: number) =>
      void this.#engine.handle({ type: "call_held", effect: effect.id, until, inputTokens });
    return this.#rates.start(effect.id, call, { signal, onWait });
  }

  dropCall(effect: ModelCallEffect): void {
    this.#rates.giveBack(effect.id);
  }

  prepareCall(effect: ModelCallEffect): PreparedCall | null {
    const turn = runningTurn(this.#engine.state);
    if (!turn) return null;
    this.#probeAgainIn(turn.number);
    const parts = this.#parts(turn, effect);
    const inputTokens =
      inputBound(askedRequest(parts), parts.records) + (turn.attached?.tokens ?? 0);
    const compaction = this.#compactions.prepare(turn, { effect, ...parts });
    const compactionTokens = compaction && { compactionTokens: compaction.inputTokens };
    const facts = this.#engine.handle({
      type: "call_ready",
      effect: effect.id,
      inputTokens,
      ...compactionTokens,
    });
    const started = facts.find(
      (event) => event.type === "call.started" && event.call === effect.id,
    );
    if (started?.type !== "call.started") return null;
    if (compaction && started.compacts)
      return this.#compactingCall(turn, effect, { ...compaction, started });
    const toRequest = (all: AskedParts) => grantedRequest(all, started, isCapped(turn, all.agent));
    const { sent, ...attached } = this.#attachedTo(turn, effect.agent);
    const held = holdRequest(
      { ...toRequest(parts), ...attached },
      () => toRequest(this.#parts(turn, effect)).messages,
    );
    const taken = callIdsIn(parts.records);
    return {
      send: (signal, slot) => this.#send(effect, { held, sent, taken, slot, signal }).finally(sent),
    };
  }

  /** An origin is probed before its first call in a turn. */
  #probeAgainIn(turn: number): void {
    if (turn !== this.#probedTurn) this.#probes?.forgetAll();
    this.#probedTurn = turn;
  }

  #attachedTo({ number, attempt, attached }: TurnState, agent: number): AttachedRequest {
    const nonce = this.#engine.facts.nonce(number, attempt.number, agent);
    return this.#attached.for(nonce, attached?.attachments ?? []);
  }

  #compactingCall(
    turn: TurnState,
    effect: ModelCallEffect,
    { plan, request, started }: StartedCompaction,
  ): PreparedCall {
    const maxOutputTokens = isCapped(turn, this.#agent(effect.agent))
      ? started.max_output_tokens
      : null;
    const again = () =>
      this.#compactions.requestFor(turn, { effect, ...this.#parts(turn, effect) }, plan).messages;
    const held = holdRequest({ ...request, maxOutputTokens }, again);
    return {
      send: (signal, slot) =>
        this.#sum(effect, plan, { held, sent: () => undefined, slot, signal }),
    };
  }

  resumeCall(effect: ModelCallEffect): PreparedCall | null {
    const turn = runningTurn(this.#engine.state);
    const from = this.#engine.journal.points.find(effect.id);
    if (!turn || !from) return null;
    const again = () => this.#parts(turn, effect); // the provider has the real one
    const parts = again();
    const held = holdRequest(askedRequest(parts), () => askedRequest(again()).messages);
    const taken = callIdsIn(parts.records);
    return {
      send: (signal, slot) =>
        this.#send(effect, { held, sent: () => undefined, taken, slot, signal, from }),
    };
  }

  performTool(effect: ToolCallEffect, signal: AbortSignal, enter: Enter): Promise<void> {
    return this.#tools.perform(effect, signal, enter);
  }

  listTools(effect: ToolListingEffect, signal: AbortSignal): Promise<void> {
    return this.#listTools(effect, signal);
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
  async #send(
    effect: ModelCallEffect,
    { taken, ...sending }: Sending & { taken: ReadonlySet<string> },
  ): Promise<() => void> {
    const said = new SaidText();
    const { request } = sending.held;
    const estimated = estimatedInput(request);
    const digest = sending.from ? null : digestOf(request); // of a reply taken up again, the request left before a restart
    const performed = await this.#perform(
      effect,
      sending,
      this.#listeners(effect, { said, taken }),
    );
    if (performed.type === "failed") return () => this.#failed(effect, performed.failure, said);
    const turn = runningTurn(this.#engine.state);
    // What images come to is nobody's guess: only text says how a model counts it.
    if (!turn?.attached) this.#calibrations.note(effect.agent, estimated, performed.usage);
    const items = uniqueCallIds(performed.items, taken);
    const counted = digest && countedBy(digest, performed.usage);
    const wholeText = await wholeTextOf(this.#engine, {
      effect,
      text: performed.text,
      signal: sending.signal,
    });
    return () => this.#replied(effect, { ...performed, items }, { counted, wholeText });
  }

  /** Has the older part of a conversation summed up. Nobody is shown the text: it is no part of the agent's reply. */
  async #sum(effect: ModelCallEffect, plan: CompactionPlan, sending: Sending): Promise<() => void> {
    const performed = await this.#perform(effect, sending, { onDelta: () => {} });
    if (performed.type === "failed") {
      return () =>
        void this.#engine.handle({
          type: "call_failed",
          effect: effect.id,
          failure: performed.failure,
        });
    }
    return () => {
      const { told, brought } = this.#compactions.toReply(plan, effect, performed);
      this.#engine.handle({ type: "call_replied", effect: effect.id, reply: told }, brought);
    };
  }

  #listeners(
    effect: ModelCallEffect,
    { said, taken }: { said: SaidText; taken: ReadonlySet<string> },
  ): Listeners {
    const source = { agent: this.#agent(effect.agent).id, round: effect.round, call: effect.id };
    let point: ResumePoint | null = null;
    return {
      onResumePoint: (next, alone) => {
        if (alone) this.#engine.notePoint(effect.id, next);
        else point = next;
      },
      onDelta: ({ kind, name, toolIndex, toolId, text }) => {
        if (kind !== "reasoning") said.add(text);
        const shown: DeltaKind =
          kind === "text" && effect.purpose === "presentation" ? "final" : kind;
        const tool = {
          ...(name !== undefined && { name }),
          ...(toolIndex !== undefined && { tool_index: toolIndex }),
          ...(toolId !== undefined && staysItsId(toolId, taken) && { tool_call: toolId }),
        };
        this.#engine.write({ ...source, kind: shown, ...tool }, text, point);
        point = null;
      },
    };
  }

  async #perform(
    effect: ModelCallEffect,
    { held, sent, slot, signal, from }: Sending,
    listeners: Listeners,
  ): Promise<Performed> {
    const agent = this.#agent(effect.agent);
    const found = this.#keyOf(agent);
    if (!found.ok) return { type: "failed", failure: found.failure };
    const progress: Progress = { sent: 0 };
    let tokens: number | null = null;
    try {
      const performed = await performCall({
        provider: this.#provider(
          agent.backend,
          found.key,
          lettingGo({ held, sent, slot }, waitingFetch(this.#fetch, slot, progress)),
        ),
        request: held.request,
        signal,
        ...(from && { from }),
        ...listeners,
        onUsage: (usage) => {
          tokens = tokensTaken(usage);
          this.#engine.noteUsage(effect.id, usage);
        },
        wasSent: () => progress.sent > 0,
      });
      tokens = takenBy(performed) ?? tokens;
      if (isTransient(performed)) this.#probes?.forget(agent.backend.baseUrl);
      return performed;
    } finally {
      const wasSent = from !== undefined || progress.sent > 0; // else it gives back what it took, as it is dropped
      if (agent.backend.rates && wasSent)
        this.#rates.settle(effect.id, quotaOf(agent.backend, found.key), tokens);
    }
  }

  /** A call that was too long may be made again, shorter: then what it had written is kept, to be summed up with the rest. */
  #failed(effect: ModelCallEffect, failure: CallFailure, said: SaidText): void {
    const turn = runningTurn(this.#engine.state);
    if (!turn || failure.class !== "context_too_long") {
      this.#engine.handle({ type: "call_failed", effect: effect.id, failure });
      return;
    }
    const { records } = this.#parts(turn, effect);
    const compactible = this.#compactions.isPossible({ effect, records });
    const cut = { agent: effect.agent, text: said.text };
    this.#engine.handle(
      { type: "call_failed", effect: effect.id, failure: { ...failure, compactible } },
      { cut },
    );
  }

  #replied(effect: ModelCallEffect, reply: CompleteReply, { counted, wholeText }: Aside): void {
    const ownTools = this.#tools.specs(effect.agent).map(({ name }) => name);
    const told = {
      ...toReply(reply, { purpose: effect.purpose, ownTools }),
      ...(wholeText && { storable: true }),
    };
    const brought = {
      reply: { agent: effect.agent, items: [...reply.items], ...(counted && { counted }) },
      wholeText,
    };
    this.#engine.handle({ type: "call_replied", effect: effect.id, reply: told }, brought);
  }

  #provider(
    { format, baseUrl, host, apiVersion }: Backend,
    apiKey: string,
    fetch: typeof globalThis.fetch,
  ): Provider {
    const endpoint = {
      baseUrl,
      apiKey,
      fetch,
      host: hostById(host),
      apiVersion,
      background: this.#background,
    };
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

/** What a lost connection looks like, among other things. */
const isTransient = (performed: Performed): boolean =>
  performed.type === "failed" && performed.failure.class === "transient";

const takenBy = (performed: Performed): number | null => {
  if (performed.type === "replied") return tokensTaken(performed.usage);
  const { usage, reached } = performed.failure;
  return reached ? tokensTaken(usage) : (tokensTaken(usage) ?? 0);
};

/** What comes with a reply and is not for the rules. */
type Aside = { counted: CountedRequest | null; wholeText: ResultFile | null };

type StartedCompaction = Compaction & { started: EventOf<"call.started"> };

type Listeners = Pick<CallOptions, "onDelta" | "onResumePoint">;

/** `sent`: to be told that the request leaves. */
type Sending = {
  held: HeldRequest;
  sent: () => void;
  slot: CallSlot;
  signal: AbortSignal;
  from?: ResumePoint;
};

/** When a request leaves, all of it is in its body. */
const lettingGo = (
  { held, sent, slot }: Pick<Sending, "held" | "sent" | "slot">,
  send: typeof fetch,
): typeof fetch => {
  return (input, init) => {
    held.letGo();
    sent();
    slot.onSent();
    return send(input, init);
  };
};
