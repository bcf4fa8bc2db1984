import { expectedAttachmentTokens } from "../../../src/agents/attached";
import { Calibrations, estimatedInput, expectedTokens } from "../../../src/agents/token-estimates";
import { countedBy, digestOf } from "../../../src/agents/counted-request";
import { inputBound } from "../../../src/agents/input-bound";
import { uniqueCallIds } from "../../../src/agents/reply";
import { StreamedText } from "../../../src/agents/streamed-text";
import type { TeamAgent } from "../../../src/config/team";
import {
  type ModelCallEffect,
  runningTurn,
  type ToolCallEffect,
  type ToolListingEffect,
} from "../../../src/coordination";
import type {
  AcquireSlot,
  Performer,
  PreparedCall,
  SessionInputs,
  StreamInputs,
} from "../../../src/engine/ports";
import type { Attachment } from "../../../src/protocol/attachments";
import { fetchOf, type NetworkOver } from "../../shared/outgoing";
import { AgentTools } from "../tools/agent-tools";
import type { SessionTools } from "../tools/session-tools";
import { perTeam } from "../per-team";
import type { SessionFacts } from "../session-facts";
import type { Workspaces } from "../files/workspaces";
import type { ResumePoints } from "../log/resume-points";
import { CallOutcomes } from "./call-outcomes";
import { CallRequests, type StartedCall } from "./call-requests";
import type { CallStore } from "./call-store";
import { type Compaction, Compactions } from "./compactions";
import { largestRequest } from "./granted-request";
import type { OriginProbes } from "./origin-probes";
import { quotaOf, type RateWaits } from "./rate-waits";
import type { CallRelay } from "./relays";
import { ReplyStreams, type OutgoingRequest } from "./reply-streams";
import type { FoundKey } from "./team-keys";

type Options = {
  session: SessionInputs & StreamInputs;
  facts: SessionFacts;
  calls: CallStore;
  points: Pick<ResumePoints, "find">;
  workspaces: Workspaces;
  /** Unix ms, by the session's clock. */
  now: () => number;
  /** The key for an agent's backend, or why there is none. */
  keyOf: (agent: TeamAgent) => FoundKey;
  /**
   * Whether calls request background replies from endpoints that support them. Such a call can be
   * resumed after a restart.
   */
  background: boolean;
  /** Guards and sends requests, over a `fetch` of the runtime. */
  networkOver: NetworkOver;
  /** The relay with this number, for one call. */
  relayOf: (relay: number) => CallRelay;
  /** The probes of the network's guard; `null` if the guard probes no origins. */
  probes: Pick<OriginProbes, "forget" | "forgetAll"> | null;
  /** Admits calls within the rate limits of their backends. */
  rates: RateWaits;
  tools: Pick<SessionTools, "toolsOf" | "list">;
  /** Throws ProviderError. */
  readAttachment: (attachment: Attachment) => Promise<Uint8Array<ArrayBuffer>>;
};

/**
 * Performs effects. A model call takes these steps: the rate limits admit it, its request is
 * prepared, the rules start it, it is sent, and its end is reported to the rules.
 */
export class ModelCalls implements Performer {
  readonly #session: SessionInputs;
  readonly #points: Options["points"];
  readonly #keyOf: Options["keyOf"];
  readonly #probes: Options["probes"];
  #probedTurn = 0;
  readonly #rates: RateWaits;
  readonly #tools: AgentTools;
  readonly #listTools: SessionTools["list"];
  readonly #calibrations: () => Calibrations;
  readonly #compactions: Compactions;
  readonly #requests: CallRequests;
  readonly #replies: ReplyStreams;
  readonly #outcomes: CallOutcomes;

