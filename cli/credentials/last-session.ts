import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import type { Io } from "../io";
import { lastSessionsFile, readTextFile } from "../local-files";
import { LastSessionsSchema, parseJson } from "../service/schema";

/**
 * The session that this computer used last: started, continued or attached to. It is stored for
 * each service, and for each folder in which a command ran. Reading a session does not change it.
 */
export type Folders = Pick<Io, "cwd" | "home">;

type LastSessions = ReturnType<typeof LastSessionsSchema.parse>["servers"];

/** Most folders that are stored for a service. The folder that was used longest ago is dropped. */
const MAX_FOLDERS = 200;
/** Only the owner may read the file: it says in which folders the user works. */
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;

/**
 * The session that was used last at this service in this folder, or else on this computer; `null`
 * if there is none.
 */
export async function lastSession(server: string, io: Folders): Promise<string | null> {
  const servers = await read(io);
  const found = Object.hasOwn(servers, server) ? servers[server] : undefined;
  if (!found) return null;
  const here = Object.hasOwn(found.folders, io.cwd) ? found.folders[io.cwd] : undefined;
  return here ?? found.session;
}

/** Stores that the session was used. Never throws: without the note, the run itself succeeds. */
export async function rememberSession(server: string, session: string, io: Folders): Promise<void> {
  await change(io, (servers) => {
    const { [io.cwd]: _, ...others } = servers[server]?.folders ?? {};
    const newest = Object.entries({ ...others, [io.cwd]: session }).slice(-MAX_FOLDERS);
    return { ...servers, [server]: { session, folders: Object.fromEntries(newest) } };
  });
}

/** Removes an erased session. Never throws. */
export async function forgetSession(server: string, session: string, io: Folders): Promise<void> {
  await change(io, (servers) => {
    const { [server]: found, ...others } = servers;
    const kept = Object.entries(found?.folders ?? {}).filter(([, id]) => id !== session);
    const last = found?.session === session ? kept.at(-1)?.[1] : found?.session;
    if (last === undefined) return others;
    return { ...others, [server]: { session: last, folders: Object.fromEntries(kept) } };
  });
}

/** Reads the file; a missing, unreadable or invalid file has no sessions. */
async function read(io: Folders): Promise<LastSessions> {
  const file = lastSessionsFile(io);
  const text = await readTextFile(file, { fileKind: "list of sessions" }).catch(() => null);
  return LastSessionsSchema.safeParse(parseJson(text ?? "")).data?.servers ?? {};
}

async function change(io: Folders, edit: (servers: LastSessions) => LastSessions): Promise<void> {
  const file = lastSessionsFile(io);
  const temporaryFile = `${file}.${process.pid}`;
  try {
    const servers = edit(await read(io));
    await mkdir(path.dirname(file), { recursive: true, mode: FOLDER_MODE });
    await writeFile(temporaryFile, `${JSON.stringify({ servers }, null, 2)}\n`, {
      mode: FILE_MODE,
    });
    await rename(temporaryFile, file);
  } catch {
    await rm(temporaryFile, { force: true }).catch(() => undefined);
  }
}
