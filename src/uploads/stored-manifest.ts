import type { ContextBlobs, VersionPlace } from "../../r2-layout/contexts";
import { decodeManifest, type StoredManifest } from "./manifest-text";

/** The manifest of an upload's base; `null` if it has none. */
export const manifestOfBase = (
  files: ContextBlobs,
  { tenant }: VersionPlace,
  builtOn: string | null,
): Promise<StoredManifest | null> =>
  builtOn === null ? Promise.resolve(null) : readManifest(files, { tenant, version: builtOn });

/** The manifest of a version; `null` if missing. */
export async function readManifest(
  files: ContextBlobs,
  place: VersionPlace,
): Promise<StoredManifest | null> {
  const text = await files.manifest(place);
  return text === null ? null : decodeManifest(text);
}
