import { formatPatch, structuredPatch } from "diff";

/** One file before and after, null where there is none. */
export type Contents = { bytes: Uint8Array; executable: boolean } | null;

/** Whether it can stand in a patch: text in UTF-8. */
export function textOf(contents: Contents): string | null {
  if (contents === null) return "";
  if (contents.bytes.includes(0)) return null;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(contents.bytes);
  } catch {
    return null;
  }
}

const modeOf = (contents: Contents): string => (contents?.executable ? "100755" : "100644");

/** A change as `git apply` takes it; null where one side is no text. */
export function patchOf(path: string, before: Contents, after: Contents): string | null {
  const [old, fresh] = [textOf(before), textOf(after)];
  if (old === null || fresh === null) return null;
  const from = before === null ? "/dev/null" : `a/${path}`;
  const to = after === null ? "/dev/null" : `b/${path}`;
  const patch = structuredPatch(from, to, old, fresh, undefined, undefined, { context: 3 });
  const isModeChanged = before !== null && after !== null && before.executable !== after.executable;
  return formatPatch({
    ...patch,
    isGit: true,
    ...(before === null ? { isCreate: true, newMode: modeOf(after) } : {}),
    ...(after === null ? { isDelete: true, oldMode: modeOf(before) } : {}),
    ...(isModeChanged ? { oldMode: modeOf(before), newMode: modeOf(after) } : {}),
  });
}
