import { createTables } from "../../../durable-objects/session/session-tables";
import { fileStores } from "../../../durable-objects/session/files/compose-workspaces";
import type { Bucket } from "../../../r2-layout/bucket";
import { hashOf } from "../../../src/workspace/snapshot";
import type { FileEntry } from "../../../src/workspace/types";
import { TREE } from "./tree";

/**
 * The cost of an operation. `objects`, `bytes`: written to R2. `rows`: SQLite rows written, as the
 * platform charges them.
 */
export type Cost = { objects: number; bytes: number; rows: number };

/**
 * Takes snapshots of a file tree in a session's storage, turn after turn, with real SQLite and R2.
 * It also makes plain copies of all files. The cost of a snapshot excludes the writing of the
 * files, because the agent writes them before its answer.
 */
export class SnapshotCosts {
  readonly #storage: DurableObjectStorage;
  readonly #bucket: Bucket;
  readonly #cost: Cost = { objects: 0, bytes: 0, rows: 0 };
  readonly #stores;
  readonly #tree: Map<string, FileEntry>;
  #turn: number;

  constructor(storage: DurableObjectStorage, bucket: Bucket, session: string) {
    createTables(storage.sql);
    this.#bucket = countingBucket(bucket, this.#cost);
    this.#storage = countingStorage(storage, this.#cost);
    const pins = { release: async () => undefined };
    const places = {
      storage: this.#storage,
      bucket: this.#bucket,
      place: { tenant: "bench", session },
      pins,
    };
    this.#stores = fileStores(places, {
      parentOf: (turn) => (turn > 1 ? turn - 1 : null),
      completedWith: () => 1,
      pinnedIn: () => [],
      latest: () => ({ turn: this.#turn, isRunning: false }),
    });
    // An object may be evicted between two requests.
    this.#turn = storage.sql
      .exec<{ turn: number }>("SELECT coalesce(max(turn), 0) AS turn FROM snapshots")
      .one().turn;
    this.#tree = new Map(this.#stores.snapshots.baseOfNext(this.#turn));
  }

  /** Starts the next turn and rewrites the tree's first `files` files. */
  async write(files: number): Promise<Cost> {
    this.#turn += 1;
    return this.#costOf(async () => {
      for (let nth = 0; nth < files; nth += 1) await this.#write(nth);
    });
  }

  /** Takes a snapshot of the tree and uploads it to R2. */
  async snapshot(): Promise<Cost> {
    const { snapshots, outbox, jobs } = this.#stores;
    const place = { turn: this.#turn, attempt: 1, label: "agent1.final" };
    return this.#costOf(async () => {
      this.#storage.transactionSync(() => {
        snapshots.write(place, this.#tree);
        outbox.add({ type: "upload_snapshot", ...place, at: 0 });
      });
      const item = outbox.due(0);
      if (!item) throw new Error("There is nothing to upload.");
      await jobs.perform(item.body);
      outbox.done(item.id);
    });
  }

  /** The cost of a snapshot without deduplication: copies every file, one after the other. */
  async copy(): Promise<Cost> {
    const prefix = `tenants/bench/copies/${crypto.randomUUID()}`;
    return this.#costOf(async () => {
      for (const [path, entry] of this.#tree) {
        const bytes = await this.#stores.blobs.read(entry);
        await this.#bucket.put(`${prefix}/${path}`, bytes);
      }
    });
  }

  /** The lower bound: uploads `bytes` bytes in `objects` objects, one after another. */
  async puts(bytes: number, objects: number): Promise<Cost> {
    const prefix = `tenants/bench/puts/${crypto.randomUUID()}`;
    return this.#costOf(async () => {
      for (let nth = 0; nth < objects; nth += 1) {
        await this.#bucket.put(`${prefix}/${nth}`, new Uint8Array(Math.ceil(bytes / objects)));
      }
    });
  }

  /**
   * Removes contents that the next turn does not need. Returns the size of the session's database
   * in bytes before and after, and the written rows.
   */
  async tidy(): Promise<{ before: number; after: number; rows: number }> {
    const before = this.#storage.sql.databaseSize;
    const { rows } = await this.#costOf(
      async () => void (await this.#stores.jobs.perform({ type: "tidy" })),
    );
    return { before, after: this.#storage.sql.databaseSize, rows };
  }

  async #write(nth: number): Promise<void> {
    const bytes = new TextEncoder().encode(
      `turn ${this.#turn}, file ${nth} `.padEnd(TREE.fileBytes, "."),
    );
    const hash = await hashOf(bytes);
    this.#tree.set(`src/${nth % 40}/file-${nth}.txt`, { hash, size: bytes.byteLength });
    this.#stores.blobs.add(new Map([[hash, bytes]]));
  }

  async #costOf(work: () => Promise<void>): Promise<Cost> {
    const before = { ...this.#cost };
    await work();
    const { objects, bytes, rows } = this.#cost;
    return {
      objects: objects - before.objects,
      bytes: bytes - before.bytes,
      rows: rows - before.rows,
    };
  }
}

function countingBucket(real: Bucket, cost: Cost): Bucket {
  return withMethod(real, "put", (put) => (...args) => {
    const contents = args[1];
    cost.objects += 1;
    cost.bytes +=
      typeof contents === "string"
        ? new TextEncoder().encode(contents).byteLength
        : sizeOf(contents);
    return put(...args);
  });
}

const sizeOf = (contents: unknown): number =>
  contents instanceof Uint8Array ? contents.byteLength : Number.NaN;

function countingStorage(real: DurableObjectStorage, cost: Cost): DurableObjectStorage {
  const sql = withMethod(real.sql, "exec", (exec) => (...args) => {
    const cursor = exec(...args);
    if (typeof cursor === "object" && cursor !== null)
      cost.rows += Number(Reflect.get(cursor, "rowsWritten"));
    return cursor;
  });
  return new Proxy(real, {
    get(target, name) {
      if (name === "sql") return sql;
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}

type Method = (...args: unknown[]) => unknown;

/**
 * A proxy of `real` with one method replaced. Its other methods are bound to `real`, because
 * objects of the runtime check their `this`.
 */
function withMethod<T extends object>(
  real: T,
  method: string,
  replace: (own: Method) => Method,
): T {
  return new Proxy(real, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== "function") return member;
      const own: Method = (...args) => Reflect.apply(member, target, args);
      return name === method ? replace(own) : own;
    },
  });
}
