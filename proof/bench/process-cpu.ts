import { readdirSync, readFileSync } from "node:fs";

/** Ms per tick of `/proc`: the kernel reports 100 ticks per second on every machine. Linux only. */
const MS_PER_TICK = 10;

/** CPU time that a process has used so far, of all threads, user and system, in ms. */
export function cpuMs(pid: number): number {
  const [user, system] = fieldsOf(pid).slice(11, 13);
  return (Number(user) + Number(system)) * MS_PER_TICK;
}

/** The child processes of this process with that name. */
export const childrenNamed = (name: string): number[] =>
  readdirSync("/proc")
    .filter((entry) => /^\d+$/.test(entry) && isChild(Number(entry), name))
    .map(Number);

function isChild(pid: number, name: string): boolean {
  try {
    return (
      readFileSync(`/proc/${pid}/comm`, "utf8").trim() === name &&
      Number(fieldsOf(pid)[1]) === process.pid
    );
  } catch {
    return false; // The process has ended.
  }
}

/**
 * The fields of `/proc/<pid>/stat` after the name, from the state on. The name may contain spaces.
 */
function fieldsOf(pid: number): string[] {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}
