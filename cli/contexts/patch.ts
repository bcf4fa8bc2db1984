import { formatPatch, structuredPatch } from "diff";
import { EXIT, type ExitCode } from "../exit-codes";
import type { Io } from "../io";
import { spellOut, toLine } from "../terminal/sanitize";
import type { Fetching } from "./context-client";
import { refusalOf } from "./directory";
import type { Incoming } from "./incoming";
import { type LeftOut, printStaying } from "./left-out";
import type { Arrivals } from "./plan";
import { isChange, type Side } from "./three-way";

/**
 * Prints all changes that may be written here. Local files are not compared: `git apply` finds
 * conflicts. Returns 1 if some may not.
 */
export async function printPatch(
  { changes, base, theirs, what }: Incoming,
  arrivals: Arrivals,
  world: Pick<Io, "stdout" | "stderr">,
): Promise<ExitCode> {
  const [noText, refused, hidden, leftOut]: [string[], string[], string[], LeftOut[]] = [
    [],
    [],
    [],
    [],
  ];
  const contentsOf = async (path: string, side: Side, fetching: Fetching) =>
    side && { bytes: await fetching(path, side.hash), executable: side.executable };
  for (const change of changes) {
    if (!isChange(change)) continue;
    const refusal = refusalOf(change.path);
    const left = refusal === null ? await arrivals.leftOut(change.path) : null;
    if (refusal !== null) refused.push(`${toLine(change.path)} ${refusal}`);
    if (left !== null) leftOut.push(left);
    if (refusal !== null || left !== null) continue;
    const before = await contentsOf(change.path, change.base, base);
    const patch = patchOf(
      change.path,
      before,
      await contentsOf(change.path, change.theirs, theirs),
    );
    if (patch === null) noText.push(change.path);
    else {
      // On a terminal, escapes would take effect. In a file or a pipe, git needs them unchanged.
      const spelled = spellOut(patch);
      if (spelled !== patch) hidden.push(toLine(change.path));
      world.stdout.write(world.stdout.isTTY ? spelled : patch);
    }
  }
  if (hidden.length > 0)
    world.stderr.write(
      `${what}: check before applying: these files contain control characters or direction marks: ${hidden.join(", ")}\n`,
    );
  printStaying(leftOut, world);
  if (noText.length > 0)
    world.stderr.write(
      `${what}: not in the patch because it is not text: ${noText.map(toLine).join(", ")}\n`,
    );
  if (refused.length > 0)
    world.stderr.write(
      `${what}: not in the patch because it must not be written here: ${refused.join(", ")}\n`,
    );
  return refused.length > 0 ? EXIT.config : EXIT.ok;
}

/** A file before or after a change; `null` if it does not exist. */
export type Contents = { bytes: Uint8Array; executable: boolean } | null;

/** The contents as UTF-8 text, for a patch; `null` if they are not text. */
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
