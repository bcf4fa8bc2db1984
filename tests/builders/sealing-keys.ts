import { toSealingKey } from "../../src/tenancy/sealing.ts";

/** The entry of a version in the setting SEALING_KEYS, for services under test. */
export const entryOf = (version: number): string =>
  toSealingKey(version, new Uint8Array(32).fill(version));

/** The sealing keys of services under test. Version 2 is the first, so it encrypts. */
export const TEST_SEALING_KEYS = `${entryOf(2)},${entryOf(1)}`;
