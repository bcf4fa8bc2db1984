import type { ContextBlobs } from "../../r2-layout/contexts";
import type { BlobSource } from "../workspace/agent-files";
import type { Tree } from "../workspace/types";
import type { ContextIndex, VersionRow } from "./context-index";
import { placesOf, type StoredManifest, toTree } from "./stored-manifest";
import { readManifest } from "./uploads";

/** One version of a context, whose tree never changes. */
export type OpenContext = BlobSource & {
  version: VersionRow;
  tree: Tree;
  manifest: StoredManifest;
  /** Whether a file of the tree has this hash. */
  has(hash: string): boolean;
  /** The contents of a hash of the tree as they come. Throws if they are not there. */
  stream(hash: string): Promise<ReadableStream<Uint8Array>>;
};

/** Contexts for whoever works with them. */
export type ContextReader = {
  /** Of these names those that the tenant has uploaded something by. */
  uploaded(tenant: string, names: readonly string[]): Promise<ReadonlySet<string>>;
  /** A version with its tree, the newest for null; null if there is no such version, or none any more. */
  open(tenant: string, name: string, version: string | null): Promise<OpenContext | null>;
};

export function createContextReader({
  index,
  files,
}: {
  index: Pick<ContextIndex, "newest" | "newestOf" | "version">;
  files: ContextBlobs;
}): ContextReader {
  return {
    async uploaded(tenant, names) {
      const found = names.length === 0 ? [] : await index.newestOf(tenant, names);
      return new Set(found.map(({ name }) => name));
    },
    async open(tenant, name, id) {
      const version = await (id === null ? index.newest(tenant, name) : index.version(tenant, name, id));
      const manifest = version && (await readManifest(files, { tenant, version: version.id }));
      return version && manifest && openVersion(files, tenant, version, manifest);
    },
  };
}

function openVersion(files: ContextBlobs, tenant: string, version: VersionRow, manifest: StoredManifest): OpenContext {
  const places = placesOf(manifest);
  const placeOf = (hash: string) => {
    const from = places.get(hash);
    if (from === undefined) throw new Error("This version of the context has no such contents.");
    return { tenant, version: from };
  };
  const there = <T>(found: T | null): T => {
    if (found === null) throw new Error("Contents of a context are gone.");
    return found;
  };
  return {
    version,
    manifest,
    has: (hash) => places.has(hash),
    tree: toTree(manifest),
    read: async ({ hash }) => there(await files.blob(placeOf(hash), hash)),
    stream: async (hash) => there(await files.blobStream(placeOf(hash), hash)),
  };
}
