import { once } from "node:events";
import { rmSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { redactShapes } from "../src/redaction/redact";
import { LocalRuntime } from "./local-runtime";
import { createProxy } from "./proxy";
import type { LogLine } from "./runtime-log";
import { loopbackSocket, type LocalPlanOptions, planLocalRuntime } from "./runtime-plan";
import { RUN_DIR_PREFIX, StateLock } from "./state-lock";

type LocalServiceOptions = Omit<LocalPlanOptions, "dir" | "ownOrigin"> & {
  /** A loopback address. */
  ip: string;
  port: number;
  onLine: (line: LogLine) => void;
};

/**
 * The service on this machine: a proxy on one loopback port, and behind the proxy a runtime without
 * a port.
 */
type LocalService = {
  url: string;
  /** Rejects if the service ended by itself and is not restarted. Never resolves. */
  failure: Promise<never>;
  /** Stops the service and its runtime, and removes the sockets. May be called more than once. */
  stop(): Promise<void>;
};

/** Unix socket paths are limited to 104 bytes on macOS; names in the folder take up to 20. */
const MAX_DIR_BYTES = 84;
const MAX_LOG_CHARS = 10_000;

/**
 * Starts the service and waits until it responds. Throws if its port or its storage is in use, or
 * if the service does not start.
 */
export async function startLocalService(options: LocalServiceOptions): Promise<LocalService> {
  requireUnixSockets();
  const dir = await mkdtemp(path.join(shortTmpdir(), RUN_DIR_PREFIX)); // created with mode 0700
  const proxy = createProxy({
    socketPath: path.join(dir, "service"),
    onRequestEnd: (text) => options.onLine({ isProblem: false, text }),
  });
  const openParts: OpenParts = { dir, servers: [proxy], lock: null, runtime: null };
  const closeAtExit = () => closeSynchronously(openParts);
  process.once("exit", closeAtExit);
  const stop = async () => {
    process.off("exit", closeAtExit);
    await close(openParts);
  };
  try {
    await listen(proxy, options);
    openParts.lock = StateLock.take(options.persistTo, dir);
    const loopback = printingServer(options.onLine).listen(loopbackSocket(dir));
    openParts.servers.push(loopback);
    const plan = await planLocalRuntime({ ...options, dir, ownOrigin: urlOf(options) });
    const onPid = (pid: number | null) => openParts.lock?.recordRuntime(pid);
    const runtime = new LocalRuntime(plan, { onLine: options.onLine, onPid });
    openParts.runtime = runtime;
    await runtime.start();
    return { url: urlOf(options), failure: runtime.failure, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

type OpenParts = {
  dir: string;
  servers: Server[];
  lock: StateLock | null;
  runtime: LocalRuntime | null;
};

async function close({ dir, servers, lock, runtime }: OpenParts): Promise<void> {
  for (const server of servers) {
    server.close();
    server.closeAllConnections();
  }
  await runtime?.stop();
  lock?.release();
  await rm(dir, { recursive: true, force: true });
}

function closeSynchronously({ dir, lock, runtime }: OpenParts): void {
  runtime?.kill();
  lock?.release();
  rmSync(dir, { recursive: true, force: true });
}

async function listen(server: Server, { ip, port }: LocalServiceOptions): Promise<void> {
  server.listen(port, ip);
  await once(server, "listening").catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EADDRINUSE") throw error;
    throw new Error(
      `Port ${port} of ${ip} is in use, perhaps by another running service. To use another port: --port ${port + 1}`,
    );
  });
}

const urlOf = ({ ip, port }: LocalServiceOptions): string =>
  `http://${ip.includes(":") ? `[${ip}]` : ip}:${port}`;

/**
 * The server to which storage sends its log lines. It replaces miniflare's own server, which would
 * listen on a port.
 */
function printingServer(onLine: (line: LogLine) => void): Server {
  return createServer((incoming, outgoing) => {
    let text = "";
    incoming.setEncoding("utf8").on("data", (chunk: string) => {
      text = (text + chunk).slice(0, MAX_LOG_CHARS);
    });
    incoming.on("end", () => {
      if (incoming.url === "/core/log" && text.trim() !== "")
        onLine({ isProblem: true, text: redactShapes(text) });
      outgoing.writeHead(204).end();
    });
  });
}

const shortTmpdir = (): string =>
  Buffer.byteLength(tmpdir()) + 20 > MAX_DIR_BYTES ? "/tmp" : tmpdir();

function requireUnixSockets(): void {
  if (process.platform !== "win32") return;
  throw new Error(
    "On Windows the service runs inside WSL: it needs Unix sockets, which workerd does not have on Windows.",
  );
}
