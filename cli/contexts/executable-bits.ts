import type { ContextFile } from "../../src/protocol/api/contexts";
import type { LocalFile } from "./scan";

/**
 * The files of a push with the executable bits to send. Windows stores no such bits: there each
 * file keeps the bit that it has in the folder's version. `version`: the files of this version;
 * empty if there is none.
 */
export function withKnownBits(
  files: readonly LocalFile[],
  version: readonly ContextFile[],
  platform: string = process.platform,
): LocalFile[] {
  if (platform !== "win32") return [...files];
  const executables = new Set(version.filter((file) => file.executable).map(({ path }) => path));
  return files.map((file) => ({ ...file, executable: executables.has(file.path) }));
}
