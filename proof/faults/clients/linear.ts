/** One client's operation on a session. It began at `from` and ended at `to`, on one clock. */
export type Operation = { from: number; to: number; result: OperationResult };
/**
 * `started`: a turn began. `refused`: no turn began, because `turn` was running. `cancelled`:
 * `turn` was the last turn and has this status. `read`: the statuses of all turns, and the number
 * of the last event. `erased`: the session was erased. `gone`: the session did not exist.
 */
export type OperationResult =
  | { type: "started"; turn: number }
  | { type: "refused"; turn: number }
  | { type: "cancelled"; turn: number; status: string }
  | { type: "read"; statuses: readonly string[]; sequence: number }
  | { type: "erased" }
  | { type: "gone" };

/** `sequence`: the highest event number that a client has read. */
type Session = { statuses: readonly string[]; sequence: number; isErased: boolean };

/**
 * Searches for an order of the operations that explains all results. Each operation takes effect at
 * one moment between its start and its end, and the session performs the operations one after the
 * other. A running turn may complete at any moment. Returns how many operations the best order
 * explains. If these are all operations, the history is linearizable.
 */
export function longestOrder(operations: readonly Operation[]): number {
  const seen = new Set<string>();
  const sorted = [...operations].sort((a, b) => a.from - b.from);
  let longest = 0;
  // Depth-first search. `done`: a bit for each operation that has taken effect.
  const stack: { done: bigint; count: number; session: Session }[] = [
    { done: 0n, count: 0, session: { statuses: ["running"], sequence: 0, isErased: false } },
  ];
  for (let searchNode = stack.pop(); searchNode; searchNode = stack.pop()) {
    const { done, count, session } = searchNode;
    longest = Math.max(longest, count);
    if (count === sorted.length) return count;
    const key = `${done} ${session.isErased} ${session.sequence} ${session.statuses.join()}`;
    if (seen.has(key)) continue;
    seen.add(key);
    for (const nth of nextOperations(sorted, done)) {
      const result = sorted[nth]?.result;
      if (!result) continue;
      const sessionsBefore = [session, withCompletedTurn(session)];
      for (const after of sessionsBefore.flatMap((before) => sessionAfter(before, result) ?? [])) {
        stack.push({ done: done | (1n << BigInt(nth)), count: count + 1, session: after });
      }
    }
  }
  return longest;
}

/** Positions of operations that may be next: they began before any remaining operation ended. */
function nextOperations(sorted: readonly Operation[], done: bigint): number[] {
  const remaining = sorted.flatMap((operation, nth) =>
    (done >> BigInt(nth)) & 1n ? [] : [{ operation, nth }],
  );
  const firstEnd = Math.min(...remaining.map(({ operation }) => operation.to));
  return remaining.filter(({ operation }) => operation.from <= firstEnd).map(({ nth }) => nth);
}

/** The session after its running turn, if any, has completed. */
function withCompletedTurn(session: Session): Session {
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
