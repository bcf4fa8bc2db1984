import { CliError } from "../../../cli/exit-codes";
import { saveFiles, type SaveOptions } from "../../../cli/files/save";
import { filesToShow } from "../../../cli/files/show-files";
import type { ResultServer } from "./result-server";

export type Saving = {
  server: ResultServer;
  session: string;
  options?: SaveOptions | undefined;
};

/** Saves the server's files into a folder. Returns the exit code and all output. */
export async function saving(
  folder: string,
  { server, session, options = {} }: Saving,
): Promise<{ code: number; output: string }> {
  let output = "";
  const write = (text: string | Uint8Array) => {
    output += String(text);
  };
  const print = { write };
  const context = { server: server.url };
  const world = { stdout: print, stderr: print, cwd: folder };
  try {
    const shown = await filesToShow({ session, turn: 1 }, context);
    return { code: await saveFiles(folder, shown, { options, context, world }), output };
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    return { code: error.exitCode, output: output + error.message };
  }
}
