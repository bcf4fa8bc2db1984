import type { History, Operation } from "./operations";

/**
 * Removes steps, and edits of turns, as long as the history still fails. `fails` plays a history
 * from its start. At most `tries` histories are played.
 */
export async function shrink(
  history: History,
  fails: (history: History) => Promise<boolean>,
  tries = 400,
): Promise<History> {
  let [smallest, left] = [history, tries];
  const attempt = async (operations: readonly Operation[]): Promise<boolean> => {
    if (left <= 0) return false;
    left -= 1;
    const candidate = { ...smallest, operations };
    if (!(await fails(candidate))) return false;
    smallest = candidate;
    return true;
  };
  for (let before = -1; before !== sizeOf(smallest) && left > 0; ) {
    before = sizeOf(smallest);
    for (
      let size = Math.ceil(smallest.operations.length / 2);
      size >= 1;
      size = Math.floor(size / 2)
    )
      for (let at = smallest.operations.length - size; at >= 0; at -= size)
        await attempt(smallest.operations.toSpliced(at, size));
    for (let at = smallest.operations.length - 1; at >= 0; at -= 1)
      for (const simpler of simplerOf(smallest.operations[at]))
        await attempt(smallest.operations.with(at, simpler));
  }
  return smallest;
}

const sizeOf = ({ operations }: History): number => JSON.stringify(operations).length;

/** The step with one part less. */
function simplerOf(operation: Operation | undefined): Operation[] {
  if (!operation) return [];
  if (operation.type === "ask") {
    const { wins, ...undecided } = operation;
    const { uses, ...withAll } = operation;
    return [
      ...(wins ? [undecided] : []),
      ...(uses ? [withAll] : []),
      ...(operation.ends === "completed" ? [] : [{ ...operation, ends: "completed" } as const]),
      ...(operation.back === 0 ? [] : [{ ...operation, back: 0 }]),
      ...operation.edits.map((_, index) => ({
        ...operation,
        edits: operation.edits.toSpliced(index, 1),
      })),
    ];
  }
  if (operation.type === "push" && operation.isKilled) {
    const { isKilled: _, ...noted } = operation;
    return [noted];
  }
  if (operation.type === "push" || operation.type === "pull" || operation.type === "pull version") {
    const { included, ...plain } = operation;
    return included === undefined ? [] : [plain];
  }
  return [];
}
