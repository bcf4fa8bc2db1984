import { quoted, UploadRefusal } from "./refusals";
import { CONTEXT_LIMITS } from "../protocol/context-limits";

type TallyLimits = { bytes: number; files: number; fileBytes: number; ratio: number };

/** Smaller archives may expand by any ratio: headers alone can be that large. */
const RATIO_FROM_BYTES = 1_000_000;
const MB = 1_000_000;

/**
 * Counts an upload while it arrives. Each method throws `UploadRefusal` as soon as a limit is
 * exceeded.
 */
export class Tally {
  readonly #limits: TallyLimits;
  #received = 0;
  #bytes = 0;
  #entries = 0;

  constructor(limits: TallyLimits = CONTEXT_LIMITS) {
    this.#limits = limits;
  }

  /** Counts received bytes, compressed or not. */
  received(bytes: number): void {
    this.#received += bytes;
    if (this.#received > this.#limits.bytes)
      throw tooLarge(`The upload is larger than ${this.#limits.bytes / MB} MB.`);
  }

  /** Counts an entry of any type: skipped ones cost time too. */
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
    this.#bytes += bytes;
    const { bytes: most, ratio } = this.#limits;
    if (this.#bytes > most) throw tooLarge(`The files are larger than ${most / MB} MB together.`);
    if (this.#bytes > RATIO_FROM_BYTES && this.#bytes > this.#received * ratio)
      throw tooLarge(`The archive expands to more than ${ratio} times its size.`);
  }
}

const tooLarge = (what: string): UploadRefusal =>
  new UploadRefusal("context_too_large", `${what} Remove files that the agents do not need.`);
