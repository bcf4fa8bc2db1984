import { visiblePath } from "../workspace/paths";

/** Why an upload is not taken. */
export type UploadCode =
  /** The body broke off before its end. */
  | "upload_broken"
  /** More bytes, files or expansion than a context may have. */
  | "context_too_large"
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

/** A name of an archive as a message may hold it. */
export const quoted = (name: string): string => `"${visiblePath(name)}"`;
