import { visiblePath } from "../workspace/paths";

/** Codes of refused uploads. */
type UploadCode =
  /** The body ended early. */
  | "upload_broken"
  /** Exceeds the limits of bytes, files or expansion. */
  | "context_too_large"
  /** The tenant's storage is full. */
  | "storage_exceeded"
  /** Not a complete archive of the declared type, or ambiguous between readers. */
  | "archive_invalid"
  /** Not a valid path. */
  | "path_invalid"
  /** The bytes do not match the declared hash. */
  | "blob_mismatch"
  /** Another version has become the newest. */
  | "context_changed"
  /** The upload is not open. */
  | "upload_not_found";

/** A refused upload. `message` is for users: what is wrong with which entry, and the remedy. */
export class UploadRefusal extends Error {
  override readonly name = "UploadRefusal";

  constructor(
    readonly code: UploadCode,
    message: string,
  ) {
    super(message);
  }
}

/** The message for a tenant whose storage is full. */
export const fullMessage = ({
  storedBytes,
  limitBytes,
}: {
  storedBytes: number;
  limitBytes: number;
}): string =>
  `This tenant stores ${megabytes(storedBytes)} of ${megabytes(limitBytes)}. Erase sessions or contexts that are no longer needed (\`massgen-edge delete\`, DELETE /api/contexts/{context}), or have the limit raised.`;
const megabytes = (bytes: number): string => `${(bytes / 1_000_000).toFixed(1)} MB`;

/** A name in an archive, safe for messages. */
export const quoted = (name: string): string => `"${visiblePath(name)}"`;
