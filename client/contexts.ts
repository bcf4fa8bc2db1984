import { PACK_LIMITS } from "../src/protocol/context-limits";
import {
  CONTEXTS_PATH,
  contextFilePath,
  contextPath,
  turnChangeBlobPath,
  turnChangesPath,
} from "../src/protocol/paths";
import { ClientError } from "./errors";
import type { TurnPlace } from "./follow";
import { sendAll } from "./send-all";
import { toTar } from "./tar";
import type { Call, Transport } from "./transport";
import type {
  BlobsStored,
  Context,
  ContextList,
  ContextUpload,
  IncludedTurn,
  LeftOutFiles,
  TurnChanges,
} from "./types";

/** A file to upload. `contextFile` creates an `UploadFile` from contents. */
export type UploadFile = {
  /** Path relative to the context's root, with `/` between its parts. */
  path: string;
  /** SHA-256 of the contents in lower-case hex. */
  sha256: string;
  /** Size in bytes. */
  size: number;
  executable?: boolean;
  /** Reads the contents. Called only if the service does not have them. */
  read: () => Promise<Uint8Array>;
};

export type UploadOptions = {
  /**
   * The version on which the files are based. The service refuses the upload if the context's
   * newest version is a different one. `null`: there must be no version yet. If it is omitted, the
   * service does not check the newest version.
   */
  baseVersion?: string | null | undefined;
  /** Turns whose results the files contain, one entry per session. */
  includes?: IncludedTurn[] | undefined;
  /** Files of `baseVersion` that the folder excludes, with their hashes in it. */
  leftOut?: LeftOutFiles | undefined;
  /** Called after each request that sent contents. Both numbers are bytes. */
  onProgress?: ((progress: { sent: number; total: number }) => void) | undefined;
  signal?: AbortSignal | undefined;
};
type Cancellable = { signal?: AbortSignal | undefined };

/** Most rounds in which the client sends contents that the service reports as missing. */
const MAX_ROUNDS = 3;
/**
 * Requests with contents that the client sends at the same time, and the size of their contents
 * together. So a full pack is sent alone, and packs of small files are sent together.
 */
const AT_ONCE = { requests: 4, bytes: PACK_LIMITS.bytes } as const;
/** Time limit of one request: long enough for a pack of files over a slow connection. */
const TRANSFER_MS = 10 * 60_000;
const MAX_TRANSFER_BYTES = 64_000_000;

/**
 * Contexts: versioned trees of files for teams. Every function throws ClientError, or the signal's
 * reason after an abort.
 */
export class Contexts {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Lists contexts, sorted by name. `after`: the last name of the previous page. */
  list({ after, limit, signal }: { after?: string; limit?: number } & Cancellable = {}) {
    const query = new URLSearchParams({
      ...(after === undefined ? {} : { after }),
      ...(limit === undefined ? {} : { limit: String(limit) }),
    });
    return this.#json<ContextList>({ path: `${CONTEXTS_PATH}?${query}`, signal });
  }

  /** Reads one version with its list of files. Default: the newest version. */
  get(
    name: string,
    { version, signal }: { version?: string | undefined } & Cancellable = {},
  ): Promise<Context> {
    return this.#json<Context>({ path: contextPath(name) + versionQuery(version), signal });
  }

  /** Erases a context with all its versions. */
  async delete(name: string, { signal }: Cancellable = {}): Promise<void> {
    await this.#transport.send({ method: "DELETE", path: contextPath(name), signal });
  }

  /**
   * Reads the contents of a file. With `sha256`, throws ClientError `changed_file` if the contents
   * have another hash.
   */
  async file(
    name: string,
    path: string,
    { version, sha256, signal }: { version?: string; sha256?: string } & Cancellable = {},
  ): Promise<Uint8Array<ArrayBuffer>> {
    const bytes = await this.#bytes(contextFilePath(name, path) + versionQuery(version), signal);
    if (sha256 !== undefined) await this.#requireHash(bytes, sha256);
    return bytes;
  }

  /**
   * Reads the changes that a turn made in contexts. The list is empty while the turn runs, and if
   * the turn failed or was cancelled.
   */
  changes({ session, turn }: TurnPlace, { signal }: Cancellable = {}): Promise<TurnChanges> {
    return this.#json<TurnChanges>({ path: turnChangesPath(session, turn), signal });
  }

  /** Reads the new contents of a changed file by their hash. */
  async changedFile(
    { session, turn }: TurnPlace,
    sha256: string,
    { signal }: Cancellable = {},
  ): Promise<Uint8Array<ArrayBuffer>> {
    const bytes = await this.#bytes(turnChangeBlobPath(session, turn, sha256), signal);
    await this.#requireHash(bytes, sha256);
    return bytes;
  }

  /**
   * Uploads the files as the newest version of a context. Sends only contents that the service does
   * not have. To continue an interrupted upload, call the function again.
   */
  async upload(
    name: string,
    files: readonly UploadFile[],
    { onProgress, ...options }: UploadOptions = {},
  ): Promise<ContextUpload> {
    for (let round = 1; ; round += 1) {
      const upload = await this.#putManifest(name, files, options);
      if (upload.status !== "uploading") return upload;
      if (round > MAX_ROUNDS)
        throw new ClientError(
          "unexpected",
          `${this.#transport.server} still reports contents as missing after ${MAX_ROUNDS} uploads.`,
        );
      await this.#sendMissing(upload, files, { onProgress, signal: options.signal });
    }
  }

