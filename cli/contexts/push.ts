import { contextNameFrom, type ContextUpload } from "../../src/protocol/contexts";
import type { Connection } from "../credentials/connection";
import { plural } from "../display/format";
import { CliError, EXIT } from "../exit-codes";
import type { Io } from "../io";
import { canRedraw } from "../terminal/output";
import { toLine } from "../terminal/sanitize";
import { putManifest, sendMissing } from "./context-client";
import { readLink, writeLink } from "./directory";
import { printLeftOut } from "./left-out";
import { type Scan, scan } from "./scan";

export type PushOptions = {
  name?: string;
  include?: readonly string[];
  force?: true;
  dryRun?: true;
};
type World = Pick<Io, "stdout" | "stderr" | "env">;

/** Files may change while they are sent; then what is missing is asked for once more. */
const MOST_ROUNDS = 3;

/** Makes a directory the newest version of a context. Throws CliError. */
export async function push(
  directory: string,
  options: PushOptions,
  connection: Connection,
  world: World,
): Promise<ContextUpload | null> {
  const link = await readLink(directory);
  const own =
    link?.server === connection.server && (options.name ?? link.name) === link.name ? link : null;
  const name = options.name ?? link?.name ?? nameOf(directory);
  const found = await scan(directory, options.include ?? []);
  printLeftOut(found.leftOut, world);
  if (found.leftOut.some(({ reason }) => reason === "may hold secrets"))
    world.stderr.write("--include <pattern> sends what it names all the same.\n");
  if (options.dryRun) {
    for (const { path: file } of found.files) world.stdout.write(`${toLine(file)}\n`);
    world.stderr.write(`${summaryOf(found)} would go to ${name}.\n`);
    return null;
  }
  if (found.files.length === 0)
    throw new CliError(EXIT.config, `${directory} has nothing to push.`);
  const base = options.force ? undefined : own?.version;
  const upload = await send(name, found, base, { connection, world });
  await writeLink(directory, { server: connection.server, name, version: upload.version });
  return upload;
}

type Way = { connection: Connection; world: World };

async function send(
  name: string,
  { files }: Scan,
  base: string | undefined,
  { connection, world }: Way,
): Promise<ContextUpload> {
  for (let round = 1; ; round += 1) {
    const upload = await putManifest(name, { files, base }, connection);
    if (upload.status !== "uploading") return upload;
    if (round > MOST_ROUNDS)
      throw new CliError(
        EXIT.execution,
        `${connection.server} does not keep what it is sent. Try again later.`,
      );
    const missing = new Set(upload.missing);
    const sizes = new Map(files.map(({ hash, size }) => [hash, size]));
    const total = [...missing].reduce((sum, hash) => sum + (sizes.get(hash) ?? 0), 0);
    const tell = progress(total, world);
    await sendMissing({ upload, files, told: tell.add }, connection);
    tell.end();
  }
}

/** How far it is, on one line of a terminal, and nowhere else. */
function progress(
  total: number,
  { stderr, env }: World,
): { add(bytes: number): void; end(): void } {
  const isShown = canRedraw(stderr, env);
  let sent = 0;
  return {
    add(bytes) {
      sent += bytes;
      if (isShown) stderr.write(`\r\u001b[K${toMegabytes(sent)} of ${toMegabytes(total)} sent`);
    },
    end() {
      if (isShown) stderr.write("\r\u001b[K");
    },
  };
}

const toMegabytes = (bytes: number): string => `${(bytes / 1_000_000).toFixed(1)} MB`;

const summaryOf = ({ files }: Scan): string =>
  `${plural(files.length, "file")}, ${toMegabytes(files.reduce((sum, { size }) => sum + size, 0))},`;

/** The directory's name, as far as it can be a context's. Throws CliError. */
function nameOf(directory: string): string {
  const name = contextNameFrom(directory);
  if (name !== null) return name;
  throw new CliError(
    EXIT.config,
    "The folder's name cannot be a context's. Give one with --name, such as --name website.",
  );
}
