import { appendFile, mkdir } from "node:fs/promises";
import path from "node:path";
import { UsageError } from "../../local/command-line";

/**
 * The absolute path. Tested before the measurements, so that minutes of work are not lost at the
 * end. Throws `UsageError`.
 */
export async function writableFile(json: string): Promise<string> {
  const file = path.resolve(json);
  try {
    await mkdir(path.dirname(file), { recursive: true });
    await appendFile(file, "");
    return file;
  } catch (error) {
    throw new UsageError(
      `--json ${json} cannot be written: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}
