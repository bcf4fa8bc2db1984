import { constants } from "node:fs";
import { access, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { CliError, EXIT } from "../exit-codes";
import { reasonOf } from "../local-files";

/**
 * What stdout contains: the answer, the turn as one JSON object, one line of JSON per event, or
 * MassGen's `KEY: value` lines.
 */
export type OutputForm = "answer" | "json" | "json-stream" | "automation";
export type OutputOptions = {
  form: OutputForm;
  /** The final answer is written here; `null` means stdout. */
  file: string | null;
  /** Shows progress on stderr, even if stderr is no terminal. */
  verbose: boolean;
};

/** Checks that the file can be written, before the run starts. Throws CliError if it cannot be. */
export async function requireWritable(file: string): Promise<void> {
  try {
    const existing = await stat(file).catch(() => null);
    if (existing?.isDirectory()) throw new Error("it is a folder");
    await access(existing ? file : path.dirname(file), constants.W_OK);
  } catch (cause) {
    throw new CliError(EXIT.config, `Cannot write the answer to ${file}: ${reasonOf(cause)}.`, {
      cause,
    });
  }
}

/** Writes the final answer to the file. Throws CliError if the file cannot be written. */
export async function writeAnswer(file: string, text: string): Promise<void> {
  await writeFile(file, `${text}\n`).catch((cause: unknown) => {
    throw new CliError(
      EXIT.execution,
      `Cannot write the answer to ${file}: ${reasonOf(cause)}. The answer is stored with the run.`,
      {
        cause,
      },
    );
  });
}
