import type { ContextBlobs } from "../../r2-layout/contexts";
import type { ContextIndex, ContextRecords } from "./context-index";
import type { ExpectedBlobs } from "./expected-blobs";
import type { SpareMemory } from "./spare-memory";

/** The storage of contexts, and the other dependencies of uploads. */
export type ContextStore = {
  index: ContextIndex;
  records: ContextRecords;
  files: ContextBlobs;
  /** A unique version id, sortable by time. */
  newId(now: number): string;
  /** The blobs that open uploads expect. Shared by all requests of an isolate. */
  expected: ExpectedBlobs;
  /** Memory for work that may be omitted. */
  spare: SpareMemory;
};

/** Identifies a context of a tenant. */
export type Owner = { tenant: string; name: string };
