import { visiblePath } from "../workspace/paths";

/** Codes of refused uploads. */
type UploadCode =
  /** The body ended early. */
  | "upload_broken"
  /** The upload exceeds the limit of bytes, files or expansion. */
  | "context_too_large"
  /** The tenant's storage is full. */
  | "storage_exceeded"
  /**
   * The body is not a complete archive of the declared type, or different readers could see
   * different archives.
   */
  | "archive_invalid"
  /** A path is invalid. */
  | "path_invalid"
  /** The bytes do not match the declared hash. */
  | "blob_mismatch"
  /** The record of the version is too large. */
  | "record_too_large"
  /** Another version has become the newest. */
  | "context_changed"
  /** The upload is not open. */
  | "upload_not_found";

/**
 * The refusal of an upload. `message` is for users. It states the entry, its problem and what to do
 * next.
 */
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

/** Quotes a name from an archive, with invisible characters replaced. */
export const quoted = (name: string): string => `"${visiblePath(name)}"`;
