import type { ResultFile, SessionInputs } from "../../../src/engine/ports";
import type { CompactionPlan } from "../../../src/agents/compaction";
import type { CountedRequest } from "../../../src/agents/counted-request";
import { type CompleteReply, toReply } from "../../../src/agents/reply";
import {
  type CallFailure,
  isLongFinal,
  type ModelCallEffect,
  runningTurn,
} from "../../../src/coordination";
import { logError } from "../../../src/redaction/log";
import { hashOf } from "../../../src/workspace/snapshot";
import { FILES } from "../../shared/limits";
import type { Workspaces } from "../files/workspaces";
import type { CallRequests } from "./call-requests";
import type { Compactions } from "./compactions";

type Options = {
  session: SessionInputs;
  sessionId: string;
  requests: Pick<CallRequests, "parts">;
  compactions: Compactions;
  workspaces: Pick<Workspaces, "has" | "spill">;
  /** Names of the agent's own tools. */
  toolNamesOf: (agent: number) => readonly string[];
};

/** What belongs to a reply and is not for the rules. */
export type ReplyExtras = { counted: CountedRequest | null; wholeText: ResultFile | null };

/** Reports to the rules how calls ended. */
export class CallOutcomes {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  replied(
    effect: ModelCallEffect,
    reply: CompleteReply,
    { counted, wholeText }: ReplyExtras,
  ): void {
    const { session, toolNamesOf } = this.#options;
    const result = {
      ...toReply(reply, { purpose: effect.purpose, ownTools: toolNamesOf(effect.agent) }),
      ...(wholeText && { storable: true }),
    };
    const payload = {
      reply: { agent: effect.agent, items: [...reply.items], ...(counted && { counted }) },
      wholeText,
    };
    session.handle({ type: "call_replied", effect: effect.id, reply: result }, payload);
  }

  /** The reply of a call that sums up. */
  summedUp(plan: CompactionPlan, effect: ModelCallEffect, reply: CompleteReply): void {
    const { result, payload } = this.#options.compactions.toReply(plan, effect, reply);
    this.#options.session.handle(
      { type: "call_replied", effect: effect.id, reply: result },
      payload,
    );
  }

  failed(effect: ModelCallEffect, failure: CallFailure): void {
    this.#options.session.handle({ type: "call_failed", effect: effect.id, failure });
  }

  /**
   * The failure of a call that streamed `text`. A call whose conversation was too long may be made
   * again with a shorter one: then the text is kept, to be summed up with the rest.
   */
  failedAfter(effect: ModelCallEffect, failure: CallFailure, text: string): void {
    const { session, requests, compactions } = this.#options;
    const turn = runningTurn(session.state);
    if (!turn || failure.class !== "context_too_long") return this.failed(effect, failure);
    const { records } = requests.parts(turn, effect);
    const compactible = compactions.isPossible({ effect, records });
    const cut = { agent: effect.agent, text };
    session.handle(
      { type: "call_failed", effect: effect.id, failure: { ...failure, compactible } },
      { cut },
    );
  }

  /**
   * The text of a presenter's reply that is too long to be shown whole, as a file that is written
   * with the reply. `null` if the text is short enough, its author has no workspace, or the text
   * cannot be kept.
   */
  async wholeText(
    effect: ModelCallEffect,
    text: string,
    signal: AbortSignal,
  ): Promise<ResultFile | null> {
    const { session, workspaces, sessionId } = this.#options;
    const turn = runningTurn(session.state);
    if (effect.purpose !== "presentation" || !isLongFinal(text)) return null;
    if (!turn || !workspaces.has(turn, effect.agent)) return null;
    const bytes = new TextEncoder().encode(text);
    if (bytes.byteLength > FILES.fileBytes) return null;
    const whole = { name: "final.txt", hash: await hashOf(bytes), bytes };
    try {
      await workspaces.spill({ staged: null, results: [whole] }, signal);
      return whole;
    } catch (error) {
      // The reply must not be lost with its file: the shown text says that the rest is not kept.
      if (!signal.aborted) logError("a long final text was not kept", sessionId, error);
      return null;
    }
  }
}
