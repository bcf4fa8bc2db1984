import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { within } from "../../../simulated/service/within";

const TargetsSchema = z.array(z.object({ id: z.string(), webSocketDebuggerUrl: z.string() }));
const UsageSchema = z.object({
  id: z.number(),
  result: z.object({ usedSize: z.number(), backingStorageSize: z.number() }),
});

/**
 * Memory in bytes. `live`: the service's heap after a garbage collection, with buffers; `null` if
 * the inspector did not answer. `resident`: the resident memory of the whole process.
 */
export type MemorySample = { live: number | null; resident: number };

const CONNECTED_WITHIN_MS = 20_000;
/** After this time a request counts as lost: under load, the inspector may drop requests. */
const REPLY_WITHIN_MS = 5_000;

/**
 * Number of measurements of which the smallest counts. A single measurement can be too high: the
 * runtime releases its references only when it runs again, and only a later collection frees these
 * objects. Allocations between a collection and the measurement count too.
 */
const MEASUREMENTS = 4;

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
    const measurements: (number | null)[] = [];
    for (let measured = 0; measured < MEASUREMENTS; measured += 1) {
      // Not awaited: the measurement must follow the collection at once.
      void this.#ask("HeapProfiler.collectGarbage");
      const response = await this.#ask("Runtime.getHeapUsage");
      measurements.push(response === null ? null : liveBytesIn(response));
    }
    const liveSizes = measurements.filter((live) => live !== null);
    return liveSizes.length === 0 ? null : Math.min(...liveSizes);
  }

  /** Number of live objects of this class. Throws if the inspector returns no snapshot. */
  async instances(name: string): Promise<number> {
    const chunks: string[] = [];
    const collectChunk = ({ data }: MessageEvent): void => {
      const response = String(data);
      if (response.startsWith('{"method":"HeapProfiler.addHeap'))
        chunks.push(ChunkSchema.parse(JSON.parse(response)).params.chunk);
    };
    this.#socket.addEventListener("message", collectChunk);
    try {
      const response = await this.#ask("HeapProfiler.takeHeapSnapshot", SNAPSHOT_WITHIN_MS);
      if (response === null) throw new Error("The inspector gave no snapshot of the heap.");
    } finally {
      this.#socket.removeEventListener("message", collectChunk);
    }
    return countObjectsIn(chunks.join(""), name);
  }

  close(): void {
    this.#socket.close();
  }

  /** The inspector's response; `null` if it did not answer in time. */
  async #ask(method: string, withinMs = REPLY_WITHIN_MS): Promise<string | null> {
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

function liveBytesIn(response: string): number {
  const { usedSize, backingStorageSize } = UsageSchema.parse(JSON.parse(response)).result;
  return usedSize + backingStorageSize;
}

function countObjectsIn(json: string, name: string): number {
  const { snapshot, nodes, strings } = SnapshotSchema.parse(JSON.parse(json));
  const { node_fields: fields, node_types: types } = snapshot.meta;
  const [typeOffset, nameOffset, objectType] = [
    fields.indexOf("type"),
    fields.indexOf("name"),
    types[0].indexOf("object"),
  ];
  let count = 0;
  for (let node = 0; node < nodes.length; node += fields.length) {
    if (nodes[node + typeOffset] === objectType && strings[nodes[node + nameOffset] ?? -1] === name)
      count += 1;
  }
  return count;
}
