import { hashOf } from "../../../cli/contexts/scan";
import type { Context } from "../../../src/protocol/api/contexts";
import {
  contextFilePath,
  contextPath,
  turnChangeBlobPath,
  turnChangesPath,
} from "../../../src/protocol/paths";
import { SESSION } from "../../protocol/builders";

/** Responses of a service to `pull`, by path. */

export type Files = Readonly<Record<string, string>>;

/** The id of a version, by its index. */
export const versionOf = (index: number): string => String(index).padStart(26, "0");
const ok = (body: unknown, type = "application/json") => ({ status: 200, type, body });
export type Answers = Record<string, ReturnType<typeof ok>>;

/** A service that has a context in these versions. The last version is the newest. */
export function withVersions(...versions: Files[]): Answers {
  const answers: Answers = {};
  for (const [index, files] of versions.entries()) {
    const tree = Object.entries(files).map(([file, text]) => ({
      path: file,
      sha256: hashOf(Buffer.from(text)),
      size: text.length,
    }));
    const links = { context: contextPath("site"), archive: contextPath("site") };
    const entry = {
      object: "context",
      name: "site",
      version: versionOf(index),
      files: tree.length,
      bytes: 1,
      created_at: 1,
      links,
      tree,
    };
    answers[contextPath("site")] = ok(entry satisfies Context & { object: string });
    answers[`${contextPath("site")}?version=${versionOf(index)}`] = ok(entry);
    for (const [file, text] of Object.entries(files))
      answers[`${contextFilePath("site", file)}?version=${versionOf(index)}`] = ok(
        text,
        "text/plain",
      );
  }
  return answers;
}

/**
 * A service that has a context in one version, and a turn that changed this version. `changed`: the
 * new contents by path; `null` for a deleted file. `executables`: changed files that are executable
 * after the turn.
 */
export function withTurn(
  base: Files,
  changed: Readonly<Record<string, string | null>>,
  executables: readonly string[] = [],
): Answers {
  const answers = withVersions(base);
  const changes = Object.entries(changed).map(([file, text]) => ({
    path: file,
    hash: text === null ? null : hashOf(Buffer.from(text)),
    size: text?.length ?? 0,
    ...(executables.includes(file) && { executable: true }),
  }));
  answers[turnChangesPath(SESSION, 1)] = ok({
    object: "list",
    data: [{ context: "site", base_version: versionOf(0), changes }],
  });
  for (const text of Object.values(changed))
    if (text !== null)
      answers[turnChangeBlobPath(SESSION, 1, hashOf(Buffer.from(text)))] = ok(text, "text/plain");
  return answers;
}
