import type { ChildProcess } from "node:child_process";

/**
 * Signals a child that leads its own group (`detached`) and all its descendants, even after the
 * child exited.
 */
export function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // the group is empty
  }
}

/** Whether a process of the child's group exists: the child itself or a descendant. */
export function hasGroup({ pid }: ChildProcess): boolean {
  if (pid === undefined) return false;
  try {
    process.kill(-pid, 0);
    return true;
  } catch {
    return false;
  }
}
