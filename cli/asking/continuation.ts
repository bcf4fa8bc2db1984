import type { QuestionPart } from "../../src/protocol/attachments";
import type { Connection } from "../credentials/connection";
import { CliError, EXIT } from "../exit-codes";
import type { Io } from "../io";
import { findSession } from "../service/find-session";
import { readUploads, uploadsOf } from "../uploads/uploads";
import type { TeamFlags } from "./team-choice";

/** Options that continue an existing session instead of starting a new one. */
export type ContinuationFlags = {
  /** The session that this computer used last. */
  continue?: true;
  session?: string;
  /** The turn that the question follows; the head of the session if it is omitted. */
  from?: number;
};

/** The session to continue, and the turn to follow; `null` means the head. */
export type Continuation = { session: string; from: number | null };

/** Whether the options name an existing session. `--from` alone means the last session. */
export const continues = (flags: ContinuationFlags): boolean =>
  flags.continue !== undefined || flags.session !== undefined || flags.from !== undefined;

/** Finds the session that the options name. Throws CliError. */
export async function findContinuation(
  flags: ContinuationFlags,
  connection: Connection,
  io: Pick<Io, "cwd" | "home">,
): Promise<Continuation> {
  if (flags.continue && flags.session !== undefined)
    throw new CliError(EXIT.config, "Use only one of --continue and --session.");
  const session = await findSession(flags.session ?? "last", connection, io);
  return { session, from: flags.from ?? null };
}

/** Reads the files that `--file` attaches to the question. Throws CliError. */
export const readAttachments = (
  { file = [] }: Pick<TeamFlags, "file">,
  io: Parameters<typeof readUploads>[1],
): Promise<readonly QuestionPart[]> => readUploads(uploadsOf("", file), io);
