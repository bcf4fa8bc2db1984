import { createTables } from "../../../durable-objects/session/session-tables";
import { fileStores } from "../../../durable-objects/session/files/session-files";
import type { Bucket } from "../../../r2-layout/bucket";
import { hashOf } from "../../../src/workspace/snapshot";
import type { FileEntry } from "../../../src/workspace/types";

/** What something cost: objects and bytes written to R2, and rows written as the platform charges them. */
export type Cost = { objects: number; bytes: number; rows: number };

/** A tree like a project's: so many files of so many bytes, none like another. */
export const TREE = { files: 2_000, fileBytes: 1_000 } as const;

/**
 * Snapshots of a tree in the session's own storage, over real SQLite and R2, as answers of turn after turn freeze it; beside a copy of
 * all its files. Counts what each costs from the answer on: the agent had written its files before.
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
      latest: () => ({ turn: this.#turn, isRunning: false }),
    });
    // An object may be taken down between two requests.
    this.#turn = storage.sql
      .exec<{ turn: number }>("SELECT coalesce(max(turn), 0) AS turn FROM snapshots")
      .one().turn;
    this.#tree = new Map(this.#stores.snapshots.baseOfNext(this.#turn));
  }

  /** The next turn begins, and writes the first `files` of the tree anew. */
  async write(files: number): Promise<Cost> {
    this.#turn += 1;
    return this.#counted(async () => {
      for (let nth = 0; nth < files; nth += 1) await this.#write(nth);
    });
  }

  /** Freezes the tree and brings it to R2. */
  async snapshot(): Promise<Cost> {
    const { snapshots, outbox, jobs } = this.#stores;
    const place = { turn: this.#turn, attempt: 1, label: "agent1.final" };
    return this.#counted(async () => {
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

  /** What a snapshot would be without any of that: every file once more, one after the other. */
  async copy(): Promise<Cost> {
    const prefix = `tenants/bench/copies/${crypto.randomUUID()}`;
    return this.#counted(async () => {
      for (const [path, entry] of this.#tree) {
        const bytes = await this.#stores.blobs.read(entry);
        await this.#bucket.put(`${prefix}/${path}`, bytes);
      }
    });
  }

  /** The least that could bring so many bytes to R2 in so many objects, one after the other: none of them is looked at. */
  async puts(bytes: number, objects: number): Promise<Cost> {
    const prefix = `tenants/bench/puts/${crypto.randomUUID()}`;
    return this.#counted(async () => {
      for (let nth = 0; nth < objects; nth += 1) {
        await this.#bucket.put(`${prefix}/${nth}`, new Uint8Array(Math.ceil(bytes / objects)));
      }
    });
  }

  /** Lets go of what the next turn does not need; gives the bytes of the session's database before and after. */
  async tidy(): Promise<{ before: number; after: number; rows: number }> {
    const before = this.#storage.sql.databaseSize;
    const { rows } = await this.#counted(
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

  async #counted(work: () => Promise<void>): Promise<Cost> {
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
  return replacing(real, "put", (put) => (...args) => {
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
  const sql = replacing(real.sql, "exec", (exec) => (...args) => {
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

/** `real` with one method that is another's work; the runtime's objects want to be called on themselves. */
function replacing<T extends object>(real: T, method: string, replace: (own: Method) => Method): T {
  return new Proxy(real, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== "function") return member;
      const own: Method = (...args) => Reflect.apply(member, target, args);
      return name === method ? replace(own) : own;
    },
  });
}
