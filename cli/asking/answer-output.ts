import { constants } from "node:fs";
import { access, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { CliError, EXIT } from "../exit-codes";
import { reasonOf } from "../local-files";

/**
 * The output on stdout: the answer, the turn as one JSON, every event as a line of JSON, or
 * MassGen's `KEY: value` lines.
 */
export type OutputForm = "answer" | "json" | "json-stream" | "automation";
export type OutputOptions = {
  form: OutputForm;
  /** The final answer is written here; `null` means stdout. */
  file: string | null;
  /** Progress on stderr, also without a terminal. */
  verbose: boolean;
};

/** Checks before the run that the file can be written. Throws CliError. */
export async function requireWritable(file: string): Promise<void> {
  try {
    const found = await stat(file).catch(() => null);
    if (found?.isDirectory()) throw new Error("it is a folder");
    await access(found ? file : path.dirname(file), constants.W_OK);
  } catch (cause) {
    throw new CliError(EXIT.config, `Cannot write the answer to ${file}: ${reasonOf(cause)}.`, {
      cause,
    });
  }
}

/** Writes the final answer. Throws CliError. */
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
