import { quoted, UploadRefusal } from "./refusals";
import { CONTEXT_LIMITS } from "../protocol/context-limits";

/** `ratio`: maximum of unpacked bytes per received byte. */
type TallyLimits = { bytes: number; files: number; fileBytes: number; ratio: number };

/** Below this unpacked size, the ratio is not checked: headers alone can be as large. */
const MIN_RATIO_BYTES = 1_000_000;
const MB = 1_000_000;

/**
 * Counts an upload while it arrives. Each method throws `UploadRefusal` as soon as a limit is
 * exceeded.
 */
export class Tally {
  readonly #limits: TallyLimits;
  #receivedBytes = 0;
  #expandedBytes = 0;
  #entries = 0;

  constructor(limits: TallyLimits = CONTEXT_LIMITS) {
    this.#limits = limits;
  }

  /** Counts received bytes, compressed or not. */
  received(bytes: number): void {
    this.#receivedBytes += bytes;
    if (this.#receivedBytes > this.#limits.bytes)
      throw tooLarge(`The upload is larger than ${this.#limits.bytes / MB} MB.`);
  }

  /** Counts an entry of any type. Skipped entries count too, because they need time. */
  entry(): void {
    this.#entries += 1;
    if (this.#entries > this.#limits.files)
      throw tooLarge(`The upload has more than ${this.#limits.files} entries.`);
  }

  /** Checks the declared size of a file. */
  file(name: string, bytes: number): void {
    const { fileBytes } = this.#limits;
    if (bytes > fileBytes)
      throw tooLarge(`${quoted(name)} is larger than ${fileBytes / MB} MB, the limit of a file.`);
  }

  /** Counts unpacked bytes. */
  expanded(bytes: number): void {
    this.#expandedBytes += bytes;
    const { bytes: maxBytes, ratio } = this.#limits;
    if (this.#expandedBytes > maxBytes)
      throw tooLarge(`The files are larger than ${maxBytes / MB} MB together.`);
    if (this.#expandedBytes > MIN_RATIO_BYTES && this.#expandedBytes > this.#receivedBytes * ratio)
      throw tooLarge(`The archive expands to more than ${ratio} times its size.`);
  }
}

const tooLarge = (reason: string): UploadRefusal =>
  new UploadRefusal("context_too_large", `${reason} Remove files that the agents do not need.`);
