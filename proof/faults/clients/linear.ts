/** One client's operation on a session: start and end (any monotonic clock), and its result. */
export type Operation = { from: number; to: number; result: OperationResult };
export type OperationResult =
  | { type: "started"; turn: number }
  | { type: "refused"; turn: number }
  | { type: "cancelled"; turn: number; status: string }
  | { type: "read"; statuses: readonly string[]; sequence: number }
  | { type: "erased" }
  | { type: "gone" };

type Session = { statuses: readonly string[]; sequence: number; isErased: boolean };

/**
 * Searches for an order of the operations that explains all results: each takes effect at one
 * moment between its start and its end, and the session performs one after the other. A running
 * turn may complete at any moment. Returns the length of the longest explained prefix; it equals
 * the number of operations if the history is linearizable.
 */
export function longestOrder(operations: readonly Operation[]): number {
  const seen = new Set<string>();
  const sorted = [...operations].sort((a, b) => a.from - b.from);
  let longest = 0;
  const stack: { done: bigint; count: number; session: Session }[] = [
    { done: 0n, count: 0, session: { statuses: ["running"], sequence: 0, isErased: false } },
  ];
  for (let place = stack.pop(); place; place = stack.pop()) {
    const { done, count, session } = place;
    longest = Math.max(longest, count);
    if (count === sorted.length) return count;
    const key = `${done} ${session.isErased} ${session.sequence} ${session.statuses.join()}`;
    if (seen.has(key)) continue;
    seen.add(key);
    for (const nth of next(sorted, done)) {
      const result = sorted[nth]?.result;
      if (!result) continue;
      for (const after of [session, completed(session)].flatMap(
        (now) => sessionAfter(now, result) ?? [],
      )) {
        stack.push({ done: done | (1n << BigInt(nth)), count: count + 1, session: after });
      }
    }
  }
  return longest;
}

/** Operations that may come next: no remaining operation ended before they began. */
function next(sorted: readonly Operation[], done: bigint): number[] {
  const left = sorted.flatMap((operation, nth) =>
    (done >> BigInt(nth)) & 1n ? [] : [{ operation, nth }],
  );
  const firstEnd = Math.min(...left.map(({ operation }) => operation.to));
  return left.filter(({ operation }) => operation.from <= firstEnd).map(({ nth }) => nth);
}

function completed(session: Session): Session {
  return session.statuses.at(-1) === "running"
    ? { ...session, statuses: [...session.statuses.slice(0, -1), "completed"] }
    : session;
}

/** The session after an operation with this result; `null` if the result is impossible. */
function sessionAfter(session: Session, result: OperationResult): Session | null {
  const { statuses, sequence, isErased } = session;
  const last = statuses.at(-1);
  if (isErased && result.type !== "erased" && result.type !== "gone") return null;
  switch (result.type) {
    case "erased":
      return { ...session, isErased: true };
    case "gone":
      return isErased ? session : null;
    case "started":
      return last !== "running" && result.turn === statuses.length + 1
        ? { ...session, statuses: [...statuses, "running"] }
        : null;
    case "refused":
      return last === "running" && result.turn === statuses.length ? session : null;
    case "cancelled": {
      const status = last === "running" ? "cancelled" : last;
      if (result.turn !== statuses.length || result.status !== status) return null;
      return { ...session, statuses: [...statuses.slice(0, -1), status] };
    }
    case "read":
      return result.statuses.join() === statuses.join() && result.sequence >= sequence
        ? { ...session, sequence: result.sequence }
        : null;
  }
}
