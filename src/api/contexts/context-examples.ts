import type {
  Context,
  ContextEntry,
  ContextManifest,
  ContextUpload,
  TurnChanges,
} from "../../protocol/api/contexts";
import { contextArchivePath, contextBlobsPath, contextPath } from "../../protocol/paths";

/** Examples in the OpenAPI document. A test checks each value against its schema. */

const HASH = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
const FILE = { path: "src/index.ts", sha256: HASH, size: 4 };
export const VERSION = "01kb0000000000000000000000";

export const MANIFEST: ContextManifest = { files: [FILE], base_version: null };
export const UPLOADING: ContextUpload = {
  name: "website",
  version: VERSION,
  status: "uploading",
  files: 1,
  bytes: 4,
  missing: [HASH],
  skipped: [],
  links: {
    context: contextPath("website"),
    blobs: `${contextBlobsPath("website")}?version=${VERSION}`,
  },
};
export const COMMITTED: ContextUpload = {
  ...UPLOADING,
  status: "committed",
  missing: [],
  skipped: [{ path: "link", reason: "symlink" }],
};
export const ENTRY: ContextEntry = {
  name: "website",
  version: VERSION,
  files: 1,
  bytes: 4,
  created_at: 1_795_000_000,
  links: { context: contextPath("website"), archive: contextArchivePath("website") },
};
export const CONTEXT: Context = { ...ENTRY, tree: [FILE] };
export const TURN_CHANGES: TurnChanges = {
  object: "list",
  data: [
    {
      context: "website",
      base_version: VERSION,
      changes: [
        { path: "src/index.ts", hash: HASH, size: 4 },
        { path: "src/old.ts", hash: null, size: 0 },
      ],
    },
  ],
};
