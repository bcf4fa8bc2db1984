import type { ChildProcess } from "node:child_process";

/** Signals a child that leads a group of its own (`detached`) and everything below it, also what outlived the child. */
export function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // nobody is left in the group
  }
}
