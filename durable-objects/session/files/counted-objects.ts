import type { SessionObjects } from "../../../r2-layout/session-files";
import { byteLength } from "../../../src/coordination/byte-length";
import type { Sql } from "../object-storage";

/**
 * A session's objects in R2, each with a row that holds its size. The row is written before the
 * object and deleted after it, so that every object in R2 is counted.
 */
export function countedObjects(objects: SessionObjects, sql: Sql): SessionObjects {
  const count = (name: string, bytes: number) =>
    sql.exec(
      "INSERT INTO stored_objects (name, bytes) VALUES (?, ?) ON CONFLICT DO NOTHING",
      name,
      bytes,
    );
  return {
    putBlob: (hash, bytes) => {
      count(`blobs/${hash}`, bytes.byteLength);
      return objects.putBlob(hash, bytes);
    },
    putPack: (hash, bytes) => {
      count(`packs/${hash}`, bytes.byteLength);
      return objects.putPack(hash, bytes);
    },
    putSnapshot: (name, manifest) => {
      count(`snapshots/${name}`, byteLength(manifest));
      return objects.putSnapshot(name, manifest);
    },
    putResult: (name, bytes) => {
      count(`results/${name}`, bytes.byteLength);
      return objects.putResult(name, bytes);
    },
    hasBlob: (hash) => objects.hasBlob(hash),
    blob: (hash) => objects.blob(hash),
    pack: (hash) => objects.pack(hash),
    packed: (hash, offset, length) => objects.packed(hash, offset, length),
    eraseBlobs: async (hashes) => {
      await objects.eraseBlobs(hashes);
      for (const hash of hashes)
        sql.exec("DELETE FROM stored_objects WHERE name = ?", `blobs/${hash}`);
    },
  };
}
