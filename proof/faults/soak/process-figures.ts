import { readFileSync } from "node:fs";
import { readdir, readlink } from "node:fs/promises";

/**
 * The memory of a process in bytes, and its open files. `anonymous`: memory of no file, such as
 * heaps and stacks. `descriptors`: all open files, of which `sockets` are sockets and `databases`
 * are databases of SQLite, without their logs.
 */
export type ProcessFigures = {
  resident: number;
  anonymous: number;
  threads: number;
  descriptors: number;
  sockets: number;
  databases: number;
};

/** The figures of a process, read from `/proc`. Rejects if the process has exited. */
export async function processFigures(pid: number): Promise<ProcessFigures> {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const links = await openFiles(pid);
  return {
    resident: numberIn(status, "VmRSS", pid) * 1_024,
    anonymous: numberIn(status, "RssAnon", pid) * 1_024,
    threads: numberIn(status, "Threads", pid),
    descriptors: links.length,
    sockets: links.filter((link) => link.startsWith("socket:")).length,
    databases: links.filter((link) => /\.sqlite( \(deleted\))?$/.test(link)).length,
  };
}

/** Resident memory of a process in bytes. Throws if the process has exited. */
export const residentOf = (pid: number): number =>
  numberIn(readFileSync(`/proc/${pid}/status`, "utf8"), "VmRSS", pid) * 1_024;

/** The target of each open file. A file that is closed meanwhile is left out. */
async function openFiles(pid: number): Promise<string[]> {
  const folder = `/proc/${pid}/fd`;
  const links = (await readdir(folder)).map((name) =>
    readlink(`${folder}/${name}`).catch(() => null),
  );
  return (await Promise.all(links)).filter((link) => link !== null);
}

/** A process that has exited and is still listed has no memory. */
function numberIn(status: string, field: string, pid: number): number {
  const [, digits] = new RegExp(`^${field}:\\s+(\\d+)`, "m").exec(status) ?? [];
  if (digits === undefined) throw new Error(`Process ${pid} has exited.`);
  return Number(digits);
}
