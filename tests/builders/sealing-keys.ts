import { toSealingKey } from "../../src/tenancy/sealing.ts";

/**
 * The sealing keys of services under test: version 2 before version 1. All other keys are unknown
 * to them.
 */
export const entryOf = (version: number): string =>
  toSealingKey(version, new Uint8Array(32).fill(version));

export const TEST_SEALING_KEYS = `${entryOf(2)},${entryOf(1)}`;
