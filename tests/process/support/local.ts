import { TEST_SEALING_KEYS } from "../../builders/sealing-keys";

/** The variables of a service for this machine alone, whose models are on this machine too. */
export const LOCAL = { OPEN_ACCESS: "loopback", ALLOWED_ORIGINS: "http://127.0.0.1:*", SEALING_KEYS: TEST_SEALING_KEYS };

/** Rounded: figures are for people. */
export const median = (values: readonly number[]): number =>
  Math.round([...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN);
