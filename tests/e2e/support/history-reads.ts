import type { RecordedRequest } from "../../../simulated/providers/ledger";
import { CHARACTERS_PER_TOKEN } from "../../../simulated/providers/reply";
import { toSituation } from "../../../simulated/providers/situation";

/**
 * How much of the histories in a conversation's requests was read from prompt caches. Providers
 * cache separately for each set of tools and each system prompt, so requests are compared with
 * earlier requests of the same stage.
 */

/** Characters of the history of one request. `turn`: the number of its question. */
export type HistoryRead = {
  turn: number;
  /** In the request. */
  sent: number;
  /** Sent before, by an earlier request of the same model and stage. */
  known: number;
  /** Read from the cache. */
  read: number;
};

/** The text of the history in a request; "" in a first turn. */
export function historyIn({ asked }: RecordedRequest): string {
  const text = asked.messages[0]?.text ?? "";
  const nonce = /<<<(\S+) [A-Z]/.exec(text)?.[1] ?? "";
  const lastMark = text.lastIndexOf(`<<<${nonce} END HISTORY `);
  return lastMark < 0 ? "" : text.slice(0, text.indexOf("\n\n", lastMark) + "\n\n".length);
}

/** The reads of each request that reported its usage, in order of arrival. */
export function historyReads(requests: readonly RecordedRequest[]): HistoryRead[] {
  const sentBefore = new Map<string, string[]>();
  return requests.flatMap((request) => {
    const { model, asked, reported } = request;
    const { stage, question } = toSituation(asked);
    const history = historyIn(request);
    const key = `${model} ${stage}`;
    const earlier = sentBefore.get(key) ?? [];
    sentBefore.set(key, [...earlier, history]);
    if (!reported) return [];
    const known = Math.max(
      0,
      ...earlier.map((text) => (history.startsWith(text) ? text.length : 0)),
    );
    const before = asked.system.length + JSON.stringify(asked.tools).length;
    const cached = (reported.cachedTokens ?? 0) * CHARACTERS_PER_TOKEN - before;
    const read = Math.min(Math.max(0, cached), history.length);
    return [{ turn: Number(/\d+/.exec(question)?.[0]), sent: history.length, known, read }];
  });
}

/** The share of the characters that were read. `of`: of the history, or of what was sent before. */
export function shareRead(reads: readonly HistoryRead[], of: "sent" | "known"): number {
  const total = reads.reduce((sum, one) => sum + one[of], 0);
  return reads.reduce((sum, { read }) => sum + read, 0) / total;
}
