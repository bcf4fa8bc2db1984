import type { SessionPlace } from "../../r2-layout/session-files";
import { ContextFiles } from "../../r2-layout/contexts";
import { createContextReader } from "../../src/uploads/context-reader";
import { createContextIndex } from "../../d1/context-rows";
import { createContextPins } from "../../d1/context-pins";
import { createContextRecords } from "../../d1/context-records";
import { createPruneIndex } from "../../d1/context-pruning";
import { defaultStoredBytes, reportStored, storedBySession } from "../../d1/stored-bytes";
import { ExpectedBlobs } from "../../src/uploads/expected-blobs";
import { MemoryBudget } from "../../src/uploads/memory-budget";
import { spareMemoryOf } from "../../src/uploads/spare-memory";
import type { Env } from "../../src/env";
import { newVersionId } from "./version-id";

/** What all uploads of an isolate share. */
export const sharedByUploads = () => ({
  memory: new MemoryBudget(),
  expected: new ExpectedBlobs(),
});

/**
 * Creates the services for contexts that the Worker and the sessions' objects use. The Worker
 * passes what its uploads share.
 */
export function contextServices(
  env: Pick<Env, "DB" | "BUCKET" | "TENANT_STORED_BYTES">,
  { memory, expected } = sharedByUploads(),
) {
  const index = createContextIndex(env.DB, defaultStoredBytes(env));
  const records = createContextRecords(env.DB);
  const files = new ContextFiles(env.BUCKET);
  return {
    store: { index, records, files, newId: newVersionId, expected, spare: spareMemoryOf(memory) },
    memory,
    reader: createContextReader({ index, files }),
    pins: createContextPins(env.DB),
    records,
    stored: (place: SessionPlace, sql: SqlStorage) =>
      reportStored(env, place, storedBySession(sql)),
    prune: { index: createPruneIndex(env.DB), files },
  };
}
