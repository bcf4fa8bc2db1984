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
import { FILES } from "../../shared/object-limits";
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

/**
 * Parts of a reply that the rules do not need. `counted`: the request with the provider's token
 * count; `null` if the provider reported none. `wholeText`: see `CallOutcomes.wholeText`.
 */
type ReplyExtras = { counted: CountedRequest | null; wholeText: ResultFile | null };

/** Reports the end of each call to the rules. */
export class CallOutcomes {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Reports a complete reply. */
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

  /** Reports the reply of a call that summarises a conversation. */
  summarized(plan: CompactionPlan, effect: ModelCallEffect, reply: CompleteReply): void {
    const { result, payload } = this.#options.compactions.toReply(plan, effect, reply);
    this.#options.session.handle(
      { type: "call_replied", effect: effect.id, reply: result },
      payload,
    );
  }

  /** Reports a failed call. */
  failed(effect: ModelCallEffect, failure: CallFailure): void {
    this.#options.session.handle({ type: "call_failed", effect: effect.id, failure });
  }

  /**
   * Reports the failure of a call that streamed `text` before it failed. If the conversation was
   * too long, the call may be repeated with a shorter conversation. In this case `text` is stored
   * and summarised with the rest.
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
   * The file with the whole text of a presenter's reply that is too long to be shown whole. The
   * file is stored with the reply. `null` if the text is short enough, the presenter has no
   * workspace, or the file cannot be stored.
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
    const file = { name: "final.txt", hash: await hashOf(bytes), bytes };
    try {
      await workspaces.spill({ staged: null, results: [file] }, signal);
      return file;
    } catch (error) {
      // The reply must not be lost with its file: the shown text says that the rest is not stored.
      if (!signal.aborted) logError("a long final text was not stored", sessionId, error);
      return null;
    }
  }
}