  constructor({ tools, readAttachment, points, ...options }: Options) {
    const { session, facts, calls, workspaces, now, keyOf, probes, rates } = options;
    const { teams, nonce, sessionId } = facts;
    const team = () => teams.current();
    this.#calibrations = perTeam(team, () => new Calibrations());
    const calibrationOf = (agent: number) => this.#calibrations().of(agent);
    this.#session = session;
    this.#points = points;
    this.#keyOf = keyOf;
    this.#probes = probes;
    this.#rates = rates;
    this.#listTools = (effect, signal) => tools.list(effect, signal);
    this.#tools = new AgentTools({
      ...{ session, sessionId, team, calls, workspaces, now, calibrationOf },
      fetchOver: (relay) => fetchOf(options.networkOver(options.relayOf(relay).fetch)),
      toolsOf: (agent) => tools.toolsOf(agent),
    });
    const specsOf = (agent: number) => this.#tools.specs(agent);
    this.#compactions = new Compactions({ session, nonce, calibrationOf });
    this.#requests = new CallRequests({ team, nonce, calls, specsOf, readAttachment });
    this.#replies = new ReplyStreams(options);
    this.#outcomes = new CallOutcomes({
      ...{ session, sessionId, workspaces },
      requests: this.#requests,
      compactions: this.#compactions,
      toolNamesOf: (agent) => specsOf(agent).map(({ name }) => name),
    });
  }

  admitCall(effect: ModelCallEffect, signal: AbortSignal): Promise<void> | null {
    const turn = runningTurn(this.#session.state);
    const agent = this.#requests.agent(effect.agent);
    const foundKey = agent.backend.rates && this.#keyOf(agent);
    // Without a key the call will fail, so it need not wait for a rate limit.
    if (!turn || !agent.backend.rates || !foundKey?.ok) return null;
    const parts = this.#requests.parts(turn, effect);
    const request = largestRequest(parts);
    const attached = effect.purpose === "summary" ? null : turn.attached;
    const { attachments = [], tokens: maxAttachmentTokens = 0 } = attached ?? {};
    const attachmentTokens = expectedAttachmentTokens(agent.backend.model, attachments);
    const tokens =
      expectedTokens(request, this.#calibrations().of(effect.agent)) + attachmentTokens;
    const inputTokens = inputBound(request, parts.records) + maxAttachmentTokens;
    const call = {
      endpoint: quotaOf(agent.backend, foundKey.key),
      limits: agent.backend.rates,
      tokens,
    };
    const onWait = (until: number) =>
      void this.#session.handle({ type: "call_held", effect: effect.id, until, inputTokens });
    return this.#rates.start(effect.id, call, { signal, onWait });
  }

  dropCall(effect: ModelCallEffect): void {
    this.#rates.release(effect.id);
  }

  prepareCall(effect: ModelCallEffect): PreparedCall | null {
    const turn = runningTurn(this.#session.state);
    if (!turn) return null;
    this.#renewProbes(turn.number);
    const parts = this.#requests.parts(turn, effect);
    const inputTokens = this.#requests.inputTokens(turn, effect, parts);
    const compaction = this.#compactions.prepare(turn, { effect, ...parts });
    const compactionTokens = compaction && { compactionTokens: compaction.inputTokens };
    const facts = this.#session.handle({
      type: "call_ready",
      effect: effect.id,
      inputTokens,
      ...compactionTokens,
    });
    const started = facts.find(
      (event) => event.type === "call.started" && event.call === effect.id,
    );
    if (started?.type !== "call.started") return null;
    const call = { turn, effect, started };
    if (compaction && started.compacts) return this.#compactingCall(call, compaction);
    const { takenIds, ...prepared } = this.#requests.granted(call, parts);
    return {
      send: (signal, slot) =>
        this.#send(effect, { ...prepared, slot, signal }, takenIds).finally(prepared.sent),
    };
  }

  /** Forgets all probes when a new turn begins, so that each origin is probed again. */
  #renewProbes(turn: number): void {
    if (turn !== this.#probedTurn) this.#probes?.forgetAll();
    this.#probedTurn = turn;
  }

  #compactingCall(call: StartedCall, { plan, request }: Compaction): PreparedCall {
    const { turn, effect } = call;
    const rebuild = () =>
      this.#compactions.requestFor(turn, { effect, ...this.#requests.parts(turn, effect) }, plan);
    const { releasable, sent } = this.#requests.compacting(call, request, rebuild);
    return {
      send: (signal, slot) => this.#summarize(effect, plan, { releasable, sent, slot, signal }),
    };
  }

  resumeCall(effect: ModelCallEffect): PreparedCall | null {
    const turn = runningTurn(this.#session.state);
    const from = this.#points.find(effect.id);
    if (!turn || !from) return null;
    const { takenIds, ...prepared } = this.#requests.resumed(turn, effect);
    return {
      send: (signal, slot) => this.#send(effect, { ...prepared, slot, signal, from }, takenIds),
    };
  }

  performTool(
    effect: ToolCallEffect,
    signal: AbortSignal,
    acquireSlot: AcquireSlot,
  ): Promise<(() => void) | undefined> {
    return this.#tools.perform(effect, signal, acquireSlot);
  }

  listTools(effect: ToolListingEffect, signal: AbortSignal): Promise<void> {
    return this.#listTools(effect, signal);
  }

  /**
   * Sends a call and streams its reply. Returns a function that reports the end of the call; it is
   * to be called once the call's slot is free.
   */
  async #send(
    effect: ModelCallEffect,
    sending: OutgoingRequest,
    takenIds: ReadonlySet<string>,
  ): Promise<() => void> {
    const streamed = new StreamedText();
    // Those of this turn, also if another turn with another team is running at the end of the call.
    const calibrations = this.#calibrations();
    const { request } = sending.releasable;
    const call = { effect, agent: this.#requests.agent(effect.agent) };
    const estimated = estimatedInput(request);
    // The original request of a resumed call is unknown: it was sent before the restart.
    const digest = sending.from ? null : digestOf(request);
    const performed = await this.#replies.stream(
      call,
      sending,
      // A summary is part of no answer: its event shows it when it is complete.
      effect.purpose === "summary"
        ? { onDelta: () => {} }
        : this.#replies.listeners(call, { streamed, takenIds }),
    );
    if (performed.type === "failed")
      return () => this.#outcomes.failedAfter(effect, performed.failure, streamed.text);
    const turn = runningTurn(this.#session.state);
    // Only text calibrates the estimate: the tokens of images cannot be estimated.
    if (!turn?.attached) calibrations.note(effect.agent, estimated, performed.usage);
    const items = uniqueCallIds(performed.items, takenIds);
    const counted = digest && countedBy(digest, performed.usage);
    const wholeText = await this.#outcomes.wholeText(effect, performed.text, sending.signal);
    return () => this.#outcomes.replied(effect, { ...performed, items }, { counted, wholeText });
  }

  /**
   * Sends a call that summarises the older part of a conversation. The summary is not streamed to
   * readers, because it is not part of the agent's reply.
   */
  async #summarize(
    effect: ModelCallEffect,
    plan: Compaction["plan"],
    sending: OutgoingRequest,
  ): Promise<() => void> {
    const call = { effect, agent: this.#requests.agent(effect.agent) };
    const performed = await this.#replies.stream(call, sending, { onDelta: () => {} });
    return performed.type === "failed"
      ? () => this.#outcomes.failed(effect, performed.failure)
      : () => this.#outcomes.summarized(plan, effect, performed);
  }
}
