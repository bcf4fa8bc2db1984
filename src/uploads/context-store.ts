import type { ContextBlobs } from "../../r2-layout/contexts";
import type { ContextIndex, ContextRecords } from "./context-index";
import type { ExpectedBlobs } from "./expected-blobs";
import type { SpareMemory } from "./spare-memory";

/** The storage of contexts, and the other dependencies of uploads. */
export type ContextStore = {
  index: ContextIndex;
  records: ContextRecords;
  files: ContextBlobs;
  /** A unique id of a version, which sorts after the newest version. See `newVersionId`. */
  newId(now: number, newest: string | null): string;
  /** The blobs that open uploads expect. Shared by all requests of an isolate. */
  expected: ExpectedBlobs;
  /** Memory for work that may be omitted. */
  spare: SpareMemory;
};

/** Identifies a context of a tenant. */
export type Owner = { tenant: string; name: string };
