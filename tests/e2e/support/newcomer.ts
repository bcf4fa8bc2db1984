import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import path from "node:path";
import { expect, vi } from "vitest";
import { signalGroup } from "../../../local/process-group";

/** The parts of a clone. */
const PARTS = [
  "package.json",
  "package-lock.json",
  "wrangler.toml",
  ".dev.vars.example",
  "tsconfig.json",
  "src",
  "cli",
  "client",
  "durable-objects",
  "d1",
  "configs",
  "r2-layout",
  "local",
  "simulated",
  "scripts",
  "migrations",
];

const STARTS_WITHIN_MS = 90_000;

/** A clone that was never set up, and a process that its owner starts there. */
export class Newcomer {
  /**
   * Folder of the clone. It is inside the repository, because elsewhere the bundler does not follow
   * the link to `node_modules`.
   */
  readonly dir = mkdtempSync(path.resolve("node_modules/.newcomer-test-"));
  #child: ChildProcess | null = null;
  #printed = "";

  constructor() {
    for (const part of PARTS) cpSync(part, path.join(this.dir, part), { recursive: true });
    symlinkSync(path.resolve("node_modules"), path.join(this.dir, "node_modules"));
  }

  /**
   * Runs npm in the clone and waits until its output matches `ready`. The process runs until
   * `stop`.
   */
  async npm(args: readonly string[], ready: RegExp): Promise<void> {
    const child = spawn("npm", args, {
      cwd: this.dir,
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#child = child;
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        this.#printed += text;
      });
    }
    await vi.waitFor(() => expect(this.#printed).toMatch(ready), {
      timeout: STARTS_WITHIN_MS,
      interval: 100,
    });
  }

  /** All output since the start. */
  get printed(): string {
    return this.#printed;
  }

  /**
   * All TCP ports, of IPv4 and IPv6, on which the npm process or a descendant listens. Read from
   * `/proc`.
   */
  get listeningPorts(): number[] {
    return this.#child?.pid === undefined ? [] : listeningPortsBelow(this.#child.pid);
  }

  /** The process that runs the service's JavaScript; `null` if none runs. */
  get workerdPid(): number | null {
    const pids = this.#child?.pid === undefined ? [] : descendantsOf(this.#child.pid);
    return pids.find((pid) => commandOf(pid) === "workerd") ?? null;
  }

  /** Files of the clone that contain this text, also files that `npm start` stores. */
  filesHolding(text: string): string[] {
    const own = readdirSync(this.dir).filter((name) => name !== "node_modules");
    const entries = own.flatMap((name) => filesBelow(path.join(this.dir, name)));
    return entries
      .filter((file) => readFileSync(file).includes(text))
      .map((file) => path.relative(this.dir, file));
  }

  /** Ends all processes and waits until they have ended. */
  async stop(): Promise<void> {
    const child = this.#child;
    this.#child = null;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "close");
    signalGroup(child, "SIGTERM");
    await ended;
  }

  /** Ends all processes and deletes the clone. */
  async remove(): Promise<void> {
    await this.stop();
    rmSync(this.dir, { recursive: true, force: true });
  }
}

function filesBelow(place: string): string[] {
  if (!statSync(place).isDirectory()) return [place];
  const entries = readdirSync(place, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => path.join(parentPath, name));
}

function listeningPortsBelow(root: number): number[] {
  const inodes = new Set([root, ...descendantsOf(root)].flatMap(socketsOf));
  const listening = ["/proc/net/tcp", "/proc/net/tcp6"].flatMap((file) =>
    listenersIn(readFileSync(file, "utf8")),
  );
  return [
    ...new Set(listening.filter(({ inode }) => inodes.has(inode)).map(({ port }) => port)),
  ].sort((a, b) => a - b);
}

function descendantsOf(root: number): number[] {
  const children = new Map<number, number[]>();
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    const parent = parentOf(pid);
    if (parent !== null) children.set(parent, [...(children.get(parent) ?? []), Number(pid)]);
  }
  const below = (pid: number): number[] =>
    (children.get(pid) ?? []).flatMap((child) => [child, ...below(child)]);
  return below(root);
}

function parentOf(pid: string): number | null {
  try {
    // The second field is the command in brackets. It may contain spaces and brackets, the fields
    // after it do not.
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
  } catch {
    return null; // the process has ended
  }
}

/** Name of the program that a process runs; `null` if the process has ended. */
function commandOf(pid: number): string | null {
  try {
    return readFileSync(`/proc/${pid}/comm`, "utf8").trim();
  } catch {
    return null;
  }
}

/** Inode numbers of the sockets that a process has open. */
function socketsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      try {
        return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1] ?? [];
      } catch {
        return []; // the file was closed meanwhile
      }
    });
  } catch {
    return [];
  }
}

/** The state of a listening socket in `/proc/net/tcp`. */
const LISTEN = "0A";

function listenersIn(table: string): { port: number; inode: string }[] {
  const rows = table.trim().split("\n").slice(1);
  const fields = rows.map((row) => row.trim().split(/\s+/));
  return fields
    .filter(([, , , state]) => state === LISTEN)
    .map((row) => ({
      port: Number.parseInt(row[1]?.split(":")[1] ?? "", 16),
      inode: row[9] ?? "",
    }));
}
