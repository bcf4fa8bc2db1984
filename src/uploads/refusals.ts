import { visiblePath } from "../workspace/paths";

/** Why an upload is not taken. */
export type UploadCode =
  /** The body broke off before its end. */
  | "upload_broken"
  /** More bytes, files or expansion than a context may have. */
  | "context_too_large"
  /** The tenant stores as much as it may. */
  | "storage_exceeded"
  /** Not a whole archive of the kind it says, or one that two readers would understand differently. */
  | "archive_invalid"
  /** A path that no tree can hold. */
  | "path_invalid"
  /** Bytes that are not those that were announced. */
  | "blob_mismatch"
  /** Another version has become the newest. */
  | "context_changed"
  /** No such upload is open. */
  | "upload_not_found";

/** An upload that is not taken. `message` is for people: what is wrong with which entry, and what to do. */
export class UploadRefusal extends Error {
  override readonly name = "UploadRefusal";

  constructor(
    readonly code: UploadCode,
    message: string,
  ) {
    super(message);
  }
}

/** What a tenant whose storage is full is told. */
export const fullMessage = ({
  storedBytes,
  limitBytes,
}: {
  storedBytes: number;
  limitBytes: number;
}): string =>
  `This tenant stores ${megabytes(storedBytes)} of ${megabytes(limitBytes)}. Erase sessions or contexts that are not needed any more (\`massgen-edge delete\`, DELETE /api/contexts/{context}), or have the limit raised.`;
const megabytes = (bytes: number): string => `${(bytes / 1_000_000).toFixed(1)} MB`;

/** A name of an archive as a message may hold it. */
export const quoted = (name: string): string => `"${visiblePath(name)}"`;