  #putManifest(
    name: string,
    files: readonly UploadFile[],
    { baseVersion, includes, leftOut, signal }: UploadOptions,
  ): Promise<ContextUpload> {
    const entries = files.map(({ path, sha256, size, executable }) => ({
      path,
      sha256,
      size,
      ...(executable ? { executable } : {}),
    }));
    const json = {
      files: entries,
      ...(baseVersion === undefined ? {} : { base_version: baseVersion }),
      ...(includes === undefined ? {} : { includes }),
      ...(leftOut === undefined ? {} : { left_out: leftOut }),
    };
    return this.#json<ContextUpload>({ method: "PUT", path: contextPath(name), json, signal });
  }

  async #sendMissing(
    { missing, links }: ContextUpload,
    files: readonly UploadFile[],
    { onProgress, signal }: UploadOptions,
  ): Promise<void> {
    const byHash = new Map(files.map((file) => [file.sha256, file]));
    const missingFiles = [...new Set(missing)].flatMap((hash) => byHash.get(hash) ?? []);
    const total = sizeOf(missingFiles);
    let sent = 0;
    const sendPack = async (pack: readonly UploadFile[], stop: AbortSignal): Promise<void> => {
      await this.#sendPack(links.blobs, pack, signal ? AbortSignal.any([signal, stop]) : stop);
      sent += sizeOf(pack);
      onProgress?.({ sent, total });
    };
    await sendAll(packsOf(missingFiles), { ...AT_ONCE, sizeOf }, sendPack);
  }

  async #sendPack(link: string, pack: readonly UploadFile[], signal: AbortSignal): Promise<void> {
    const [path = "", query = ""] = link.split("?");
    const [first] = pack;
    if (!first) return;
    const call =
      pack.length === 1
        ? { path: `${path}/${first.sha256}?${query}`, body: await blobBody(first) }
        : { path: link, body: await packBody(pack) };
    await this.#json<BlobsStored>({ method: "PUT", ...call, signal });
  }

  async #requireHash(bytes: Uint8Array, sha256: string): Promise<void> {
    if ((await sha256Of(bytes)) === sha256) return;
    const message = `${this.#transport.server} sent other contents than announced.`;
    throw new ClientError("changed_file", message);
  }

  #json<T>(call: Omit<Call, "method"> & { method?: Call["method"] }): Promise<T> {
    return this.#transport.json<T>({ method: "GET", ...TRANSFER, ...call });
  }

  #bytes(path: string, signal: AbortSignal | undefined): Promise<Uint8Array<ArrayBuffer>> {
    return this.#transport.bytes({ method: "GET", path, ...TRANSFER, signal });
  }
}

const TRANSFER = {
  retry: "transfer",
  timeoutMs: TRANSFER_MS,
  maxBytes: MAX_TRANSFER_BYTES,
} as const;

const versionQuery = (version: string | undefined): string =>
  version === undefined ? "" : `?version=${encodeURIComponent(version)}`;

/** Creates a file to upload from its contents. */
export async function contextFile(
  path: string,
  contents: Uint8Array | string,
  { executable = false }: { executable?: boolean } = {},
): Promise<UploadFile> {
  const bytes = typeof contents === "string" ? new TextEncoder().encode(contents) : contents;
  return {
    path,
    sha256: await sha256Of(bytes),
    size: bytes.byteLength,
    executable,
    read: async () => bytes,
  };
}

/** SHA-256 in lower-case hex. */
export async function sha256Of(bytes: Uint8Array): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * Groups files into packs, in their order; one request sends one pack. A large file is sent alone.
 */
export function packsOf<F extends { size: number }>(files: readonly F[]): F[][] {
  const packs: F[][] = [];
  let openPack: F[] = [];
  for (const file of files) {
    if (file.size > PACK_LIMITS.blobBytes) {
      packs.push([file]);
      continue;
    }
    if (openPack.length === PACK_LIMITS.blobs || sizeOf(openPack) + file.size > PACK_LIMITS.bytes) {
      packs.push(openPack);
      openPack = [];
    }
    openPack.push(file);
  }
  return openPack.length > 0 ? [...packs, openPack] : packs;
}

const sizeOf = (files: readonly { size: number }[]): number =>
  files.reduce((sum, { size }) => sum + size, 0);

async function blobBody(file: UploadFile) {
  return { type: "application/octet-stream", data: await contentsOf(file) };
}

async function packBody(files: readonly UploadFile[]) {
  const entries: { name: string; data: Uint8Array }[] = [];
  for (const file of files) entries.push({ name: file.sha256, data: await contentsOf(file) });
  return { type: "application/x-tar", data: toTar(entries) };
}

/** Reads the contents. Throws ClientError if the file was changed since it was hashed. */
async function contentsOf({ path, sha256, read }: UploadFile): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(await read());
  if ((await sha256Of(bytes)) === sha256) return bytes;
  throw new ClientError("changed_file", `${path} was changed while it was uploaded.`);
}
