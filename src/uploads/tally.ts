import { quoted, UploadRefusal } from "./refusals";
import { CONTEXT_LIMITS } from "../protocol/context-limits";

export type TallyLimits = { bytes: number; files: number; fileBytes: number; ratio: number };

/** Archives this small may expand as they like: headers alone are that large. */
const RATIO_FROM_BYTES = 1_000_000;
const MB = 1_000_000;

/** What an upload has brought so far, counted while it comes in. Each method throws `UploadRefusal` at the first byte too many. */
export class Tally {
  readonly #limits: TallyLimits;
  #received = 0;
  #bytes = 0;
  #entries = 0;

  constructor(limits: TallyLimits = CONTEXT_LIMITS) {
    this.#limits = limits;
  }

  /** Bytes of what was sent, compressed or not. */
  received(bytes: number): void {
    this.#received += bytes;
    if (this.#received > this.#limits.bytes)
      throw tooLarge(`The upload is larger than ${this.#limits.bytes / MB} MB.`);
  }

  /** One entry more, of whatever kind: those that are left out cost time too. */
  entry(): void {
    this.#entries += 1;
    if (this.#entries > this.#limits.files)
      throw tooLarge(`The upload has more than ${this.#limits.files} entries.`);
  }

  /** A file that says it is so large. */
  file(name: string, bytes: number): void {
    const { fileBytes } = this.#limits;
    if (bytes > fileBytes)
      throw tooLarge(
        `${quoted(name)} is larger than ${fileBytes / MB} MB, the most a file may have.`,
      );
  }

  /** Bytes that came out of what was sent. */
  expanded(bytes: number): void {
    this.#bytes += bytes;
    const { bytes: most, ratio } = this.#limits;
    if (this.#bytes > most) throw tooLarge(`The files are larger than ${most / MB} MB together.`);
    if (this.#bytes > RATIO_FROM_BYTES && this.#bytes > this.#received * ratio)
      throw tooLarge(`The archive expands to more than ${ratio} times its size.`);
  }
}

const tooLarge = (what: string): UploadRefusal =>
  new UploadRefusal("context_too_large", `${what} Leave out what the agents need not see.`);
