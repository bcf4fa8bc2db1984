import { toSealingKey } from "../../src/tenancy/sealing.ts";

/** The sealing keys of services under test, version 2 in front of 1; any other is one they do not have. */
export const entryOf = (version: number): string =>
  toSealingKey(version, new Uint8Array(32).fill(version));

export const TEST_SEALING_KEYS = `${entryOf(2)},${entryOf(1)}`;
