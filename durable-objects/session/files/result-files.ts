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
 * Writes the parts of a result that do not belong in the conversation into the agent's files: a
 * text that is too long for it, and the result's files. If a part cannot be stored, the text says
 * so and shows the beginning of a long text. `files` is `null` for an agent without files. Files of
 * a result are dropped for an agent that can only read result texts.
 */
export async function fileResult(
  found: FoundResult & Pick<ToolResult, "files">,
  limits: ResultLimits,
  files: AgentFiles | null,
): Promise<FiledResult> {
  const { text, results } = await filedText(found, limits, files);
  const filed: FiledFile[] = [];
  for (const [index, file] of (found.files ?? []).entries()) {
    const { mediaType, extension, bytes } = file;
    const named = { mediaType, extension, size: bytes.byteLength };
    const path = resultFilePath(found, index + 1, extension);
    const why =
      found.reader === "read_tool_result" ? NO_WORKSPACE : await problemOf(file, path, files);
    filed.push(why === null ? { ...named, path } : { ...named, why });
    if (why === null) results.push(await toResultFile(path, bytes));
  }
  return { text: withFiles(text, filed), results };
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
  const cut = (why: string) =>
    `${previewOf(found.text, limits.inlineTokens, found.calibration)}\n[Cut: the result is too large, and ${why}]`;
  if (!files) return { text: cut("there are no files to keep it in."), results };
  for (const [index, { path, bytes }] of kept.files.entries()) {
    const why = await written(files, path, bytes);
    if (why === null) continue;
    const text =
      index === 0
        ? cut(`it could not be kept in a file: ${why}`)
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
): Promise<string | null> => (files ? written(files, path, bytes) : NO_WORKSPACE);

async function written(files: AgentFiles, path: string, bytes: Uint8Array): Promise<string | null> {
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
