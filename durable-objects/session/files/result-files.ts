import type { ResultFile } from "../../../src/engine/ports";
import {
  type FoundResult,
  keepResult,
  NO_WORKSPACE,
  previewOf,
  type FiledFile,
  resultFilePath,
  type ResultLimits,
  withFiles,
} from "../../../src/tools/large-results";
import type { ToolFile, ToolResult } from "../../../src/tools/tool";
import type { AgentFiles } from "../../../src/workspace/agent-files";
import { hashOf } from "../../../src/workspace/snapshot";
import { FileError } from "../../../src/workspace/types";
import { FILES } from "../../shared/object-limits";

/** The text for the conversation, and the parts of the result that are stored in R2. */
export type FiledResult = { text: string; results: ResultFile[] };

/**
 * Writes those parts of a result into the agent's files that do not belong in the conversation: a
 * text that is too long for it, and the files of the result. If a part cannot be stored, the
 * returned text says so and shows the beginning of a long text. `files` is `null` for an agent
 * without files. If the agent can only read the texts of results, the files of the result are
 * dropped.
 */
export async function fileResult(
  found: FoundResult & Pick<ToolResult, "files">,
  limits: ResultLimits,
  files: AgentFiles | null,
): Promise<FiledResult> {
  const { text, results } = await filedText(found, limits, files);
  const storedFiles: FiledFile[] = [];
  for (const [index, file] of (found.files ?? []).entries()) {
    const { mediaType, extension, bytes } = file;
    const fileFacts = { mediaType, extension, size: bytes.byteLength };
    const path = resultFilePath(found, index + 1, extension);
    const why =
      found.reader === "read_tool_result" ? NO_WORKSPACE : await problemOf(file, path, files);
    storedFiles.push(why === null ? { ...fileFacts, path } : { ...fileFacts, why });
    if (why === null) results.push(await toResultFile(path, bytes));
  }
  return { text: withFiles(text, storedFiles), results };
}

async function filedText(
  found: FoundResult,
  limits: ResultLimits,
  files: AgentFiles | null,
): Promise<FiledResult> {
  const kept = keepResult(found, limits, FILES.fileBytes);
  if (kept.kind === "inline") return { text: kept.text, results: [] };
  const results: ResultFile[] = [];
  for (const { path, bytes } of kept.files) results.push(await toResultFile(path, bytes));
  const cutText = (why: string) =>
    `${previewOf(found.text, limits.inlineTokens, found.calibration)}\n[Cut: the result is too large, and ${why}]`;
  if (!files) return { text: cutText("there are no files to keep it in."), results };
  for (const [index, { path, bytes }] of kept.files.entries()) {
    const why = await writeProblem(files, path, bytes);
    if (why === null) continue;
    const text =
      index === 0
        ? cutText(`it could not be kept in a file: ${why}`)
        : `${kept.reference}\n[${path} could not be kept: ${why}]`;
    return { text, results };
  }
  return { text: kept.reference, results };
}

/** Why the file could not be stored; `null` if it was stored. */
const problemOf = async (
  { bytes }: ToolFile,
  path: string,
  files: AgentFiles | null,
): Promise<string | null> => (files ? writeProblem(files, path, bytes) : NO_WORKSPACE);

/** Writes the file. Returns why it could not be stored; `null` if it was stored. */
async function writeProblem(
  files: AgentFiles,
  path: string,
  bytes: Uint8Array,
): Promise<string | null> {
  try {
    await files.write(path, bytes);
    return null;
  } catch (error) {
    if (error instanceof FileError) return error.message;
    throw error;
  }
}

const toResultFile = async (path: string, bytes: Uint8Array): Promise<ResultFile> => ({
  name: path.split("/").at(-1) ?? path,
  hash: await hashOf(bytes),
  bytes,
});
