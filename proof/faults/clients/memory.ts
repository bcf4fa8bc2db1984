import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { within } from "../../../simulated/service/within";
import { residentOf } from "../soak/process-figures";

const TargetsSchema = z.array(z.object({ id: z.string(), webSocketDebuggerUrl: z.string() }));
const UsageSchema = z.object({
  id: z.number(),
  result: z.object({
    usedSize: z.number(),
    totalSize: z.number(),
    embedderHeapUsedSize: z.number(),
    backingStorageSize: z.number(),
  }),
});

/**
 * Memory in bytes. `live`: the service's heap after a garbage collection, with buffers; `null` if
 * the inspector did not answer. `resident`: the resident memory of the whole process.
 */
export type MemorySample = { live: number | null; resident: number };

/**
 * The service's heap in bytes, after a garbage collection. `used`: objects of JavaScript. `total`:
 * what V8 has reserved for these. `embedder`: objects of the runtime that the collector manages.
 * `buffers`: contents of array buffers.
 */
export type HeapFigures = { used: number; total: number; embedder: number; buffers: number };

/** Bytes that are in use: objects and buffers. */
export const liveBytes = ({ used, buffers }: HeapFigures): number => used + buffers;

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
    const heap = await this.heap();
    return heap === null ? null : liveBytes(heap);
  }

  /** The heap after a garbage collection; `null` if the inspector did not answer. */
  async heap(): Promise<HeapFigures | null> {
    let least: HeapFigures | null = null;
    for (let measured = 0; measured < MEASUREMENTS; measured += 1) {
      // Not awaited: the measurement must follow the collection at once.
      void this.#ask("HeapProfiler.collectGarbage");
      const response = await this.#ask("Runtime.getHeapUsage");
      const heap = response === null ? null : heapIn(response);
      if (heap !== null && (least === null || liveBytes(heap) < liveBytes(least))) least = heap;
    }
    return least;
  }

  /**
   * Number of live objects of this class. `type`: V8's type of the objects, `native` for those of
   * the runtime. Throws if the inspector returns no snapshot.
   */
  async instances(name: string, type = "object"): Promise<number> {
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
    return countObjectsIn(chunks.join(""), { name, type });
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

function heapIn(response: string): HeapFigures {
  const { result } = UsageSchema.parse(JSON.parse(response));
  return {
    used: result.usedSize,
    total: result.totalSize,
    embedder: result.embedderHeapUsedSize,
    buffers: result.backingStorageSize,
  };
}

function countObjectsIn(json: string, { name, type }: { name: string; type: string }): number {
  const { snapshot, nodes, strings } = SnapshotSchema.parse(JSON.parse(json));
  const { node_fields: fields, node_types: types } = snapshot.meta;
  const [typeOffset, nameOffset, wantedType] = [
    fields.indexOf("type"),
    fields.indexOf("name"),
    types[0].indexOf(type),
  ];
  let count = 0;
  for (let node = 0; node < nodes.length; node += fields.length) {
    if (nodes[node + typeOffset] === wantedType && strings[nodes[node + nameOffset] ?? -1] === name)
      count += 1;
  }
  return count;
}
