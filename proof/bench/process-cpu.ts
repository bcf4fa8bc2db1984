import { readdirSync, readFileSync } from "node:fs";

/** Ticks per second of `/proc`; the kernel shows 100 on every machine, whatever its own clock. Linux only, as is `/proc`. */
const MS_PER_TICK = 10;

/** CPU time a process has used so far, all threads, user and system, in ms. */
export function cpuMs(pid: number): number {
  const [user, system] = fieldsOf(pid).slice(11, 13);
  return (Number(user) + Number(system)) * MS_PER_TICK;
}

/** The children of this process with that name. */
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
    return false; // it has ended meanwhile
  }
}

/** What follows the name in `/proc/<pid>/stat`, from the state on; the name itself may hold spaces. */
function fieldsOf(pid: number): string[] {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}
