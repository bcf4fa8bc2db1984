import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { within } from "../../../simulated/service/within";

const TargetsSchema = z.array(z.object({ id: z.string(), webSocketDebuggerUrl: z.string() }));
const UsageSchema = z.object({
  id: z.number(),
  result: z.object({ usedSize: z.number(), backingStorageSize: z.number() }),
});

/**
 * Bytes. `live`: on the service's heap after a garbage collection, buffers included; `null` if the
 * inspector did not answer. `resident`: of the whole process.
 */
export type MemorySample = { live: number | null; resident: number };

const CONNECTED_WITHIN_MS = 20_000;
/** Under load the inspector may drop a request. */
const SILENCE_MS = 5_000;

/**
 * Objects that the runtime references are released only when it works again, and freed by a later
 * collection. Allocations between a collection and the measurement count too. So the least of
 * several close measurements is nearest to the live size.
 */
const LOOKS = 4;

const SNAPSHOT_WITHIN_MS = 60_000;
const ChunkSchema = z.object({
  method: z.literal("HeapProfiler.addHeapSnapshotChunk"),
  params: z.object({ chunk: z.string() }),
});
/**
 * The fields of V8's heap snapshot that are needed to count objects. A node is a sequence of
 * numbers, one per field; its name is an index into the strings.
 */
const SnapshotSchema = z.object({
  snapshot: z.object({
    meta: z.object({
      node_fields: z.array(z.string()),
      node_types: z.tuple([z.array(z.string())], z.unknown()),
    }),
  }),
  nodes: z.array(z.number()),
  strings: z.array(z.string()),
});

/** Measures the memory of a running workerd through its inspector. */
export class MemoryProbe {
  readonly #socket: WebSocket;
  readonly #pid: number;
  readonly #waiting = new Map<number, (response: string) => void>();
  #requests = 0;

  private constructor(socket: WebSocket, pid: number) {
    this.#socket = socket;
    this.#pid = pid;
    socket.addEventListener("message", ({ data }) => {
      const response = String(data);
      const [, id] = /^\{"id":(\d+),/.exec(response) ?? [];
      this.#waiting.get(Number(id))?.(response);
    });
  }

  static async connect(inspectorPort: number, pid: number): Promise<MemoryProbe> {
    const address = `http://127.0.0.1:${inspectorPort}/json/list`;
    const response = await within(
      CONNECTED_WITHIN_MS,
      "the inspector",
      fetch(address, { signal: AbortSignal.timeout(CONNECTED_WITHIN_MS) }),
    );
    const service = TargetsSchema.parse(await response.json()).find(
      ({ id }) => id === "core:user:massgen-edge",
    );
    if (!service) throw new Error("The inspector does not list the service.");
    const socket = new WebSocket(service.webSocketDebuggerUrl);
    const opened = new Promise((open, failed) => {
      socket.addEventListener("open", open, { once: true });
      socket.addEventListener(
        "error",
        () => failed(new Error("The inspector refused the connection.")),
        { once: true },
      );
    });
    await within(CONNECTED_WITHIN_MS, "the inspector's connection", opened).catch(
      (error: unknown) => {
        socket.close();
        throw error;
      },
    );
    return new MemoryProbe(socket, pid);
  }

  sample = async (): Promise<MemorySample> => ({
    live: await this.live(),
    resident: residentOf(this.#pid),
  });

  /** Bytes on the heap after a garbage collection; `null` if the inspector did not answer. */
  async live(): Promise<number | null> {
    const looks: (number | null)[] = [];
    for (let look = 1; look <= LOOKS; look += 1) {
      // Not awaited: the measurement must follow at once.
      void this.#ask("HeapProfiler.collectGarbage");
      const response = await this.#ask("Runtime.getHeapUsage");
      looks.push(response === null ? null : liveIn(response));
    }
    const seen = looks.filter((live) => live !== null);
    return seen.length === 0 ? null : Math.min(...seen);
  }

  /** Number of live objects of this class. Throws if the inspector returns no snapshot. */
  async instances(name: string): Promise<number> {
    const chunks: string[] = [];
    const listen = ({ data }: MessageEvent): void => {
      const response = String(data);
      if (response.startsWith('{"method":"HeapProfiler.addHeap'))
        chunks.push(ChunkSchema.parse(JSON.parse(response)).params.chunk);
    };
    this.#socket.addEventListener("message", listen);
    try {
      const taken = await this.#ask("HeapProfiler.takeHeapSnapshot", SNAPSHOT_WITHIN_MS);
      if (taken === null) throw new Error("The inspector gave no snapshot of the heap.");
    } finally {
      this.#socket.removeEventListener("message", listen);
    }
    return countIn(chunks.join(""), name);
  }

  close(): void {
    this.#socket.close();
  }

  /** The inspector's response; `null` if it did not answer in time. */
  async #ask(method: string, withinMs = SILENCE_MS): Promise<string | null> {
    this.#requests += 1;
    const id = this.#requests;
    const answer = new Promise<string>((resolve) => this.#waiting.set(id, resolve));
    this.#socket.send(JSON.stringify({ id, method }));
    const response = await Promise.race([answer, sleep(withinMs, null, { ref: false })]);
    this.#waiting.delete(id);
    return response;
  }
}

/** Resident memory of a process in bytes. Throws if the process has exited. */
export function residentOf(pid: number): number {
  const [, kilobytes] =
    /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  if (kilobytes === undefined) throw new Error(`Process ${pid} has exited.`);
  return Number(kilobytes) * 1_024;
}

function liveIn(response: string): number {
  const { usedSize, backingStorageSize } = UsageSchema.parse(JSON.parse(response)).result;
  return usedSize + backingStorageSize;
}

function countIn(json: string, name: string): number {
  const { snapshot, nodes, strings } = SnapshotSchema.parse(JSON.parse(json));
  const { node_fields: fields, node_types: types } = snapshot.meta;
  const [typeAt, nameAt, object] = [
    fields.indexOf("type"),
    fields.indexOf("name"),
    types[0].indexOf("object"),
  ];
  let count = 0;
  for (let node = 0; node < nodes.length; node += fields.length) {
    if (nodes[node + typeAt] === object && strings[nodes[node + nameAt] ?? -1] === name) count += 1;
  }
  return count;
}
